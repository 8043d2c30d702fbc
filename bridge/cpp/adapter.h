// The common part of all adapters: broadcasts, failures, timers, actions, the state of nodes, and the end of a run.
//
// A simulator's adapter derives from AdapterBase. It implements `schedule`, which makes the simulator call `happen` at
// an instant, and the sending and failing of a node. It reports the events that nodes see with `emit`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bridge/cpp/client.h"
#include "bridge/cpp/faults.h"
#include "bridge/cpp/workload.h"

namespace causeway {

class AdapterBase {
  public:
    // An event that is scheduled for an instant.
    struct Due {
        enum What : uint8_t { FAILURE, SWITCH, SEND, TIMER, BROADCAST };  // FAILURE: scripted; SWITCH: by an action
        What what;
        Action action;
        int64_t time_ps() const { return action.time_ps; }
    };

    virtual ~AdapterBase() = default;

    // Introduces the simulator and returns the description of the run. Ends the process if the controller refuses.
    const Setup &hello(const std::string &engine, const std::string &engine_version);
    const Setup &setup() const { return client_->setup(); }
    // Sends the reason why the simulation cannot continue to the controller, and ends the process.
    [[noreturn]] void fail(const std::string &why) { client_->fail(why); }

    // ---- the state of nodes; a node that is down sees nothing ----
    bool is_up(int32_t node) const { return nodes_[node].up; }
    // Returns the number of times that the node has gone down so far.
    int64_t failures(int32_t node) const { return nodes_[node].failures; }
    // Returns whether packets can be lost to failing nodes, link failures, jammers or partitions in this run.
    bool faulty() const { return faulty_; }
    const NetworkFaultMap &network_faults() const { return network_faults_; }

    // Executes what is due now.
    void happen(const Due &due);

  protected:
    // ---- implemented by a simulator's adapter ----
    // Makes the simulator call `happen(due)` at its instant. The result is passed to `unschedule`.
    virtual void *schedule(const Due &due) = 0;
    // Cancels a timer. `happen` may still be called for it, but then does nothing.
    virtual void unschedule(void *scheduled) { (void)scheduled; }
    // Sends a packet of a node now. The node is up.
    virtual void send(const Action &action) = 0;
    // Carries out an action on a TCP connection (LISTEN to ABORT) of a node now. The node is up; the connection may be
    // over.
    virtual void connection(const Action &action) {
        (void)action;
        fail("this simulator has no TCP connections");
    }
    // Makes a node move to a position from now on; a node that is down is put there at once.
    virtual void move(const Action &action) {
        (void)action;
        fail("the nodes of this network do not move");
    }
    // Makes a node fail or recover now. Its connections are dropped without a message to the other ends.
    virtual void switched(int32_t node, bool up) = 0;
    // Returns the time at which an event that is due now, at `due_ps` on the bridge, is reported.
    virtual int64_t reported_ps(int64_t due_ps) { return due_ps; }
    // Records a value, in simulators with their own result files.
    virtual void record(const Action &action) { (void)action; }
    // Shows a window and the number of actions that answered it, in graphical environments.
    virtual void exchanged(const Window &window, size_t actions) { (void)window, (void)actions; }

    // ---- the run ----
    bool connected() const { return client_ != nullptr; }
    // Declares the nodes 0 .. nodes - 1.
    void has_nodes(int32_t nodes) { nodes_.resize(nodes); }
    // Schedules the failures and the first broadcast. All nodes must exist.
    void begin();
    // Returns the next thing to do before the simulator continues to next_ps. Schedules the actions of an exchange.
    Client::Step step(int64_t next_ps, int64_t now_ps);
    // Returns the instant before which `step` returns RUN; 0 if an event has been reported.
    int64_t free_until_ps() const { return free_until_ps_; }
    // Returns the text for the end of the run.
    const std::string &end_reason() const { return words_of(ended_.why); }
    // Returns the time at which `step` returned END; -1 if it did not.
    int64_t end_ps() const { return ended_.at_ps; }
    // Reports the end of the run.
    void finish(int64_t now_ps, uint64_t events, const std::vector<Client::Measured> &measured);

    // Reports an event, unless the node is down.
    void emit(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg, int32_t z_mm = 0) {
        if (node < 0 || nodes_[node].up) tell(kind, time_ps, node, ref, arg, z_mm);
    }
    // Reports an event.
    void tell(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg, int32_t z_mm = 0) {
        client_->event(kind, time_ps, node, ref, arg, z_mm);
        free_until_ps_ = 0;
    }

  private:
    struct NodeState {
        bool up = true;
        int64_t failures = 0;
    };
    struct Timer {
        int64_t due_ps;
        void *scheduled;
    };

    std::unique_ptr<Client> client_;
    std::vector<NodeState> nodes_;
    Broadcasts broadcasts_;
    std::unordered_map<int64_t, Timer> timers_;
    NetworkFaultMap network_faults_;
    bool faulty_ = false;
    int64_t free_until_ps_ = 0;
    Client::Ended ended_{End::BY_SIMULATION, -1};

    void apply(const Action &action);
    void act(const Action &action);
    void cancel(int64_t timer, int64_t effect_ps);
    void schedule_broadcast();
    void broadcast();
    void switch_node(const Action &action);
};

}  // namespace causeway
