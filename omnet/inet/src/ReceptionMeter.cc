#include "ReceptionMeter.h"

#include "Edge.h"
#include "NodeSwitch.h"
#include "inet/common/ModuleAccess.h"
#include "inet/common/Simsignals.h"
#include "inet/common/packet/Packet.h"
#include "inet/linklayer/common/MacAddressTag_m.h"
#include "inet/mobility/contract/IMobility.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IRadioMedium.h"
#include "inet/physicallayer/wireless/common/radio/packetlevel/Radio.h"

namespace causeway {

using namespace omnetpp;
using inet::physicallayer::IRadioMedium;
using inet::physicallayer::IReception;
using inet::physicallayer::ITransmission;

Define_Module(ReceptionMeter);

int ReceptionMeter::numInitStages() const { return inet::NUM_INIT_STAGES; }

void ReceptionMeter::initialize(int stage) {
    if (stage != inet::INITSTAGE_LOCAL) return;
    cellRadius = par("cellRadius");
    macRepeats = par("macRepeats");
    minFrame = par("minFrame").intValue();
    edge = Edge::find(this);
    cModule *medium = inet::getModuleFromPar<cModule>(par("radioMediumModule"), this);
    for (simsignal_t signal : {IRadioMedium::radioAddedSignal, IRadioMedium::signalDepartureStartedSignal,
                               IRadioMedium::signalArrivalEndedSignal, IRadioMedium::signalRemovedSignal}) {
        medium->subscribe(signal, this);
    }
    if (edge) getParentModule()->subscribe(inet::packetDroppedSignal, this);
}

// The medium tells of radios, transmissions and their arrivals; a radio tells what it hands up, just before its arrival
// ends.
void ReceptionMeter::receiveSignal(cComponent *source, simsignal_t signal, cObject *value, cObject *details) {
    if (signal == inet::packetSentToUpperSignal) {
        auto packet = check_and_cast<inet::Packet *>(value);
        radios[source].gotIt = !packet->hasBitError() && packet->peekData()->isCorrect();
    } else if (signal == IRadioMedium::signalArrivalEndedSignal) {
        arrivalEnded(check_and_cast<const IReception *>(value));
    } else if (signal == IRadioMedium::signalDepartureStartedSignal) {
        departure(check_and_cast<const ITransmission *>(value));
    } else if (signal == IRadioMedium::signalRemovedSignal) {
        onAir.erase(check_and_cast<const ITransmission *>(value)->getId());
    } else if (signal == IRadioMedium::radioAddedSignal) {
        radioAdded(check_and_cast<cModule *>(value));
    } else if (signal == inet::packetDroppedSignal) {
        auto why = check_and_cast<inet::PacketDropDetails *>(details)->getReason();
        if (why == inet::RETRY_LIMIT_REACHED) gaveUp(check_and_cast<inet::Packet *>(value));
    }
}

static const void *key(const inet::physicallayer::IRadio *radio) { return dynamic_cast<const cComponent *>(radio); }

void ReceptionMeter::radioAdded(cModule *radio) {
    cModule *node = inet::getContainingNode(radio);
    Receiver &receiver = radios[static_cast<cComponent *>(radio)];
    receiver.node = node->hasPar("nodeId") ? node->par("nodeId").intValue() : -1;
    receiver.isStation = node->hasPar("isStation") && node->par("isStation").boolValue();
    receiver.onOff = NodeSwitch::of(node);
    receiver.nic = inet::getContainingNicModule(radio);
    radio->subscribe(inet::packetSentToUpperSignal, this);
}

void ReceptionMeter::departure(const ITransmission *transmission) {
    const inet::Packet *packet = transmission->getPacket();
    if (packet->getByteLength() < minFrame) return;
    Frame frame;
    const auto address = packet->findTag<inet::MacAddressInd>();
    frame.destination = address ? address->getDestAddress() : inet::MacAddress::BROADCAST_ADDRESS;
    frame.tag = edge ? find_tag(packet->peekAll().get()) : nullptr;
    onAir[transmission->getId()] = frame;
    const bool fromStation = radios[key(transmission->getTransmitter())].isStation;
    (fromStation ? total.stationFrames : total.hostFrames) += 1;
    (fromStation ? total.stationBytes : total.hostBytes) += packet->getByteLength();
    if (frame.tag && !macRepeats && outOfReach(*frame.tag, transmission)) {
        edge->lost(frame.tag->peer, frame.tag->packet, Interface::WIRELESS);
    }
}

// Whether the frame is a datagram for one node that is too far away to get it.
bool ReceptionMeter::outOfReach(const PacketTag &tag, const ITransmission *transmission) const {
    if (tag.interface != Interface::WIRELESS || tag.peer < 0) return false;
    auto mobility = check_and_cast<inet::IMobility *>(edge->moduleOf(tag.peer)->getSubmodule("mobility"));
    return transmission->getStartPosition().distance(mobility->getCurrentPosition()) > cellRadius;
}

bool ReceptionMeter::meantFor(const Frame &frame, const Receiver &receiver) const {
    const bool up = receiver.onOff == nullptr || receiver.onOff->isUp();
    return up && (frame.destination.isBroadcast() || frame.destination == receiver.nic->getMacAddress());
}

void ReceptionMeter::arrivalEnded(const IReception *reception) {
    Receiver &receiver = radios[key(reception->getReceiver())];
    const bool gotIt = receiver.gotIt;
    receiver.gotIt = false;
    const ITransmission *transmission = reception->getTransmission();
    const auto found = onAir.find(transmission->getId());
    if (found == onAir.end() || !meantFor(found->second, receiver)) return;
    if (transmission->getStartPosition().distance(reception->getStartPosition()) > cellRadius) return;
    (gotIt ? total.received : total.lost) += 1;
    const PacketTag *tag = found->second.tag;
    const bool final = !macRepeats || found->second.destination.isBroadcast();
    if (!gotIt && final && tag && tag->interface == Interface::WIRELESS)
        edge->lost(receiver.node, tag->packet, Interface::WIRELESS);
}

// The sender's MAC repeated a frame in vain: only now is the datagram lost. (TCP repeats on its own.)
void ReceptionMeter::gaveUp(const inet::Packet *packet) {
    const PacketTag *tag = find_tag(packet->peekAll().get());
    if (tag && tag->interface == Interface::WIRELESS) edge->lost(tag->peer, tag->packet, Interface::WIRELESS);
}

void ReceptionMeter::finish() {
    const std::pair<const char *, double> numbers[] = {
        {"station_frames", total.stationFrames}, {"host_frames", total.hostFrames},
        {"station_bytes", total.stationBytes},   {"host_bytes", total.hostBytes},
        {"copies_received", total.received},     {"copies_lost", total.lost},
        {"loss_rate", total.lossRate()},
    };
    for (const auto &[name, value] : numbers) {
        recordScalar(name, value);
        if (edge) edge->measure(name, value);
    }
}

}  // namespace causeway
