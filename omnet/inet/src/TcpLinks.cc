#include "TcpLinks.h"

#include "inet/common/packet/Packet.h"
#include "inet/common/socket/SocketTag_m.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"
#include "inet_version.h"

namespace causeway {

using namespace omnetpp;
using inet::TcpSocket;

TcpLinks::~TcpLinks() {
    for (auto &[node, peer] : peers_) app_->cancelAndDelete(peer.retry);
}

void TcpLinks::listen(int port) {
    port_ = port;
    server_ = std::make_unique<TcpSocket>();
    server_->setOutputGate(app_->gate("socketOut"));
    server_->setCallback(this);
    server_->bind(port);
    server_->listen();
}

void TcpLinks::open(int node) {
    Peer &peer = peers_[node];
    const inet::L3Address to = owner_.addressOf(node);
    if (to.isUnspecified()) return loseWaiting(peer);
    auto socket = new TcpSocket();
    peer.link = add(socket, node);
    socket->connect(to, port_);
}

void TcpLinks::send(const PacketTag &tag) {
    Peer &peer = peers_[tag.peer];
    peer.waiting.push_back(tag);
    if (peer.link)
        flush(peer);
    else if (owner_.opens(tag.peer) && (!peer.retry || !peer.retry->isScheduled()))
        open(tag.peer);
}

TcpLinks::Link *TcpLinks::add(TcpSocket *socket, int peer) {
    socket->setOutputGate(app_->gate("socketOut"));
    socket->setCallback(this);
    auto link = std::make_unique<Link>();
    link->peer = peer;
    link->socket.reset(socket);
    socket->setUserData(link.get());
    return (links_[socket->getSocketId()] = std::move(link)).get();
}

// Removes a connection that has ended.
void TcpLinks::drop(TcpSocket *socket) {
    const auto found = links_.find(socket->getSocketId());
    if (found == links_.end()) return;
    const int node = found->second->peer;
    Peer &peer = peers_[node];
    if (peer.link == found->second.get()) {
        peer.link = nullptr;
        tryAgainLater(node, peer);
    }
    ended_.push_back(std::move(found->second));
    links_.erase(found);
}

void TcpLinks::tryAgainLater(int node, Peer &peer) {
    const bool wanted = !peer.waiting.empty() || owner_.keeps(node);
    if (!wanted || !owner_.opens(node)) return;
    if (!peer.retry) (peer.retry = new cMessage("reconnect", node))->setContextPointer(this);
    if (!peer.retry->isScheduled()) app_->scheduleAfter(reconnect_after_, peer.retry);
}

void TcpLinks::loseWaiting(Peer &peer) {
    for (const PacketTag &tag : peer.waiting) owner_.lost(tag);
    peer.waiting.clear();
}

void TcpLinks::leave(int node) {
    const auto found = peers_.find(node);
    if (found == peers_.end()) return;
    loseWaiting(found->second);
    if (!found->second.link) return;
    TcpSocket *socket = found->second.link->socket.get();
    socket->abort();
    drop(socket);
}

void TcpLinks::forget() {
    for (auto &[node, peer] : peers_) {
        loseWaiting(peer);
        app_->cancelAndDelete(peer.retry);
    }
    peers_.clear();
    for (auto &[id, link] : links_) ended_.push_back(std::move(link));
    links_.clear();
}

void TcpLinks::abort() {
    for (auto &[id, link] : links_) link->socket->abort();
    forget();
}

void TcpLinks::flush(Peer &peer) {
    while (peer.link && peer.link->established && !peer.waiting.empty()) {
        auto packet = new inet::Packet("stream");
        packet->insertAtBack(tagged_payload(peer.waiting.front()));
        peer.waiting.pop_front();
        peer.link->socket->send(packet);
    }
}

bool TcpLinks::take(cMessage *message) {
    if (message->isSelfMessage()) {
        if (message->getContextPointer() != this) return false;
        const int node = message->getKind();
        Peer &peer = peers_[node];
        if (!peer.link && (!peer.waiting.empty() || owner_.keeps(node))) open(node);
        return true;
    }
    const auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const auto &ind = tags.findTag<inet::SocketInd>();
    const auto found = ind ? links_.find(ind->getSocketId()) : links_.end();
    if (found != links_.end() && tells_of_data(message)) {
        take_all(*found->second->socket);  // TCP waits for it because of a ConnectionApp on the node
        delete message;
    } else if (found != links_.end()) {
        found->second->socket->processMessage(message);
    } else if (server_ && server_->belongsToSocket(message)) {
        server_->processMessage(message);
    } else {
        return false;
    }
    ended_.clear();
    return true;
}

void TcpLinks::socketAvailable(TcpSocket *, inet::TcpAvailableInfo *info) {
    const int node = owner_.nodeOf(info->getRemoteAddr());
    Link *link = add(new TcpSocket(info), node);
    if (node >= 0 && !peers_[node].link) peers_[node].link = link;
    server_->accept(info->getNewSocketId());
}

void TcpLinks::socketEstablished(TcpSocket *socket) {
    Link &link = linkOf(socket);
    link.established = true;
    owner_.opened();
    if (link.peer >= 0) flush(peers_[link.peer]);
}

void TcpLinks::socketPeerClosed(TcpSocket *socket) {
    if (socket->getState() == TcpSocket::PEER_CLOSED) socket->close();
}

void TcpLinks::socketFailure(TcpSocket *socket, int) {
    owner_.broken();
    drop(socket);
}

void TcpLinks::socketDataArrived(TcpSocket *socket, inet::Packet *packet, bool) {
    Link &link = linkOf(socket);
    each_tag(packet->peekData().get(), [&](int64_t bytes, const PacketTag &tag) { received(link, bytes, tag); });
    delete packet;
}

void TcpLinks::received(Link &link, int64_t bytes, const PacketTag &tag) {
    if (tag.packet != link.packet) {
        link.packet = tag.packet;
        link.bytes = 0;
    }
    link.bytes += bytes;
    if (link.bytes == tag.size) owner_.arrived(tag);
}

}  // namespace causeway
