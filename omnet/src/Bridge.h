// The one bridge of a simulation: what every edge module talks to.
//
// Events go out through emit...() at the current simulation time; actions come in through the handlers that modules registered
// for their nodes. Timers, broadcasts, failures and recording are the same on every network and live here.
//
//     void MyApp::initialize() { Bridge::instance().registerNode(par("nodeId"), this); }
//     void MyApp::onSend(const Action &action) { ... }                       // a packet is to be sent now
//     void MyApp::handleMessage(cMessage *m) { Bridge::instance().emitArrival(node, packetIdOf(m), 0); delete m; }
//
// Run it with scheduler-class = "causeway::CausewayScheduler".
#pragma once

#include <omnetpp.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bridge/cpp/client.h"
#include "bridge/cpp/workload.h"

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
    // The node goes down or comes up now.
    virtual void onNode(bool up) { (void)up; }
    // The module in whose name all this happens.
    virtual omnetpp::cComponent *component() = 0;
};

class TimerEvent;

class Bridge {
  public:
    static Bridge &instance();
    // Whether this simulation was started by a controller at all.
    static bool configured();

    // The run, as the controller describes it. The first call shakes hands.
    const Setup &setup();

    void registerNode(int node, NodeHandler *handler);
    int nodes() const { return static_cast<int>(nodes_.size()); }

    // ---- events, told at the current simulation time; a node that is down sees nothing ------------------------------
    void emitArrival(int node, int64_t packet, int interface) { emit(Kind::ARRIVAL, node, packet, interface); }
    void emitLost(int node, int64_t packet, int interface) { emit(Kind::LOST, node, packet, interface); }
    void emitStation(int node, int station, int32_t x_mm, int32_t y_mm) {
        emit(Kind::STATION, node, pack_position(x_mm, y_mm), station);
    }

    // ---- the state of nodes -----------------------------------------------------------------------------------------
    bool isUp(int node) const { return nodes_[node].up; }
    // How often the node has gone down so far.
    int64_t failures(int node) const { return nodes_[node].failures; }
    // Whether nodes go down in this run at all.
    bool faulty() const { return faulty_; }

    // A number that the network itself measured; goes to the controller at the end. Call it from finish().
    void measure(const std::string &module, const std::string &name, double value) { measured_.push_back({module, name, value}); }

    // ---- for the scheduler and the bridge's own events --------------------------------------------------------------
    // Called before the simulation goes on to its next event; exchanges windows for actions as long as that is due.
    // False if the run is over. Actions may have brought an earlier event.
    bool mayRun(int64_t next_ps, bool *exchanged) {
        *exchanged = false;
        return next_ps < free_until_ps_ || askMayRun(next_ps, exchanged);
    }
    const std::string &endReason() const { return end_reason_; }
    void finish();
    void timerDue(TimerEvent *timer);
    void broadcastDue();
    void sendDue(const Action &action);
    void nodeDue(int node, bool up);

  private:
    struct NodeState {
        NodeHandler *handler = nullptr;
        bool up = true;
        int64_t failures = 0;
    };

    std::unique_ptr<Client> client_;
    std::vector<NodeState> nodes_;
    Broadcasts broadcasts_;
    bool begun_ = false, finished_ = false, faulty_ = false;
    int64_t free_until_ps_ = 0;  // of the client; 0 once an event was told
    std::string end_reason_ = "ended by the simulation";
    int64_t end_ps_ = -1;  // where the run's duration ended it
    std::unordered_map<int64_t, TimerEvent *> timers_;
    std::map<std::pair<int, int>, std::unique_ptr<omnetpp::cOutVector>> vectors_;
    std::vector<Client::Measured> measured_;

    void emit(Kind::Value kind, int node, int64_t ref, int arg) {
        if (node >= 0 && !nodes_[node].up) return;
        tell(kind, node, ref, arg);
    }
    void tell(Kind::Value kind, int node, int64_t ref, int arg) {
        client_->event(kind, omnetpp::simTime().raw(), node, ref, arg);
        free_until_ps_ = 0;
    }
    bool askMayRun(int64_t next_ps, bool *exchanged);
    void begin();
    void scheduleBroadcast();
    void apply(const Action &action);
    void cancelTimer(int64_t timer, int64_t effect_ps);
    void record(const Action &action);
    NodeState &stateOf(int node);
};

}  // namespace causeway
