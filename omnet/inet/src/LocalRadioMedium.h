// INET's radio medium, with arrivals computed only at the radios near a transmission.
//
// INET's own medium computes the arrival of every transmission at every radio of the network, however far. Beyond the
// interference range such an arrival is never used: no signal is sent there, and it is no interference. This medium
// does not compute it; all results are the same.
#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bridge/cpp/near.h"
#include "inet/physicallayer/wireless/common/communicationcache/VectorCommunicationCache.h"
#include "inet/physicallayer/wireless/common/medium/RadioMedium.h"

namespace causeway {

// The medium. It needs rangeFilter = "interferenceRange" and no other filter.
class LocalRadioMedium : public inet::physicallayer::RadioMedium {
  public:
    using IRadio = inet::physicallayer::IRadio;
    using ITransmission = inet::physicallayer::ITransmission;

    void addRadio(const IRadio *radio) override;
    void removeRadio(const IRadio *radio) override;
    // Makes the next transmission read the positions of all radios. It is needed after a radio was put elsewhere.
    void lookAgain() { grid_is_there = false; }
    // Records that a node may be this fast from now on.
    void atLeastAsFast(double speed_m_s) { fastest_m_s = std::max(fastest_m_s, speed_m_s); }
    // Returns false for a jammed receiver or one on the other side of a partition. The signal is interference there.
    bool isReceptionAttempted(const IRadio *receiver, const ITransmission *transmission,
                              inet::physicallayer::IRadioSignal::SignalPart part) const override;

  protected:
    std::vector<const IRadio *> radios;  // ascending ids, as INET goes through them
    Near grid;
    bool grid_is_there = false;
    double fastest_m_s = 0;                                 // the highest speed of a command to move
    mutable std::unordered_map<const IRadio *, int> nodes;  // the node of each radio
    omnetpp::simtime_t looked_at;

    void initialize(int stage) override;
    void addTransmission(const IRadio *transmitter, const ITransmission *transmission) override;
    void sendToAffectedRadios(IRadio *transmitter, const inet::physicallayer::IWirelessSignal *signal) override;

    const std::vector<int> &near(const ITransmission *transmission);
    double stepsSinceLook() const;
    int nodeOf(const IRadio *radio) const;
    void look();
    void addArrival(const IRadio *receiver, const ITransmission *transmission, omnetpp::simtime_t &last_end);
};

// The results that the medium has computed for a transmission. There are entries only for the radios near it.
class LocalCommunicationCache : public inet::physicallayer::VectorCommunicationCache {
  public:
    using IRadio = inet::physicallayer::IRadio;
    using ITransmission = inet::physicallayer::ITransmission;

    void addTransmission(const ITransmission *transmission) override;
    void removeTransmission(const ITransmission *transmission) override;
    void removeNonInterferingTransmissions(std::function<void(const ITransmission *)> tell) override;

  protected:
    using Row = std::vector<std::pair<int, std::unique_ptr<ReceptionCacheEntry>>>;  // ascending ids of radios

    std::unordered_map<int, Row> rows;  // by the transmission's id

    ReceptionCacheEntry *getReceptionCacheEntry(const IRadio *radio, const ITransmission *transmission) override;
    void forget(int transmission_id);
};

}  // namespace causeway
