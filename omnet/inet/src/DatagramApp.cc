#include "DatagramApp.h"

#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/linklayer/common/InterfaceTag_m.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/networklayer/contract/IInterfaceTable.h"
#include "inet/networklayer/contract/ipv4/Ipv4Address.h"

namespace causeway {

using namespace omnetpp;

Define_Module(DatagramApp);

namespace {
constexpr int MOST_BYTES = 65535 - 20 - 8;  // of a datagram in IPv4; INET's UDP forgets the header of IPv4
}

int DatagramApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void DatagramApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        node_ = par("nodeId");
        port_ = par("port");
        adapter_ = Adapter::find(this);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER) {
        if (adapter_) adapter_->addSender(node_, Interface::WIRELESS, this);
        cModule *table = inet::getContainingNode(this)->getSubmodule("interfaceTable");
        const char *name = par("wirelessInterface");
        auto wireless = check_and_cast<inet::IInterfaceTable *>(table)->findInterfaceByName(name);
        if (!wireless) throw cRuntimeError("the node has no interface '%s'", name);
        wireless_id_ = wireless->getInterfaceId();
        socket_.setOutputGate(gate("socketOut"));
        socket_.setCallback(this);
        socket_.bind(port_);
        socket_.setBroadcast(true);
    }
}

void DatagramApp::handleMessage(cMessage *message) { socket_.processMessage(message); }

void DatagramApp::sendPacket(const PacketTag &tag) {
    Enter_Method("sendPacket");
    if (tag.size > MOST_BYTES) {
        throw cRuntimeError("a UDP packet of node %d has %d bytes, but %d at most are possible", node_, tag.size,
                            MOST_BYTES);
    }
    auto packet = new inet::Packet("datagram");
    packet->insertAtBack(tagged_payload(tag));
    packet->addTag<inet::InterfaceReq>()->setInterfaceId(wireless_id_);
    inet::L3Address to = inet::Ipv4Address::ALLONES_ADDRESS;
    if (tag.peer >= 0) to = adapter_->addressOf(tag.peer, Interface::WIRELESS);
    socket_.sendTo(packet, to, port_);
}

void DatagramApp::socketDataArrived(inet::UdpSocket *, inet::Packet *packet) {
    const PacketTag *tag = find_tag(packet->peekData().get());
    if (adapter_ && tag) adapter_->arrival(node_, tag->packet, Interface::WIRELESS);
    delete packet;
}

}  // namespace causeway
