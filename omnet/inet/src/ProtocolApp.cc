#include "ProtocolApp.h"

#include <cmath>

#include "inet/common/ModuleAccess.h"
#include "inet/common/Simsignals.h"
#include "inet/common/lifecycle/ModuleOperations.h"
#include "inet/common/packet/Packet.h"
#include "inet/linklayer/common/InterfaceTag_m.h"
#include "inet/linklayer/ieee80211/mgmt/Ieee80211MgmtSta.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/networklayer/contract/IInterfaceTable.h"

namespace causeway {

using namespace omnetpp;

Define_Module(ProtocolApp);

ProtocolApp::~ProtocolApp() {
    cancelAndDelete(look_);
    cancelAndDelete(record_);
}

static int32_t mm(double metres) { return static_cast<int32_t>(std::lround(metres * 1000)); }

void ProtocolApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        host_ = inet::getContainingNode(this);
        port_ = par("port");
        position_every_ = par("positionEvery");
        nodes_ = &ProtocolNodes::ofRun();
        node_ = nodes_->numberOf(this);
        mobility_ = dynamic_cast<inet::IMobility *>(host_->getSubmodule("mobility"));
        vehicle_ = dynamic_cast<SumoMobility *>(host_->getSubmodule("mobility"));
        host_->subscribe(inet::l2AssociatedSignal, this);
        look_ = new cMessage("look");
        look_->setSchedulingPriority(-1);  // before the traffic of the same instant
        if (mobility_) scheduleAt(SIMTIME_ZERO, look_);
        places_every_ = instant_of(nodes_->bridge().setup().own_network().places_every_ps());
        if (!mobility_ || places_every_ == SIMTIME_ZERO) return;
        record_ = new cMessage("record place");
        record_->setSchedulingPriority(-1);
        scheduleAt(SIMTIME_ZERO, record_);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER) {
        streams_ = std::make_unique<PeerStreams>(*nodes_, node_, port_, par("reconnectAfter"), this);
        open();
    }
}

// Opens its sockets. A host that INET shuts down and starts again has lost them.
void ProtocolApp::open() {
    socket_ = inet::UdpSocket();
    socket_.setOutputGate(gate("socketOut"));
    socket_.setCallback(this);
    socket_.bind(port_);
    socket_.setBroadcast(true);
    joinGroup();
    streams_->listen();
}

// Sets the group: 255.255.255.255 for IPv4, all nodes of the link for IPv6, or a multicast group of the user's.
void ProtocolApp::joinGroup() {
    const std::string name = par("group").stdstringValue();
    const bool is_ipv6 = !host_->getSubmodule("ipv4");
    group_ = inet::L3Address(!name.empty() ? name.c_str() : is_ipv6 ? "ff02::1" : "255.255.255.255");
    if (group_.isMulticast()) nodes_->eachInterface(host_, [&](int id) { socket_.joinMulticastGroup(group_, id); });
}

void ProtocolApp::handleMessage(cMessage *message) {
    if (message == record_) {
        recordPlace();
    } else if (message == look_) {
        tellPlace();
        if (position_every_ > SIMTIME_ZERO) scheduleAfter(position_every_, look_);
    } else if (!streams_->take(message)) {
        if (socket_.belongsToSocket(message))
            socket_.processMessage(message);
        else
            delete message;  // of a connection that is over
    }
}

void ProtocolApp::finish() { nodes_->finished(); }

// ---- packets --------------------------------------------------------------------------------------------------------

void ProtocolApp::onSend(const Action &action) {
    Enter_Method("send packet %lld", static_cast<long long>(action.ref));
    if (action.size_bytes <= 0) throw cRuntimeError("packet %lld has no length", static_cast<long long>(action.ref));
    PacketTag tag;
    tag.packet = action.ref;
    tag.source = node_;
    tag.peer = action.peer;
    tag.size = action.size_bytes;
    tag.interface = action.interface;
    if (action.interface != Interface::WIRELESS) return streams_->sendPacket(tag);
    if (tag.peer == Constant::BROADCAST_PEER) return sendToAll(tag);
    const inet::L3Address to = nodes_->addressOf(tag.peer);
    if (to.isUnspecified()) return nodes_->unreachable(tag);
    sendDatagram(tag, to, -1);
}

