// Interfaces 1 and 2: packets in TCP's byte stream, one connection per peer.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "Edge.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"

namespace causeway {

class StreamApp : public omnetpp::cSimpleModule, public PacketSender, public inet::TcpSocket::ICallback {
  public:
    void sendPacket(const PacketTag &tag) override;
    ~StreamApp() override;

  protected:
    // One TCP connection. Where both ends opened one at the same time there are two: each end sends on its own.
    struct Link {
        int peer = -1;
        bool established = false;
        int64_t packet = -1;  // the packet being received, and how much of it is here
        int32_t bytes = 0;
        std::unique_ptr<inet::TcpSocket> socket;
    };
    struct Peer {
        Link *link = nullptr;           // what we send on
        std::deque<PacketTag> waiting;  // until it is established
        omnetpp::cMessage *retry = nullptr;
    };

    int node_ = -1, interface_ = Interface::WIRE, port_ = 0, station_ = -1;
    omnetpp::simtime_t reconnect_after_;
    Edge *edge_ = nullptr;
    inet::TcpSocket server_;
    std::map<int, std::unique_ptr<Link>> links_;  // by socket id
    std::vector<std::unique_ptr<Link>> ended_;    // kept until the message that ended them is handled
    std::map<int, Peer> peers_;
    std::set<int> awaited_;  // those that open the connection to us

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;

    void listen();
    void openWires();
    void follow(int station);
    void open(int peer);
    Link *add(inet::TcpSocket *socket, int peer);
    void drop(inet::TcpSocket *socket, bool try_again);
    void flush(Peer &peer);
    void received(Link &link, int64_t bytes, const PacketTag &tag);

    void socketDataArrived(inet::TcpSocket *socket, inet::Packet *packet, bool urgent) override;
    void socketAvailable(inet::TcpSocket *socket, inet::TcpAvailableInfo *info) override;
    void socketEstablished(inet::TcpSocket *socket) override;
    void socketPeerClosed(inet::TcpSocket *socket) override;
    void socketClosed(inet::TcpSocket *socket) override { drop(socket, true); }
    void socketFailure(inet::TcpSocket *socket, int) override;
    void socketStatusArrived(inet::TcpSocket *, inet::TcpStatusInfo *) override {}
    void socketDeleted(inet::TcpSocket *) override {}
};

}  // namespace causeway
