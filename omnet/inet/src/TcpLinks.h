// Packets in TCP's byte stream, one connection for each pair of nodes. If both nodes open one at the same time, each
// sends on its own. Packets that were not yet sent on a lost connection are sent on the next one.
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
    // The node with these connections.
    class Owner {
      public:
        virtual ~Owner() = default;
        // Returns the address of another node; unspecified if it has none now.
        virtual inet::L3Address addressOf(int node) = 0;
        // Returns the node with an address; -1 if there is none.
        virtual int nodeOf(const inet::L3Address &address) = 0;
        // Returns whether this node opens connections to another node, not the other way round.
        virtual bool opens(int) const { return true; }
        // Returns whether a lost connection to a node is opened again even if no packets wait.
        virtual bool keeps(int) const { return false; }

        virtual void arrived(const PacketTag &tag) = 0;
        // Reports a packet that was never sent.
        virtual void lost(const PacketTag &tag) = 0;
        virtual void opened() = 0;
        virtual void broken() = 0;
    };

    // `app` is the module that has the gates, and receives the timers.
    TcpLinks(Owner &owner, omnetpp::cSimpleModule *app) : owner_(owner), app_(app) {}
    ~TcpLinks() override;

    void reconnectAfter(omnetpp::simtime_t after) { reconnect_after_ = after; }
    void listen(int port);
    void open(int node);
    void send(const PacketTag &tag);
    // Aborts the connection to a node; packets not yet sent are lost.
    void leave(int node);
    // Drops all connections, because the host's TCP was shut down.
    void forget();
    // Aborts all connections; packets not yet sent are lost.
    void abort();
    // Handles a message of the module. Returns false if it is not for these connections.
    bool take(omnetpp::cMessage *message);

  private:
    struct Link {
        int peer = -1;
        bool established = false;
        int64_t packet = -1;  // the packet being received
        int64_t bytes = 0;    // its bytes so far
        std::unique_ptr<inet::TcpSocket> socket;
    };
    struct Peer {
        Link *link = nullptr;           // the connection for sending
        std::deque<PacketTag> waiting;  // packets, until it is established
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
