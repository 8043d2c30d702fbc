// Packets in TCP's byte stream, one connection for each pair of nodes; where both opened one at the same time, each
// sends on its own. What a lost connection leaves unsent goes over the next one.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "PacketTag.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"

namespace causeway {

class TcpLinks : public inet::TcpSocket::ICallback {
  public:
    // What the node knows whose connections these are.
    class Owner {
      public:
        virtual ~Owner() = default;
        // Where another node is reached; unspecified: nowhere now.
        virtual inet::L3Address addressOf(int node) = 0;
        // -1: it is no node's.
        virtual int nodeOf(const inet::L3Address &address) = 0;
        // Whether connections to this node are opened from here; else they are awaited.
        virtual bool opens(int) const { return true; }
        // Whether a lost connection to it is opened again though nothing waits to be sent.
        virtual bool keeps(int) const { return false; }

        virtual void arrived(const PacketTag &tag) = 0;
        // It was never sent.
        virtual void lost(const PacketTag &tag) = 0;
        virtual void opened() = 0;
        virtual void broken() = 0;
    };

    // `app` is the module whose gates they use and that is handed their timers.
    TcpLinks(Owner &owner, omnetpp::cSimpleModule *app) : owner_(owner), app_(app) {}
    ~TcpLinks() override;

    void reconnectAfter(omnetpp::simtime_t after) { reconnect_after_ = after; }
    void listen(int port);
    void open(int node);
    void send(const PacketTag &tag);
    // Breaks off the connection to a node; what was not sent is lost.
    void leave(int node);
    // The host's TCP is gone, and all connections with it.
    void forget();
    // Handles a message of the module, if it is for these connections.
    bool take(omnetpp::cMessage *message);

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

    Owner &owner_;
    omnetpp::cSimpleModule *const app_;
    int port_ = 0;
    omnetpp::simtime_t reconnect_after_;
    std::unique_ptr<inet::TcpSocket> server_;
    std::map<int, std::unique_ptr<Link>> links_;  // by socket id
    std::vector<std::unique_ptr<Link>> ended_;    // kept until the message that ended them is handled
    std::map<int, Peer> peers_;

    Link *add(inet::TcpSocket *socket, int peer);
    void drop(inet::TcpSocket *socket);
    void tryAgainLater(int node, Peer &peer);
    void loseWaiting(Peer &peer);
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
