// The wireless channel, with receptions computed only at the radios near a sender.
//
// ns-3's YansWifiChannel passes every frame to every radio of the network; a radio then ignores signals weaker than its
// sensitivity. This channel skips radios that would ignore the frame. The receptions are the same.
#pragma once

#include <algorithm>
#include <vector>

#include "bridge/cpp/near.h"
#include "ns3/mobility-model.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/yans-wifi-phy.h"
#include "plan.h"

namespace causeway {

class WirelessPhy;

class WirelessChannel : public ns3::SimpleRefCount<WirelessChannel> {
  public:
    /// Signals beyond `range_m` are below the radios' sensitivity; no node is faster than `speed_m_s`.
    WirelessChannel(ns3::Ptr<ns3::PropagationLossModel> loss, double range_m, double speed_m_s,
                    const NetworkFaultMap &network_faults);
    /// Makes the next call of `around` read the positions of all radios. It is needed after a radio was put elsewhere.
    void look_again() { looked_at_ps_ = -1; }
    /// Records that a node may be this fast from now on.
    void at_least_as_fast(double speed_m_s) { speed_m_s_ = std::max(speed_m_s_, speed_m_s); }

    /// Adds a radio and gives it the next number.
    void add(const ns3::Ptr<WirelessPhy> &phy);
    /// Sends a frame to all radios in range.
    void send(const WirelessPhy &sender, const ns3::Ptr<const ns3::WifiPpdu> &frame, ns3::dBm_u power);
    /// Returns the numbers of all radios within a distance of a radio, in ascending order. It may contain more distant
    /// ones, because nodes may have moved since their positions were read.
    const std::vector<int> &around(int sender, double radius_m);

  private:
    static void receive(ns3::Ptr<WirelessPhy> receiver, ns3::Ptr<const ns3::WifiPpdu> frame, ns3::dBm_u power,
                        bool understood);
    ns3::Vector place(int radio) const;
    void look();

    ns3::Ptr<ns3::PropagationLossModel> loss_;
    ns3::Ptr<ns3::PropagationDelayModel> delay_;
    double range_m_;
    double speed_m_s_;
    const NetworkFaultMap network_faults_;
    std::vector<ns3::Ptr<WirelessPhy>> phys_;
    Near grid_;
    int64_t looked_at_ps_ = -1;  // -1: never
};

/// A radio of ns-3 that sends into a WirelessChannel.
class WirelessPhy : public ns3::YansWifiPhy {
  public:
    static ns3::TypeId GetTypeId();

    void join(const ns3::Ptr<WirelessChannel> &air, int number) {
        air_ = air;
        number_ = number;
    }
    int number() const { return number_; }
    void StartTx(ns3::Ptr<const ns3::WifiPpdu> frame) override;
    /// Handles a frame that cannot be received here: it only keeps the channel busy and interferes.
    void disturb(const ns3::Ptr<const ns3::WifiPpdu> &frame, ns3::RxPowerWattPerChannelBand &watts);

  protected:
    void DoDispose() override;

  private:
    ns3::Ptr<WirelessChannel> air_;
    int number_ = -1;
};

}  // namespace causeway
