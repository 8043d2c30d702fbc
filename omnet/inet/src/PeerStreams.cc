#include "PeerStreams.h"

#include "ProtocolNodes.h"
#include "inet/common/packet/Packet.h"
#include "inet/common/socket/SocketTag_m.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"

namespace causeway {

using namespace omnetpp;
using inet::TcpSocket;

PeerStreams::PeerStreams(ProtocolNodes &nodes, int node, int port, simtime_t reconnect_after, cSimpleModule *app)
    : nodes_(nodes), node_(node), port_(port), reconnect_after_(reconnect_after), app_(app) {}

PeerStreams::~PeerStreams() {
    for (auto &[node, peer] : peers_) app_->cancelAndDelete(peer.retry);
}

void PeerStreams::listen() {
    if (!app_->getParentModule()->getSubmodule("tcp") && !app_->getModuleByPath("^.tcp")) return;
    server_ = std::make_unique<TcpSocket>();
    server_->setOutputGate(app_->gate("socketOut"));
    server_->setCallback(this);
    server_->bind(port_);
    server_->listen();
}

void PeerStreams::sendPacket(const PacketTag &tag) {
    if (!server_) throw cRuntimeError("node %d has no TCP (%s)", node_, app_->getParentModule()->getFullPath().c_str());
    if (tag.peer < 0) throw cRuntimeError("interface %d has no broadcast: packets need a peer", tag.interface);
    nodes_.count().stream_packets += 1;
    nodes_.count().stream_bytes += tag.size;
    Peer &peer = peers_[tag.peer];
    peer.waiting.push_back(tag);
    if (peer.link)
        flush(peer);
    else if (!peer.retry || !peer.retry->isScheduled())
        open(tag.peer);
}

void PeerStreams::open(int node) {
    Peer &peer = peers_[node];
    const inet::L3Address to = nodes_.addressOf(node);
    if (to.isUnspecified()) {
        for (const PacketTag &tag : peer.waiting) nodes_.unreachable(tag);
        peer.waiting.clear();
        return;
    }
    auto socket = new TcpSocket();
    peer.link = add(socket, node);
    socket->connect(to, port_);
}

PeerStreams::Link *PeerStreams::add(TcpSocket *socket, int peer) {
    socket->setOutputGate(app_->gate("socketOut"));
    socket->setCallback(this);
    auto link = std::make_unique<Link>();
    link->peer = peer;
    link->socket.reset(socket);
    socket->setUserData(link.get());
    return (links_[socket->getSocketId()] = std::move(link)).get();
}

// The connection is gone. While there is something to send it is opened again, a while later.
void PeerStreams::drop(TcpSocket *socket) {
    const auto found = links_.find(socket->getSocketId());
    if (found == links_.end()) return;
    const int node = found->second->peer;
    Peer &peer = peers_[node];
    if (peer.link == found->second.get()) {
        peer.link = nullptr;
        if (!peer.waiting.empty()) {
            if (!peer.retry) (peer.retry = new cMessage("reconnect", node))->setContextPointer(this);
            if (!peer.retry->isScheduled()) app_->scheduleAfter(reconnect_after_, peer.retry);
        }
    }
    ended_.push_back(std::move(found->second));
    links_.erase(found);
}

void PeerStreams::forget() {
    for (auto &[node, peer] : peers_) {
        for (const PacketTag &tag : peer.waiting) nodes_.unreachable(tag);
        app_->cancelAndDelete(peer.retry);
    }
    peers_.clear();
    for (auto &[id, link] : links_) ended_.push_back(std::move(link));
    links_.clear();
}

void PeerStreams::flush(Peer &peer) {
    while (peer.link && peer.link->established && !peer.waiting.empty()) {
        auto packet = new inet::Packet("causeway stream");
        packet->insertAtBack(tagged_payload(peer.waiting.front()));
        peer.waiting.pop_front();
        peer.link->socket->send(packet);
    }
}

bool PeerStreams::take(cMessage *message) {
    if (message->isSelfMessage()) {
        if (message->getContextPointer() != this) return false;
        Peer &peer = peers_[message->getKind()];
        if (!peer.link && !peer.waiting.empty()) open(message->getKind());
        return true;
    }
    const auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const auto &ind = tags.findTag<inet::SocketInd>();
    const auto found = ind ? links_.find(ind->getSocketId()) : links_.end();
    if (found != links_.end())
        found->second->socket->processMessage(message);
    else if (server_ && server_->belongsToSocket(message))
        server_->processMessage(message);
    else
        return false;
    ended_.clear();
    return true;
}

void PeerStreams::socketAvailable(TcpSocket *, inet::TcpAvailableInfo *info) {
    const int node = nodes_.nodeOf(info->getRemoteAddr());
    Link *link = add(new TcpSocket(info), node);
    if (node >= 0) {
        Peer &peer = peers_[node];
        if (!peer.link) peer.link = link;
    }
    server_->accept(info->getNewSocketId());
}

void PeerStreams::socketEstablished(TcpSocket *socket) {
    Link &link = linkOf(socket);
    link.established = true;
    nodes_.count().opened += 1;
    if (link.peer >= 0) flush(peers_[link.peer]);
}

void PeerStreams::socketPeerClosed(TcpSocket *socket) {
    if (socket->getState() == TcpSocket::PEER_CLOSED) socket->close();
}

void PeerStreams::socketFailure(TcpSocket *socket, int) {
    nodes_.count().broken += 1;
    drop(socket);
}

void PeerStreams::socketDataArrived(TcpSocket *socket, inet::Packet *packet, bool) {
    Link &link = linkOf(socket);
    each_tag(packet->peekData().get(), [&](int64_t bytes, const PacketTag &tag) { received(link, bytes, tag); });
    delete packet;
}

void PeerStreams::received(Link &link, int64_t bytes, const PacketTag &tag) {
    if (tag.packet != link.packet) {
        link.packet = tag.packet;
        link.bytes = 0;
    }
    link.bytes += bytes;
    if (link.bytes == tag.size) nodes_.arrival(node_, tag);
}

}  // namespace causeway
