// Packets in TCP's byte stream between two hosts of somebody's own network: one connection for each pair, opened by the
// first packet; where both opened one at the same time, each sends on its own.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "PacketTag.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"

namespace causeway {

class ProtocolNodes;

class PeerStreams : public inet::TcpSocket::ICallback {
  public:
    // `app` is the module whose gates it uses and that is handed its timers.
    PeerStreams(ProtocolNodes &nodes, int node, int port, omnetpp::simtime_t reconnect_after,
                omnetpp::cSimpleModule *app);
    ~PeerStreams() override;

    void listen();
    void sendPacket(const PacketTag &tag);
    // Handles a message of the module, if it is for these connections.
    bool take(omnetpp::cMessage *message);
    // The host's TCP is gone, and all connections with it.
    void forget();

  private:
    struct Link {
        int peer = -1;
        bool established = false;
        int64_t packet = -1;  // the packet being received, and how much of it is here
        int64_t bytes = 0;
        std::unique_ptr<inet::TcpSocket> socket;
    };
    struct Peer {
        Link *link = nullptr;           // what we send on
        std::deque<PacketTag> waiting;  // until it is established
        omnetpp::cMessage *retry = nullptr;
    };

    ProtocolNodes &nodes_;
    const int node_, port_;
    const omnetpp::simtime_t reconnect_after_;
    omnetpp::cSimpleModule *const app_;
    std::unique_ptr<inet::TcpSocket> server_;
    std::map<int, std::unique_ptr<Link>> links_;  // by socket id
    std::vector<std::unique_ptr<Link>> ended_;    // kept until the message that ended them is handled
    std::map<int, Peer> peers_;

    void open(int peer);
    Link *add(inet::TcpSocket *socket, int peer);
    void drop(inet::TcpSocket *socket);
    void flush(Peer &peer);
    void received(Link &link, int64_t bytes, const PacketTag &tag);
    static Link &linkOf(inet::TcpSocket *socket) { return *static_cast<Link *>(socket->getUserData()); }

    void socketDataArrived(inet::TcpSocket *socket, inet::Packet *packet, bool urgent) override;
    void socketAvailable(inet::TcpSocket *socket, inet::TcpAvailableInfo *info) override;
    void socketEstablished(inet::TcpSocket *socket) override;
    void socketPeerClosed(inet::TcpSocket *socket) override;
    void socketClosed(inet::TcpSocket *socket) override { drop(socket); }
    void socketFailure(inet::TcpSocket *socket, int) override;
    void socketStatusArrived(inet::TcpSocket *, inet::TcpStatusInfo *) override {}
    void socketDeleted(inet::TcpSocket *) override {}
};

}  // namespace causeway
