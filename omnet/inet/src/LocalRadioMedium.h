// INET's radio medium, where a transmission concerns only the radios near it.
//
// INET's own computes for every transmission when it arrives at every radio of the network, however far. Beyond the
// interference range such an arrival is never used: no signal is sent there, and it is no interference. Here it is not
// computed, and what is left is the same in every number.
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

// Needs rangeFilter = "interferenceRange" and no other filter.
class LocalRadioMedium : public inet::physicallayer::RadioMedium {
  public:
    using IRadio = inet::physicallayer::IRadio;
    using ITransmission = inet::physicallayer::ITransmission;

    void addRadio(const IRadio *radio) override;
    void removeRadio(const IRadio *radio) override;
    // Somebody is this fast from now on.
    void atLeastAsFast(double speed_m_s) { fastest_m_s = std::max(fastest_m_s, speed_m_s); }
    // Whoever is jammed, or on the other side of a partition, makes nothing out; the signal is there all the same.
    bool isReceptionAttempted(const IRadio *receiver, const ITransmission *transmission,
                              inet::physicallayer::IRadioSignal::SignalPart part) const override;

  protected:
    std::vector<const IRadio *> radios;  // ascending ids, as INET goes through them
    Near grid;
    bool grid_is_there = false;
    double fastest_m_s = 0;                                 // of those who were sent somewhere
    mutable std::unordered_map<const IRadio *, int> nodes;  // whose radio it is
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

// What the medium has computed for a transmission: entries for the radios that it concerns, and no others.
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
