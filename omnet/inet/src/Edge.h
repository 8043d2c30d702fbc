// The network's side of the bridge: events of all nodes go out here, actions come in here.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "PacketTag.h"
#include "omnet/src/Bridge.h"
#include "inet/common/geometry/common/Coord.h"
#include "inet/networklayer/common/L3Address.h"

namespace causeway {

class NodeSwitch;

// What sends the packets of one interface of one node.
class PacketSender {
  public:
    virtual ~PacketSender() {}
    virtual void sendPacket(const PacketTag &tag) = 0;
};

// What opens and closes TCP connections for the program of one node.
class ConnectionUser {
  public:
    virtual ~ConnectionUser() {}
    // One of LISTEN to ABORT. What is about a connection that is over does nothing.
    virtual void act(const Action &action) = 0;
    // The node fails: the others are not told.
    virtual void forget() = 0;
};

class Edge : public omnetpp::cSimpleModule {
  public:
    // The edge of the network that this module is in; null where there is none (the network runs without a bridge).
    static Edge *find(omnetpp::cModule *inside);

    // ---- events, told at the current simulation time ---------------------------------------------------------------
    void arrival(int node, int64_t packet, int interface) { bridge_->emitArrival(node, packet, interface); }
    void lost(int node, int64_t packet, int interface) { bridge_->emitLost(node, packet, interface); }
    void connection(Kind::Value kind, int node, int64_t connection, int64_t arg) {
        bridge_->emitConnection(kind, node, connection, static_cast<int>(arg));
    }
    void moved(int node, int station, const inet::Coord &at);
    // For the record.
    void placed(int node, const inet::Coord &at);

    // A TCP connection of some node was opened, or broke.
    void tcpOpened() { ++opened_; }
    void tcpBroken() { ++broken_; }

    // A packet was sent over a wire.
    void wireSent(int64_t bytes) {
        ++wire_packets_;
        wire_bytes_ += bytes;
    }

    // A number the network measured; goes to the controller at the end of the run. Call it from finish().
    void measure(const std::string &name, double value) { bridge_->measure("network", name, value); }

    // ---- the nodes -------------------------------------------------------------------------------------------------
    void addSender(int node, int interface, PacketSender *sender);
    void addConnections(int node, ConnectionUser *user);
    // A node opens a connection: the port that it does so from, by which it is known where it comes.
    int opens(int node, int64_t connection);
    // The connection that comes from there; -1 if it was given up.
    int64_t accepts(int node, int port);
    void gaveUp(int64_t connection);
    bool isUp(int node) const { return bridge_->is_up(node); }
    omnetpp::cModule *moduleOf(int node) const { return nodes_.at(node)->module; }
    // The address under which a node is reached over an interface; unspecified if it is not.
    inet::L3Address addressOf(int node, int interface) const;
    // The node with this address, -1 if none.
    int nodeOf(const inet::L3Address &address) const;

  protected:
    // One node as the bridge sees it.
    class End : public NodeHandler {
      public:
        omnetpp::cModule *module = nullptr;
        NodeSwitch *on_off = nullptr;
        std::array<PacketSender *, 3> senders{};
        ConnectionUser *connections = nullptr;
        int last_port = 0;
        std::array<inet::L3Address, 2> addresses;  // over the air, over the wires

        void onSend(const Action &action) override;
        void onConnection(const Action &action) override;
        void onMove(const Action &action) override;
        void onNode(bool up) override;
        omnetpp::cComponent *component() override { return module; }
    };

    Bridge *bridge_ = nullptr;
    std::vector<std::unique_ptr<End>> nodes_;
    std::map<inet::L3Address, int> by_address_;
    std::map<std::pair<int, int>, int64_t> coming_;  // connections that were opened and not accepted: by node and port
    int64_t opened_ = 0, broken_ = 0, wire_packets_ = 0, wire_bytes_ = 0;

    int numInitStages() const override;
    void initialize(int stage) override;
    void finish() override;
    void findNodes();
    void findAddresses();
    void checkSetup() const;
};

}  // namespace causeway
