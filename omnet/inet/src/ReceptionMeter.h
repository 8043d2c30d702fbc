// Counts the copies of frames that were received and lost, as the radio medium computes them.
#pragma once

#include <unordered_map>

#include "PacketTag.h"
#include "inet/linklayer/common/MacAddress.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IReception.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/ITransmission.h"

namespace causeway {

class Adapter;
class NodeSwitch;

class ReceptionMeter : public omnetpp::cSimpleModule, public omnetpp::cListener {
  public:
    // The counts so far. A copy is one frame at one of its receivers that is in range and up.
    struct Counts {
        double station_frames = 0, host_frames = 0, station_bytes = 0, host_bytes = 0;
        double received = 0, lost = 0;
        double never_sent = 0;  // datagrams dropped from senders' queues, because they were too many
        double lossRate() const { return received + lost == 0 ? 0.0 : lost / (received + lost); }
    };
    const Counts &counts() const { return total_; }

    using cListener::receiveSignal;
    void receiveSignal(omnetpp::cComponent *source, omnetpp::simsignal_t signal, omnetpp::cObject *value,
                       omnetpp::cObject *details) override;

  protected:
    struct Receiver {
        int node = -1;
        bool is_station = false, got_it = false;
        NodeSwitch *on_off = nullptr;
        const inet::NetworkInterface *nic = nullptr;
    };
    struct Frame {
        inet::MacAddress destination;
        const PacketTag *tag = nullptr;  // lives as long as the transmission
    };

    double cell_radius_ = 0;
    bool mac_repeats_ = false;
    int64_t min_frame_ = 0;
    Adapter *adapter_ = nullptr;
    Counts total_;
    std::unordered_map<const void *, Receiver> radios_;
    std::unordered_map<int, Frame> on_air_;

    int numInitStages() const override;
    void initialize(int stage) override;
    void finish() override;

    void radioAdded(omnetpp::cModule *radio);
    void departure(const inet::physicallayer::ITransmission *transmission);
    bool outOfReach(const PacketTag &tag, const inet::physicallayer::ITransmission *transmission) const;
    void arrivalEnded(const inet::physicallayer::IReception *reception);
    void gaveUp(const inet::Packet *packet);
    void overflowed(const inet::Packet *packet);
    bool meantFor(const Frame &frame, const Receiver &receiver) const;
};

}  // namespace causeway
