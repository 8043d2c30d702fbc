#include "ReceptionMeter.h"

#include "Adapter.h"
#include "NodeSwitch.h"
#include "inet/common/ModuleAccess.h"
#include "inet/common/Simsignals.h"
#include "inet/common/packet/Packet.h"
#include "inet/linklayer/common/MacAddressTag_m.h"
#include "inet/mobility/contract/IMobility.h"
#include "inet/physicallayer/wireless/common/contract/packetlevel/IRadioMedium.h"
#include "inet/physicallayer/wireless/common/radio/packetlevel/Radio.h"
#include "inet_version.h"

namespace causeway {

using namespace omnetpp;
using inet::physicallayer::IRadioMedium;
using inet::physicallayer::IReception;
using inet::physicallayer::ITransmission;

Define_Module(ReceptionMeter);

int ReceptionMeter::numInitStages() const { return inet::NUM_INIT_STAGES; }

void ReceptionMeter::initialize(int stage) {
    if (stage != inet::INITSTAGE_LOCAL) return;
    cell_radius_ = par("cellRadius");
    mac_repeats_ = par("macRepeats");
    min_frame_ = par("minFrame").intValue();
    adapter_ = Adapter::find(this);
    cModule *medium = inet::getModuleFromPar<cModule>(par("radioMediumModule"), this);
    for (simsignal_t signal : {IRadioMedium::radioAddedSignal, IRadioMedium::signalDepartureStartedSignal,
                               IRadioMedium::signalArrivalEndedSignal, IRadioMedium::signalRemovedSignal}) {
        medium->subscribe(signal, this);
    }
    if (adapter_) getParentModule()->subscribe(inet::packetDroppedSignal, this);
}

// The medium signals radios, transmissions and their arrivals. A radio signals a packet that it passes up just before
// the packet's arrival ends.
void ReceptionMeter::receiveSignal(cComponent *source, simsignal_t signal, cObject *value, cObject *details) {
    if (signal == inet::packetSentToUpperSignal) {
        auto packet = check_and_cast<inet::Packet *>(value);
        radios_[source].got_it = !packet->hasBitError() && packet->peekData()->isCorrect();
    } else if (signal == IRadioMedium::signalArrivalEndedSignal) {
        arrivalEnded(check_and_cast<const IReception *>(value));
    } else if (signal == IRadioMedium::signalDepartureStartedSignal) {
        departure(check_and_cast<const ITransmission *>(value));
    } else if (signal == IRadioMedium::signalRemovedSignal) {
        on_air_.erase(check_and_cast<const ITransmission *>(value)->getId());
    } else if (signal == IRadioMedium::radioAddedSignal) {
        radioAdded(check_and_cast<cModule *>(value));
    } else if (signal == inet::packetDroppedSignal) {
        auto why = check_and_cast<inet::PacketDropDetails *>(details)->getReason();
        if (why == inet::RETRY_LIMIT_REACHED) gaveUp(check_and_cast<inet::Packet *>(value));
        if (why == inet::QUEUE_OVERFLOW && inet::findContainingNicModule(check_and_cast<cModule *>(source))) {
            overflowed(check_and_cast<inet::Packet *>(value));
        }
    }
}

static const void *key(const inet::physicallayer::IRadio *radio) { return dynamic_cast<const cComponent *>(radio); }

void ReceptionMeter::radioAdded(cModule *radio) {
    cModule *node = inet::getContainingNode(radio);
    Receiver &receiver = radios_[static_cast<cComponent *>(radio)];
    receiver.node = node->hasPar("nodeId") ? node->par("nodeId").intValue() : -1;
    receiver.is_station = node->hasPar("isStation") && node->par("isStation").boolValue();
    receiver.on_off = NodeSwitch::of(node);
    receiver.nic = inet::getContainingNicModule(radio);
    radio->subscribe(inet::packetSentToUpperSignal, this);
}

void ReceptionMeter::departure(const ITransmission *transmission) {
    const inet::Packet *packet = transmission->getPacket();
    if (packet->getByteLength() < min_frame_) return;
    Frame frame;
    const auto address = packet->findTag<inet::MacAddressInd>();
    frame.destination = address ? address->getDestAddress() : inet::MacAddress::BROADCAST_ADDRESS;
    frame.tag = adapter_ ? find_tag(packet->peekAll().get()) : nullptr;
    on_air_[transmission->getId()] = frame;
    const bool from_station = radios_[key(radio_of(transmission))].is_station;
    (from_station ? total_.station_frames : total_.host_frames) += 1;
    (from_station ? total_.station_bytes : total_.host_bytes) += packet->getByteLength();
    if (frame.tag && !mac_repeats_ && outOfReach(*frame.tag, transmission)) {
        adapter_->lost(frame.tag->peer, frame.tag->packet, Interface::WIRELESS);
    }
}

// Returns whether the frame is a datagram for one node that is out of range.
bool ReceptionMeter::outOfReach(const PacketTag &tag, const ITransmission *transmission) const {
    if (tag.interface != Interface::WIRELESS || tag.peer < 0) return false;
    auto mobility = check_and_cast<inet::IMobility *>(adapter_->moduleOf(tag.peer)->getSubmodule("mobility"));
    return transmission->getStartPosition().distance(mobility->getCurrentPosition()) > cell_radius_;
}

bool ReceptionMeter::meantFor(const Frame &frame, const Receiver &receiver) const {
    const bool up = receiver.on_off == nullptr || receiver.on_off->isUp();
    return up && (frame.destination.isBroadcast() || frame.destination == receiver.nic->getMacAddress());
}

void ReceptionMeter::arrivalEnded(const IReception *reception) {
    Receiver &receiver = radios_[key(radio_of(reception))];
    const bool got_it = receiver.got_it;
    receiver.got_it = false;
    const ITransmission *transmission = reception->getTransmission();
    const auto found = on_air_.find(transmission->getId());
    if (found == on_air_.end() || !meantFor(found->second, receiver)) return;
    if (transmission->getStartPosition().distance(reception->getStartPosition()) > cell_radius_) return;
    (got_it ? total_.received : total_.lost) += 1;
    const PacketTag *tag = found->second.tag;
    const bool final = !mac_repeats_ || found->second.destination.isBroadcast();
    if (!got_it && final && tag && tag->interface == Interface::WIRELESS)
        adapter_->lost(receiver.node, tag->packet, Interface::WIRELESS);
}

// The sender's MAC has stopped repeating a frame, so the datagram is lost. (TCP sends its segments again.)
void ReceptionMeter::gaveUp(const inet::Packet *packet) {
    const PacketTag *tag = find_tag(packet->peekAll().get());
    if (tag && tag->interface == Interface::WIRELESS) adapter_->lost(tag->peer, tag->packet, Interface::WIRELESS);
}

// The sender's queue was full, so the datagram never leaves its node.
void ReceptionMeter::overflowed(const inet::Packet *packet) {
    const PacketTag *tag = find_tag(packet->peekAll().get());
    if (!tag || tag->interface != Interface::WIRELESS) return;
    total_.never_sent += 1;
    adapter_->lost(tag->peer, tag->packet, Interface::WIRELESS);
}

void ReceptionMeter::finish() {
    const std::pair<const char *, double> numbers[] = {
        {"station_frames", total_.station_frames}, {"host_frames", total_.host_frames},
        {"station_bytes", total_.station_bytes},   {"host_bytes", total_.host_bytes},
        {"copies_received", total_.received},      {"copies_lost", total_.lost},
        {"loss_rate", total_.lossRate()},          {"never_sent", total_.never_sent},
    };
    for (const auto &[name, value] : numbers) {
        recordScalar(name, value);
        if (adapter_) adapter_->measure(name, value);
    }
}

}  // namespace causeway
