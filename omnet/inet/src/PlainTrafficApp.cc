#include "PlainTrafficApp.h"

#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/networklayer/contract/IInterfaceTable.h"

namespace causeway {

using namespace omnetpp;

Define_Module(PlainTrafficApp);

void PlainTrafficApp::initialize(int stage) {
    DatagramApp::initialize(stage);
    if (stage == inet::INITSTAGE_LOCAL) {
        on_wires_ = par("onWires");
        rate_ = par("rate");
        timer_ = new omnetpp::cMessage("send");
    } else if (stage == inet::INITSTAGE_LAST) {
        if (on_wires_) {
            findNeighbours();
            rate_ *= neighbours_.size();
        }
        scheduleNext();
    }
}

void PlainTrafficApp::findNeighbours() {
    cModule *node = inet::getContainingNode(this);
    for (int i = 0, n = node->gateSize("pppg"); i < n; ++i) {
        cGate *other = node->gate("pppg$o", i)->getNextGate();
        cModule *module = other->getOwnerModule()->getSubmodule("interfaceTable");
        auto table = check_and_cast<inet::IInterfaceTable *>(module);
        const std::string name = "ppp" + std::to_string(other->getIndex());
        neighbours_.push_back(table->findInterfaceByName(name.c_str())->getNetworkAddress());
    }
}

void PlainTrafficApp::scheduleNext() {
    if (rate_ > 0) scheduleAfter(exponential(1.0 / rate_), timer_);
}

void PlainTrafficApp::handleMessage(cMessage *message) {
    if (message != timer_) return DatagramApp::handleMessage(message);
    sendDatagram();
    scheduleNext();
}

void PlainTrafficApp::sendDatagram() {
    PacketTag tag;
    tag.source = node_;
    tag.size = par("messageLength");
    if (!on_wires_) return sendPacket(tag);
    auto packet = new inet::Packet("datagram");
    packet->insertAtBack(tagged_payload(tag));
    socket_.sendTo(packet, neighbours_[intrand(neighbours_.size())], port_);
}

}  // namespace causeway
