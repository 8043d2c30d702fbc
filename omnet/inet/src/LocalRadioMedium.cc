#include "LocalRadioMedium.h"

#include "inet/common/ModuleAccess.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IPropagation.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IRadio.h"
#include "inet_version.h"
#include "omnet/src/Bridge.h"

namespace causeway {

using namespace omnetpp;
using namespace inet::physicallayer;

Define_Module(LocalRadioMedium);
Define_Module(LocalCommunicationCache);

// The interval at which positions in the grid are updated; the distance moved meanwhile is added to the radius.
static const double LOOK_EVERY_S = 1;
// More than rounding errors, and more than a node moves during a frame.
static const double MARGIN_M = 1;

// ---- the medium -----------------------------------------------------------------------------------------------------
void LocalRadioMedium::initialize(int stage) {
    RadioMedium::initialize(stage);
    if (stage != inet::INITSTAGE_LOCAL) return;
    if (rangeFilter != RANGE_FILTER_INTERFERENCE_RANGE || radioModeFilter || listeningFilter || macAddressFilter) {
        throw cRuntimeError("LocalRadioMedium needs rangeFilter = \"interferenceRange\" and no other filter");
    }
}

void LocalRadioMedium::addRadio(const IRadio *radio) {
    RadioMedium::addRadio(radio);
    const auto after = [](const IRadio *a, const IRadio *b) { return a->getId() < b->getId(); };
    radios.insert(std::upper_bound(radios.begin(), radios.end(), radio, after), radio);
    grid_is_there = false;
}

void LocalRadioMedium::removeRadio(const IRadio *radio) {
    RadioMedium::removeRadio(radio);
    radios.erase(std::find(radios.begin(), radios.end(), radio));
    grid_is_there = false;
}

// Returns the distance that a node may have moved since the last update of the grid; NaN if unknown.
double LocalRadioMedium::stepsSinceLook() const {
    const double usual_m_s = mediumLimitCache->getMaxSpeed().get();
    return (usual_m_s < fastest_m_s ? fastest_m_s : usual_m_s) * (simTime() - looked_at).dbl();
}

int LocalRadioMedium::nodeOf(const IRadio *radio) const {
    const auto found = nodes.find(radio);
    if (found != nodes.end()) return found->second;
    cModule *node = inet::getContainingNode(check_and_cast<const cModule *>(radio));
    return nodes[radio] = node->hasPar("nodeId") ? static_cast<int>(node->par("nodeId").intValue()) : -1;
}

bool LocalRadioMedium::isReceptionAttempted(const IRadio *receiver, const ITransmission *transmission,
                                            IRadioSignal::SignalPart part) const {
    static const bool bridged = Bridge::configured();
    if (bridged && !Bridge::instance().network_faults().empty()) {
        const int from = nodeOf(radio_of(transmission)), to = nodeOf(receiver);
        const inet::Coord at = receiver->getAntenna()->getMobility()->getCurrentPosition();
        if (from >= 0 && to >= 0 && Bridge::instance().network_faults().deaf(from, to, now_ps(), at.x, at.y, at.z))
            return false;
    }
    return RadioMedium::isReceptionAttempted(receiver, transmission, part);
}

void LocalRadioMedium::look() {
    if (!grid_is_there) {
        grid = Near(mediumLimitCache->getMaxInterferenceRange().get());
        grid_is_there = true;
    }
    for (size_t i = 0; i < radios.size(); ++i) {
        const inet::Coord at = radios[i]->getAntenna()->getMobility()->getCurrentPosition();
        grid.put(static_cast<int>(i), at.x, at.y);
    }
    looked_at = simTime();
}

// Returns the indices of all radios that a transmission can reach, and of few others.
const std::vector<int> &LocalRadioMedium::near(const ITransmission *transmission) {
    const double steps = stepsSinceLook();
    if (!grid_is_there || (!(steps == 0) && !(simTime() - looked_at <= LOOK_EVERY_S)) || std::isnan(steps)) look();
    const double radius = mediumLimitCache->getMaxInterferenceRange().get() + stepsSinceLook() + MARGIN_M;
    const inet::Coord at = transmission->getStartPosition();
    return grid.around(at.x, at.y, radius);
}

void LocalRadioMedium::addTransmission(const IRadio *transmitter, const ITransmission *transmission) {
    Enter_Method("addTransmission");
    transmissionCount++;
    communicationCache->addTransmission(transmission);
    simtime_t last_end = transmission->getEndTime();
    for (const int i : near(transmission)) {
        if (radios[i] != transmitter && radios[i]->getReceiver()) addArrival(radios[i], transmission, last_end);
    }
    communicationCache->setCachedInterferenceEndTime(transmission,
                                                     last_end + mediumLimitCache->getMaxTransmissionDuration());
    if (!removeNonInterferingTransmissionsTimer->isScheduled()) {
        scheduleAt(communicationCache->getCachedInterferenceEndTime(transmission),
                   removeNonInterferingTransmissionsTimer);
    }
    emit(signalAddedSignal, check_and_cast<const cObject *>(transmission));
}

void LocalRadioMedium::addArrival(const IRadio *receiver, const ITransmission *transmission, simtime_t &last_end) {
    const IArrival *arrival = propagation->computeArrival(transmission, receiver->getAntenna()->getMobility());
    const simtime_t start = arrival->getStartTime(), end = arrival->getEndTime();
    last_end = std::max(last_end, end);
    communicationCache->setCachedArrival(receiver, transmission, arrival);
    communicationCache->setCachedInterval(receiver, transmission,
                                          new inet::IntervalTree::Interval(start, end, (void *)transmission));
    communicationCache->setCachedListening(
        receiver, transmission,
        receiver->getReceiver()->createListening(receiver, start, end, arrival->getStartPosition(),
                                                 arrival->getEndPosition()));
}

void LocalRadioMedium::sendToAffectedRadios(IRadio *transmitter, const IWirelessSignal *signal) {
    for (const int i : near(signal->getTransmission())) {
        if (communicationCache->getCachedArrival(radios[i], signal->getTransmission())) {
            sendToRadio(transmitter, radios[i], signal);
        }
    }
}

// ---- the cache ------------------------------------------------------------------------------------------------------
void LocalCommunicationCache::addTransmission(const ITransmission *transmission) {
    const int id = transmission->getId();
    if (baseTransmissionId == -1) baseTransmissionId = id;
    if (id < baseTransmissionId) throw cRuntimeError("transmission %d comes after a later one", id);
    const size_t index = id - baseTransmissionId;
    if (index >= transmissionCache.size()) transmissionCache.resize(index + 1);
    transmissionCache[index].transmission = transmission;
    rows[id];
}

LocalCommunicationCache::ReceptionCacheEntry *LocalCommunicationCache::getReceptionCacheEntry(
    const IRadio *radio, const ITransmission *transmission) {
    const auto found = rows.find(transmission->getId());
    if (found == rows.end()) return nullptr;
    Row &row = found->second;
    const auto before = [](const auto &entry, int id) { return entry.first < id; };
    auto place = std::lower_bound(row.begin(), row.end(), radio->getId(), before);
    if (place == row.end() || place->first != radio->getId()) {
        place = row.emplace(place, radio->getId(), std::make_unique<ReceptionCacheEntry>());
    }
    return place->second.get();
}

// Drops the entries of a transmission, also from the radios' own trees.
void LocalCommunicationCache::forget(int transmission_id) {
    const auto found = rows.find(transmission_id);
    if (found == rows.end()) return;
    for (const auto &[radio_id, entry] : found->second) {
        if (entry->interval) radioCache[radio_id - baseRadioId].receptionIntervals->deleteNode(entry->interval);
    }
    rows.erase(found);
}

void LocalCommunicationCache::removeTransmission(const ITransmission *transmission) {
    forget(transmission->getId());
    VectorCommunicationCache::removeTransmission(transmission);
}

void LocalCommunicationCache::removeNonInterferingTransmissions(std::function<void(const ITransmission *)> tell) {
    const simtime_t now = simTime();
    for (size_t i = 0; i < transmissionCache.size() && transmissionCache[i].interferenceEndTime <= now; ++i) {
        forget(baseTransmissionId + static_cast<int>(i));
    }
    VectorCommunicationCache::removeNonInterferingTransmissions(tell);
}

}  // namespace causeway
