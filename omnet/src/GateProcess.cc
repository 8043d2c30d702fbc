#include "GateProcess.h"

using namespace omnetpp;

namespace causeway {

Define_Module(GateProcess);
Register_Class(BridgePacket);

void GateProcess::initialize() {
    node_ = par("nodeId");
    Bridge::instance().registerNode(node_, this);
}

void GateProcess::onSend(const Action &action) {
    BridgePacket *packet = new BridgePacket();
    packet->packet = action.ref;
    packet->source = action.node;
    packet->destination = action.peer;
    packet->interface = action.interface;
    packet->setByteLength(action.size_bytes);
    sendOut(packet);
}

void GateProcess::sendOut(BridgePacket *packet) {
    if (packet->interface >= gateSize("out")) {
        throw cRuntimeError("causeway: node %d has no interface %d: its gate vector out has size %d", node_,
                            packet->interface, gateSize("out"));
    }
    cGate *out = gate("out", packet->interface);
    if (packet->interface >= static_cast<int>(free_.size())) free_.resize(packet->interface + 1);
    const simtime_t start = std::max(simTime(), free_[packet->interface]);
    const cChannel *channel = out->findTransmissionChannel();
    free_[packet->interface] = start + (channel ? channel->calculateDuration(packet) : SIMTIME_ZERO);
    sendDelayed(packet, start - simTime(), out);
}

void GateProcess::handleMessage(cMessage *message) { receive(check_and_cast<BridgePacket *>(message)); }

void GateProcess::receive(BridgePacket *packet) {
    if (packet->destination == node_ || packet->destination == Constant::BROADCAST_PEER) {
        Bridge::instance().emitArrival(node_, packet->packet, packet->getArrivalGate()->getIndex());
    }
    delete packet;
}

}  // namespace causeway
