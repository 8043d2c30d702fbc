#include "StreamApp.h"

#include "ConnectionApp.h"
#include "StationWatcher.h"
#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/common/socket/SocketTag_m.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"

namespace causeway {

using namespace omnetpp;
using inet::TcpSocket;

Define_Module(StreamApp);

StreamApp::~StreamApp() {
    for (auto &[node, peer] : peers_) cancelAndDelete(peer.retry);
}

int StreamApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void StreamApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        node_ = par("nodeId");
        interface_ = par("interface");
        port_ = par("port").intValue() + interface_;
        reconnect_after_ = par("reconnectAfter");
        edge_ = Edge::find(this);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER && edge_) {
        edge_->addSender(node_, interface_, this);
        listen();
    } else if (stage == inet::INITSTAGE_LAST && edge_) {
        openWires();
        if (par("followStation")) {
            cModule *watcher = inet::getContainingNode(this)->getParentModule()->getSubmodule("watcher");
            check_and_cast<StationWatcher *>(watcher)->onChange([this](int node, int to) {
                if (node == node_) follow(to);
            });
        }
    }
}

void StreamApp::listen() {
    server_.setOutputGate(gate("socketOut"));
    server_.setCallback(this);
    server_.bind(port_);
    server_.listen();
}

void StreamApp::openWires() {
    auto wires = check_and_cast_nullable<cValueArray *>(par("wires").objectValue());
    for (int i = 0; wires && i < wires->size(); ++i) {
        auto ends = check_and_cast<cValueArray *>((*wires)[i].objectValue());
        const int from = (*ends)[0].intValue(), to = (*ends)[1].intValue();
        if (from == node_) open(to);
        if (to == node_) awaited_.insert(from);
    }
}

// A host that came to another station: the old connection is broken off.
void StreamApp::follow(int station) {
    Enter_Method("follow");
    if (station_ >= 0 && peers_.count(station_)) {
        Peer &old = peers_[station_];
        for (const PacketTag &tag : old.waiting) edge_->lost(tag.peer, tag.packet, interface_);
        old.waiting.clear();
        if (old.link) {
            TcpSocket *socket = old.link->socket.get();
            socket->abort();
            drop(socket, false);
        }
    }
    station_ = station;  // the first packet opens the connection: not all hosts at the same instant
}

void StreamApp::open(int peer) {
    const inet::L3Address to = edge_->addressOf(peer, interface_);
    if (to.isUnspecified()) throw cRuntimeError("node %d cannot be reached over interface %d", peer, interface_);
    auto socket = new TcpSocket();
    peers_[peer].link = add(socket, peer);
    socket->connect(to, port_);
}

StreamApp::Link *StreamApp::add(TcpSocket *socket, int peer) {
    socket->setOutputGate(gate("socketOut"));
    socket->setCallback(this);
    auto link = std::make_unique<Link>();
    link->peer = peer;
    link->socket.reset(socket);
    socket->setUserData(link.get());
    return (links_[socket->getSocketId()] = std::move(link)).get();
}

// The connection is gone. While there is something to send, or the wire or the station is there, it is opened again.
void StreamApp::drop(TcpSocket *socket, bool try_again) {
    const auto found = links_.find(socket->getSocketId());
    if (found == links_.end()) return;
    Peer &peer = peers_[found->second->peer];
    if (peer.link == found->second.get()) {
        peer.link = nullptr;
        const int node = found->second->peer;
        const bool wanted = !peer.waiting.empty() || node == station_ || interface_ == Interface::WIRE;
        if (try_again && wanted && !awaited_.count(node)) {
            if (!peer.retry) peer.retry = new cMessage("reconnect", node);
            if (!peer.retry->isScheduled()) scheduleAfter(reconnect_after_, peer.retry);
        }
    }
    ended_.push_back(std::move(found->second));
    links_.erase(found);
}

void StreamApp::sendPacket(const PacketTag &tag) {
    Enter_Method("sendPacket");
    if (tag.peer < 0) throw cRuntimeError("interface %d has no broadcast: packets need a peer", interface_);
    if (interface_ == Interface::WIRE) edge_->wireSent(tag.size);
    Peer &peer = peers_[tag.peer];
    peer.waiting.push_back(tag);
    if (peer.link)
        flush(peer);
    else if (!awaited_.count(tag.peer) && (!peer.retry || !peer.retry->isScheduled()))
        open(tag.peer);
}

void StreamApp::flush(Peer &peer) {
    while (peer.link && peer.link->established && !peer.waiting.empty()) {
        auto packet = new inet::Packet("stream");
        packet->insertAtBack(tagged_payload(peer.waiting.front()));
        peer.waiting.pop_front();
        peer.link->socket->send(packet);
    }
}

void StreamApp::handleMessage(cMessage *message) {
    if (message->isSelfMessage()) {
        Peer &peer = peers_[message->getKind()];
        if (!peer.link) open(message->getKind());
        return;
    }
    auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const auto found = links_.find(tags.getTag<inet::SocketInd>()->getSocketId());
    if (found != links_.end() && message->getKind() == inet::TCP_I_DATA_NOTIFICATION) {
        ask_for_data(*found->second->socket);  // a ConnectionApp has TCP wait for that
        delete message;
    } else if (found != links_.end())
        found->second->socket->processMessage(message);
    else if (server_.belongsToSocket(message))
        server_.processMessage(message);
    else
        delete message;  // of a connection that is over
    ended_.clear();
}

void StreamApp::socketAvailable(TcpSocket *, inet::TcpAvailableInfo *info) {
    const int node = edge_->nodeOf(info->getRemoteAddr());
    Link *link = add(new TcpSocket(info), node);
    Peer &peer = peers_[node];
    if (!peer.link) peer.link = link;
    server_.accept(info->getNewSocketId());
}

void StreamApp::socketEstablished(TcpSocket *socket) {
    auto link = static_cast<Link *>(socket->getUserData());
    link->established = true;
    edge_->tcpOpened();
    flush(peers_[link->peer]);
}

void StreamApp::socketPeerClosed(TcpSocket *socket) {
    if (socket->getState() == TcpSocket::PEER_CLOSED) socket->close();
}

void StreamApp::socketFailure(TcpSocket *socket, int) {
    edge_->tcpBroken();
    drop(socket, true);
}

void StreamApp::socketDataArrived(TcpSocket *socket, inet::Packet *packet, bool) {
    auto &link = *static_cast<Link *>(socket->getUserData());
    each_tag(packet->peekData().get(), [&](int64_t bytes, const PacketTag &tag) { received(link, bytes, tag); });
    delete packet;
}

void StreamApp::received(Link &link, int64_t bytes, const PacketTag &tag) {
    if (tag.packet != link.packet) {
        link.packet = tag.packet;
        link.bytes = 0;
    }
    link.bytes += bytes;
    if (link.bytes == tag.size) edge_->arrival(node_, tag.packet, interface_);
}

}  // namespace causeway
