// The one bridge of a simulation: what every edge module talks to.
//
// Events go out through emit...() at the current simulation time; actions come in through the handlers that modules
// registered for their nodes. Timers, broadcasts and failures are the same on every simulator: see bridge/cpp/edge.h.
//
//     void MyApp::initialize() { Bridge::instance().registerNode(par("nodeId"), this); }
//     void MyApp::onSend(const Action &action) { ... }                       // a packet is to be sent now
//     void MyApp::handleMessage(cMessage *m) { Bridge::instance().emitArrival(node, packetIdOf(m), 0); delete m; }
//
// Run it with scheduler-class = "causeway::CausewayScheduler".
#pragma once

#include <omnetpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bridge/cpp/edge.h"

namespace causeway {

// What happens at one instant, in this order. Ordinary messages have priority 0; what the controller sees has, too.
constexpr short kNodePriority = -30000;  // a node goes down or up before anything else
constexpr short kSendPriority = 1;       // a SEND takes effect
constexpr short kServePriority = 2;      // a CPU serves the SENDs of this instant, by packet id
constexpr short kLeavePriority = 3;      // a packet leaves its sender
constexpr short kReachPriority = 4;      // a copy reaches its receiver's CPU
constexpr short kTakePriority = 5;       // a CPU takes in the copies of this instant, by packet id

// A node as the bridge sees it.
class NodeHandler {
  public:
    virtual ~NodeHandler() {}
    // The SEND takes effect now, and the node is up.
    virtual void onSend(const Action &action) = 0;
    // The node does something with a TCP connection now (LISTEN to ABORT), and it is up.
    virtual void onConnection(const Action &action) {
        throw omnetpp::cRuntimeError("causeway: node %d has no TCP connections", action.node);
    }
    // The node sets out for a place now, and it is up.
    virtual void onMove(const Action &action) {
        throw omnetpp::cRuntimeError("causeway: node %d does not move", action.node);
    }
    // The node goes down or comes up now.
    virtual void onNode(bool up) { (void)up; }
    // The module in whose name all this happens.
    virtual omnetpp::cComponent *component() = 0;
};

class Bridge : public EdgeBase {
  public:
    // The bridge of the network that is there now.
    static Bridge &instance();
    // The network is gone: the next one begins with another bridge.
    static void forget();
    // Has `call()` called whenever a network is there and not yet initialized. For libraries, when they are loaded.
    static void beforeInitialize(std::function<void()> call);
    static void callBeforeInitialize();
    // Whether this simulation was started by a controller at all.
    static bool configured();

    // The run, as the controller describes it. The first call shakes hands.
    const Setup &setup();

    void registerNode(int node, NodeHandler *handler);

    // ---- events, told at the current simulation time; a node that is down sees nothing ------------------------------
    void emitArrival(int node, int64_t packet, int interface) { emitNow(Kind::ARRIVAL, node, packet, interface); }
    void emitLost(int node, int64_t packet, int interface) { emitNow(Kind::LOST, node, packet, interface); }
    void emitStation(int node, int station, int32_t x_mm, int32_t y_mm) {
        emitNow(Kind::STATION, node, pack_position(x_mm, y_mm), station);
    }

    // For the record of the run, whoever is down.
    void tellPlace(int node, int32_t x_mm, int32_t y_mm) {
        tell(Kind::PLACE, omnetpp::simTime().raw(), node, pack_position(x_mm, y_mm), 0);
    }
    // What happens to a connection: CONNECTED to ENDED.
    void emitConnection(Kind::Value kind, int node, int64_t connection, int arg) {
        emitNow(kind, node, connection, arg);
    }

    // A number that the network itself measured; goes to the controller at the end. Call it from finish().
    void measure(const std::string &module, const std::string &name, double value) {
        measured_.push_back({module, name, value});
    }

    // ---- for the scheduler ------------------------------------------------------------------------------------------
    // Called before the simulation goes on to its next event; exchanges windows for actions as long as that is due.
    // False if the run is over. Actions may have brought an earlier event.
    bool mayRun(int64_t next_ps, bool *exchanged) {
        *exchanged = false;
        return next_ps < free_until_ps() || askMayRun(next_ps, exchanged);
    }
    using EdgeBase::end_ps;
    using EdgeBase::end_reason;
    void end();

  private:
    std::vector<NodeHandler *> handlers_;  // by node
    bool begun_ = false, finished_ = false;
    std::map<std::pair<int, int>, std::unique_ptr<omnetpp::cOutVector>> vectors_;
    std::vector<Client::Measured> measured_;

    void *schedule(const Due &due) override;
    void unschedule(void *scheduled) override;
    void send(const Action &action) override;
    void connection(const Action &action) override;
    void move(const Action &action) override;
    void switched(int32_t node, bool up) override;
    void record(const Action &action) override;
    void exchanged(const Window &window, size_t actions) override;

    void emitNow(Kind::Value kind, int node, int64_t ref, int arg) {
        emit(kind, omnetpp::simTime().raw(), node, ref, arg);
    }
    void measureFingerprint();
    bool askMayRun(int64_t next_ps, bool *exchanged);
    NodeHandler *handlerOf(int node);
};

}  // namespace causeway