// Sends to all nodes on the links of this host, over each of its interfaces.
void ProtocolApp::sendToAll(const PacketTag &tag) {
    nodes_->eachInterface(host_, [&](int id) { sendDatagram(tag, group_, id); });
}

void ProtocolApp::sendDatagram(const PacketTag &tag, const inet::L3Address &to, int interface_id) {
    auto packet = new inet::Packet("causeway");
    packet->insertAtBack(tagged_payload(tag));
    if (interface_id >= 0) packet->addTag<inet::InterfaceReq>()->setInterfaceId(interface_id);
    nodes_->count().datagrams += 1;
    socket_.sendTo(packet, to, port_);
}

void ProtocolApp::socketDataArrived(inet::UdpSocket *, inet::Packet *packet) {
    const PacketTag *tag = find_tag(packet->peekData().get());
    if (tag && tag->source != node_) nodes_->arrival(node_, *tag);  // an access point repeats a host's broadcast to it
    delete packet;
}

// ---- failures and positions -----------------------------------------------------------------------------------------

void ProtocolApp::onNode(bool up) {
    Enter_Method("node %d goes %s", node_, up ? "up" : "down");
    if (!switch_) switch_ = std::make_unique<HostSwitch>(host_);
    switch_->setUp(up);
    if (!vehicle_) return;
    vehicle_->setUp(up);
    if (!up) streams_->abort();  // the next vehicle is another process
}

void ProtocolApp::onMove(const Action &action) {
    if (!vehicle_)
        throw cRuntimeError(
            "%s has no mobility module that SUMO can move; write %s.mobility.typename = \"SumoMobility\" in the ini "
            "file",
            host_->getFullPath().c_str(), host_->getFullPath().c_str());
    const auto [x_mm, y_mm] = unpack_position(action.ref);
    vehicle_->go(x_mm, y_mm, action.peer, action.size_bytes);
}

// INET itself (a scenario) stops or starts the host, which is reported like any failure.
bool ProtocolApp::handleOperationStage(inet::LifecycleOperation *operation, inet::IDoneCallback *) {
    Enter_Method("the host is switched");
    const int stage = operation->getCurrentStage();
    if (dynamic_cast<inet::ModuleStartOperation *>(operation)) {
        if (stage == inet::ModuleStartOperation::STAGE_APPLICATION_LAYER) hostSwitched(true);
    } else if (dynamic_cast<inet::ModuleStopOperation *>(operation)) {
        if (stage == inet::ModuleStopOperation::STAGE_APPLICATION_LAYER) hostSwitched(false);
    } else if (dynamic_cast<inet::ModuleCrashOperation *>(operation)) {
        if (stage == inet::ModuleCrashOperation::STAGE_CRASH) hostSwitched(false);
    }
    return true;
}

void ProtocolApp::hostSwitched(bool up) {
    if (up)
        open();
    else
        streams_->forget();
    nodes_->hostSwitched(node_, up);
}

void ProtocolApp::tellPlace() {
    const inet::Coord at = mobility_ ? mobility_->getCurrentPosition() : inet::Coord::ZERO;
    nodes_->bridge().emitStation(node_, station_, mm(at.x), mm(at.y), mm(at.z));
}

void ProtocolApp::recordPlace() {
    const inet::Coord at = mobility_->getCurrentPosition();
    if (!vehicle_ || !vehicle_->isAway()) nodes_->bridge().tellPlace(node_, mm(at.x), mm(at.y), mm(at.z));
    scheduleAfter(places_every_, record_);
}

// The host is associated with an access point.
void ProtocolApp::receiveSignal(cComponent *, simsignal_t, cObject *, cObject *access_point) {
    auto found = dynamic_cast<inet::ieee80211::Ieee80211MgmtSta::ApInfo *>(access_point);
    if (!found) return;
    Enter_Method("associated");
    station_ = nodes_->accessPointOf(found->address);
    tellPlace();
}

}  // namespace causeway
