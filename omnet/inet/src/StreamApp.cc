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
    for (auto &[node, peer] : peers) cancelAndDelete(peer.retry);
}

int StreamApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void StreamApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        nodeId = par("nodeId");
        interface = par("interface");
        port = par("port").intValue() + interface;
        reconnectAfter = par("reconnectAfter");
        edge = Edge::find(this);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER && edge) {
        edge->addSender(nodeId, interface, this);
        listen();
    } else if (stage == inet::INITSTAGE_LAST && edge) {
        openWires();
        if (par("followStation")) {
            cModule *watcher = inet::getContainingNode(this)->getParentModule()->getSubmodule("watcher");
            check_and_cast<StationWatcher *>(watcher)->onChange([this](int node, int to) {
                if (node == nodeId) follow(to);
            });
        }
    }
}

void StreamApp::listen() {
    server.setOutputGate(gate("socketOut"));
    server.setCallback(this);
    server.bind(port);
    server.listen();
}

void StreamApp::openWires() {
    auto wires = check_and_cast_nullable<cValueArray *>(par("wires").objectValue());
    for (int i = 0; wires && i < wires->size(); ++i) {
        auto ends = check_and_cast<cValueArray *>((*wires)[i].objectValue());
        const int from = (*ends)[0].intValue(), to = (*ends)[1].intValue();
        if (from == nodeId) open(to);
        if (to == nodeId) awaited.insert(from);
    }
}

// A host that came to another station: the old connection is broken off.
void StreamApp::follow(int newStation) {
    Enter_Method("follow");
    if (station >= 0 && peers.count(station)) {
        Peer &old = peers[station];
        for (const PacketTag &tag : old.waiting) edge->lost(tag.peer, tag.packet, interface);
        old.waiting.clear();
        if (old.link) {
            TcpSocket *socket = old.link->socket.get();
            socket->abort();
            drop(socket, false);
        }
    }
    station = newStation;  // the first packet opens the connection: not all hosts at the same instant
}

void StreamApp::open(int peer) {
    const inet::L3Address to = edge->addressOf(peer, interface);
    if (to.isUnspecified()) throw cRuntimeError("node %d cannot be reached over interface %d", peer, interface);
    auto socket = new TcpSocket();
    peers[peer].link = add(socket, peer);
    socket->connect(to, port);
}

StreamApp::Link *StreamApp::add(TcpSocket *socket, int peer) {
    socket->setOutputGate(gate("socketOut"));
    socket->setCallback(this);
    auto link = std::make_unique<Link>();
    link->peer = peer;
    link->socket.reset(socket);
    socket->setUserData(link.get());
    return (links[socket->getSocketId()] = std::move(link)).get();
}

// The connection is gone. While there is something to send, or the wire or the station is there, it is opened again.
void StreamApp::drop(TcpSocket *socket, bool tryAgain) {
    const auto found = links.find(socket->getSocketId());
    if (found == links.end()) return;
    Peer &peer = peers[found->second->peer];
    if (peer.link == found->second.get()) {
        peer.link = nullptr;
        const int node = found->second->peer;
        const bool wanted = !peer.waiting.empty() || node == station || interface == Interface::WIRE;
        if (tryAgain && wanted && !awaited.count(node)) {
            if (!peer.retry) peer.retry = new cMessage("reconnect", node);
            if (!peer.retry->isScheduled()) scheduleAfter(reconnectAfter, peer.retry);
        }
    }
    ended.push_back(std::move(found->second));
    links.erase(found);
}

void StreamApp::sendPacket(const PacketTag &tag) {
    Enter_Method("sendPacket");
    if (tag.peer < 0) throw cRuntimeError("interface %d has no broadcast: packets need a peer", interface);
    if (interface == Interface::WIRE) edge->wireSent(tag.size);
    Peer &peer = peers[tag.peer];
    peer.waiting.push_back(tag);
    if (peer.link)
        flush(peer);
    else if (!awaited.count(tag.peer) && (!peer.retry || !peer.retry->isScheduled()))
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
        Peer &peer = peers[message->getKind()];
        if (!peer.link) open(message->getKind());
        return;
    }
    auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const auto found = links.find(tags.getTag<inet::SocketInd>()->getSocketId());
    if (found != links.end() && message->getKind() == inet::TCP_I_DATA_NOTIFICATION) {
        ask_for_data(*found->second->socket);  // a ConnectionApp has TCP wait for that
        delete message;
    } else if (found != links.end())
        found->second->socket->processMessage(message);
    else if (server.belongsToSocket(message))
        server.processMessage(message);
    else
        delete message;  // of a connection that is over
    ended.clear();
}

void StreamApp::socketAvailable(TcpSocket *, inet::TcpAvailableInfo *info) {
    const int node = edge->nodeOf(info->getRemoteAddr());
    Link *link = add(new TcpSocket(info), node);
    Peer &peer = peers[node];
    if (!peer.link) peer.link = link;
    server.accept(info->getNewSocketId());
}

void StreamApp::socketEstablished(TcpSocket *socket) {
    auto link = static_cast<Link *>(socket->getUserData());
    link->established = true;
    edge->tcpOpened();
    flush(peers[link->peer]);
}

void StreamApp::socketPeerClosed(TcpSocket *socket) {
    if (socket->getState() == TcpSocket::PEER_CLOSED) socket->close();
}

void StreamApp::socketFailure(TcpSocket *socket, int) {
    edge->tcpBroken();
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
    if (link.bytes == tag.size) edge->arrival(nodeId, tag.packet, interface);
}

}  // namespace causeway
