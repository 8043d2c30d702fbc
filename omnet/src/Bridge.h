// The bridge of a simulation, which all modules of the adapter use.
//
// Modules report events with emit...() at the current simulation time; actions are passed to the handlers that modules
// registered for their nodes. Timers, broadcasts and failures are the same on every simulator: see
// bridge/cpp/adapter.h.
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

#include "Picoseconds.h"
#include "UnusedLines.h"
#include "bridge/cpp/adapter.h"

namespace causeway {

// The order of events at one instant. Ordinary messages and events that the controller sees have priority 0.
constexpr short kNodePriority = -30000;  // a node goes down or up before anything else
constexpr short kSendPriority = 1;       // a SEND takes effect
constexpr short kServePriority = 2;      // a CPU serves the SENDs of this instant, by packet id
constexpr short kLeavePriority = 3;      // a packet leaves its sender
constexpr short kLinkPriority = 4;       // links take in the packets of this instant, by sender and packet
constexpr short kReachPriority = 5;      // a copy reaches its receiver's CPU
constexpr short kTakePriority = 6;       // a CPU takes in the copies of this instant, by packet id

// The handler of a node's actions.
class NodeHandler {
  public:
    virtual ~NodeHandler() {}
    // Sends a packet of the node now. The node is up.
    virtual void onSend(const Action &action) = 0;
    // Carries out an action on a TCP connection (LISTEN to ABORT) of the node now. The node is up.
    virtual void onConnection(const Action &action) {
        throw omnetpp::cRuntimeError("causeway: node %d has no TCP connections", action.node);
    }
    // Makes the node move to a position from now on. The node is up.
    virtual void onMove(const Action &action) {
        throw omnetpp::cRuntimeError("causeway: node %d does not move", action.node);
    }
    // Makes the node fail or recover now.
    virtual void onNode(bool up) { (void)up; }
    // Returns the module in whose context the other methods are called.
    virtual omnetpp::cComponent *component() = 0;
};

class Bridge : public AdapterBase {
  public:
    // Returns the bridge of the present network.
    static Bridge &instance();
    // Deletes the bridge together with its network.
    static void forget();
    // Calls `call()` each time after a network is built and before it is initialized. Libraries use this when they are
    // loaded.
    static void beforeInitialize(std::function<void()> call);
    static void callBeforeInitialize();
    // Begins to compare the lines of the ini file with the network, if the controller wants that.
    void watchLines();
    // Returns whether a controller started this simulation.
    static bool configured();

    // Returns the description of the run. The first call performs the handshake.
    const Setup &setup();

    void registerNode(int node, NodeHandler *handler);

    // ---- events, at the current simulation time; they are dropped if the node is down -------------------------------
    void emitArrival(int node, int64_t packet, int interface) { emitNow(Kind::ARRIVAL, node, packet, interface); }
    void emitLost(int node, int64_t packet, int interface) { emitNow(Kind::LOST, node, packet, interface); }
    void emitStation(int node, int station, int32_t x_mm, int32_t y_mm, int32_t z_mm) {
        emit(Kind::STATION, reportedPs(), node, pack_position(x_mm, y_mm), station, z_mm);
    }

    // Records a position, also of a node that is down.
    void tellPlace(int node, int32_t x_mm, int32_t y_mm, int32_t z_mm) {
        tell(Kind::PLACE, reportedPs(), node, pack_position(x_mm, y_mm), 0, z_mm);
    }
    // Reports an event of a connection: CONNECTED to ENDED.
    void emitConnection(Kind::Value kind, int node, int64_t connection, int arg) {
        emitNow(kind, node, connection, arg);
    }

    // Sends a measurement of the network to the controller at the end of the run. Call it from finish().
    void measure(const std::string &module, const std::string &name, double value) {
        measured_.push_back({module, name, value});
    }

    // ---- for the scheduler ------------------------------------------------------------------------------------------
    // Exchanges a window for actions if one is due before the next event. Returns false if the run is over. Sets
    // `exchanged` if actions may have scheduled an earlier event.
    bool mayRun(int64_t next_ps, bool *exchanged) {
        *exchanged = false;
        return next_ps < free_until_ps() || askMayRun(next_ps, exchanged);
    }
    using AdapterBase::end_ps;
    using AdapterBase::end_reason;
    void end();

  private:
    std::vector<NodeHandler *> handlers_;  // by node
    bool begun_ = false, finished_ = false;
    omnetpp::simtime_t reported_at_;  // the last instant at which an event was reported
    int64_t reported_ps_ = -1;        // the time at which that event was reported
    std::map<std::pair<int, int>, std::unique_ptr<omnetpp::cOutVector>> vectors_;
    std::vector<Client::Measured> measured_;
    std::unique_ptr<UnusedLines> lines_;

    void *schedule(const Due &due) override;
    void unschedule(void *scheduled) override;
    void send(const Action &action) override;
    void connection(const Action &action) override;
    void move(const Action &action) override;
    void switched(int32_t node, bool up) override;
    void record(const Action &action) override;
    void exchanged(const Window &window, size_t actions) override;

    // Returns the time at which an event of this instant is reported. It is the present time in picoseconds, or the
    // next picosecond if an earlier instant was reported at that time.
    int64_t reportedPs();
    int64_t reported_ps(int64_t) override { return reportedPs(); }
    void emitNow(Kind::Value kind, int node, int64_t ref, int arg) { emit(kind, reportedPs(), node, ref, arg); }
    void measureFingerprint();
    bool askMayRun(int64_t next_ps, bool *exchanged);
    NodeHandler *handlerOf(int node);
};

}  // namespace causeway
