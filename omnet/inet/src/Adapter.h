// The adapter of a network: passes the events of all nodes to the bridge, and actions to the nodes.
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

// Sends the packets of one interface of one node.
class PacketSender {
  public:
    virtual ~PacketSender() {}
    virtual void sendPacket(const PacketTag &tag) = 0;
};

// Opens and closes TCP connections for the program of one node.
class ConnectionUser {
  public:
    virtual ~ConnectionUser() {}
    // Carries out one of LISTEN to ABORT; does nothing if the connection is over.
    virtual void act(const Action &action) = 0;
    // Drops all connections without a message to the other ends: the node fails.
    virtual void forget() = 0;
};

class Adapter : public omnetpp::cSimpleModule {
  public:
    // Returns the adapter of the network that contains a module; null if the network runs without a bridge.
    static Adapter *find(omnetpp::cModule *inside);

    // ---- events, at the current simulation time --------------------------------------------------------------------
    void arrival(int node, int64_t packet, int interface) { bridge_->emitArrival(node, packet, interface); }
    void lost(int node, int64_t packet, int interface) { bridge_->emitLost(node, packet, interface); }
    void connection(Kind::Value kind, int node, int64_t connection, int64_t arg) {
        bridge_->emitConnection(kind, node, connection, static_cast<int>(arg));
    }
    void moved(int node, int station, const inet::Coord &at);
    // Records a position.
    void placed(int node, const inet::Coord &at);

    // Counts TCP connections that were opened or that broke.
    void tcpOpened() { ++opened_; }
    void tcpBroken() { ++broken_; }

    // Counts a packet sent over a wire.
    void wireSent(int64_t bytes) {
        ++wire_packets_;
        wire_bytes_ += bytes;
    }

    // Sends a measurement of the network to the controller at the end of the run. Call it from finish().
    void measure(const std::string &name, double value) { bridge_->measure("network", name, value); }

    // ---- the nodes -------------------------------------------------------------------------------------------------
    void addSender(int node, int interface, PacketSender *sender);
    void addConnections(int node, ConnectionUser *user);
    // Returns the local port for a connection that a node opens. The other end recognizes the connection by it.
    int opens(int node, int64_t connection);
    // Returns the connection that a node opened from a port; -1 if the node has given it up.
    int64_t accepts(int node, int port);
    void gaveUp(int64_t connection);
    bool isUp(int node) const { return bridge_->is_up(node); }
    omnetpp::cModule *moduleOf(int node) const { return nodes_.at(node)->module; }
    // Returns the address of a node for an interface; unspecified if it has none.
    inet::L3Address addressOf(int node, int interface) const;
    // Returns the node with this address, -1 if there is none.
    int nodeOf(const inet::L3Address &address) const;

  protected:
    // The handler of one node.
    class End : public NodeHandler {
      public:
        omnetpp::cModule *module = nullptr;
        NodeSwitch *on_off = nullptr;
        std::array<PacketSender *, 3> senders{};
        ConnectionUser *connections = nullptr;
        int last_port = 0;
        std::array<inet::L3Address, 2> addresses;  // wireless, wired

        void onSend(const Action &action) override;
        void onConnection(const Action &action) override;
        void onMove(const Action &action) override;
        void onNode(bool up) override;
        omnetpp::cComponent *component() override { return module; }
    };

    Bridge *bridge_ = nullptr;
    std::vector<std::unique_ptr<End>> nodes_;
    std::map<inet::L3Address, int> by_address_;
    std::map<std::pair<int, int>, int64_t> coming_;  // connections opened and not yet accepted, by node and port
    int64_t opened_ = 0, broken_ = 0, wire_packets_ = 0, wire_bytes_ = 0;

    int numInitStages() const override;
    void initialize(int stage) override;
    void finish() override;
    void findNodes();
    void findAddresses();
    void checkSetup() const;
};

}  // namespace causeway
