// What every edge does alike: broadcasts, failures, timers, actions, who is up, and the end of a run.
//
// A simulator derives from it, says how something is done at an instant (`schedule`), how a node sends and fails, and
// calls `happen` at that instant. What its nodes see it tells with `arrival`, `lost` and `station`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "bridge/cpp/client.h"
#include "bridge/cpp/trouble.h"
#include "bridge/cpp/workload.h"

namespace causeway {

class EdgeBase {
  public:
    // Something that waits for its instant.
    struct Due {
        enum What : uint8_t { FAILURE, SWITCH, SEND, TIMER, BROADCAST };  // FAILURE is scripted, SWITCH was asked for
        What what;
        Action action;
        int64_t time_ps() const { return action.time_ps; }
    };

    virtual ~EdgeBase() = default;

    // Introduces the simulator and returns what to simulate. Ends the process if the controller refuses.
    const Setup &hello(const std::string &engine, const std::string &engine_version);
    const Setup &setup() const { return client_->setup(); }
    // Tells the controller why the simulation cannot go on, and ends the process.
    [[noreturn]] void fail(const std::string &why) { client_->fail(why); }

    // ---- who is up; a node that is down sees nothing
    // ------------------------------------------------------------------
    bool is_up(int32_t node) const { return nodes_[node].up; }
    // How often the node has gone down so far.
    int64_t failures(int32_t node) const { return nodes_[node].failures; }
    // Whether nodes go down in this run at all, or the network has trouble: what leaves later may not leave or arrive.
    bool faulty() const { return faulty_; }
    const TroubleMap &trouble() const { return trouble_; }

    // Does what is due now.
    void happen(const Due &due);

  protected:
    // ---- what a simulator gives
    // --------------------------------------------------------------------------------------- Has `happen(due)` called
    // at its instant. What it returns is for `unschedule`.
    virtual void *schedule(const Due &due) = 0;
    // A timer that was cancelled; it may come up or not, nothing happens then.
    virtual void unschedule(void *scheduled) { (void)scheduled; }
    // The node sends now, and it is up.
    virtual void send(const Action &action) = 0;
    // The node does something with a TCP connection now (LISTEN to ABORT), and it is up. Ids may mean nothing any more.
    virtual void connection(const Action &action) {
        (void)action;
        fail("this simulator has no TCP connections");
    }
    // The node sets out for a place now, and it is up.
    virtual void move(const Action &action) {
        (void)action;
        fail("the nodes of this network do not move");
    }
    // The node goes down or comes up now. Its connections are forgotten without a word to the other ends.
    virtual void switched(int32_t node, bool up) = 0;
    // For simulators that write result files of their own.
    virtual void record(const Action &action) { (void)action; }
    // For simulators that people look at: a window went out, and so many actions came back.
    virtual void exchanged(const Window &window, size_t actions) { (void)window, (void)actions; }

    // ---- the run
    // ------------------------------------------------------------------------------------------------------
    bool connected() const { return client_ != nullptr; }
    // The network has nodes 0 .. nodes - 1.
    void has_nodes(int32_t nodes) { nodes_.resize(nodes); }
    // All nodes are there: schedules the failures and the first broadcast.
    void begin();
    // What to do before the simulator goes on to next_ps. The actions of an exchange are scheduled then.
    Client::Step step(int64_t next_ps, int64_t now_ps);
    // `step` answers RUN for everything before this instant; 0 once something was told.
    int64_t free_until_ps() const { return free_until_ps_; }
    // Why the run ended, in words.
    const std::string &end_reason() const { return words_of(ended_.why); }
    // When it ended, where `step` said so; -1 if it did not.
    int64_t end_ps() const { return ended_.at_ps; }
    // The run is over.
    void finish(int64_t now_ps, uint64_t events, const std::vector<Client::Measured> &measured);

    // Tells an event, unless the node is down.
    void emit(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg) {
        if (node < 0 || nodes_[node].up) tell(kind, time_ps, node, ref, arg);
    }
    // Tells an event.
    void tell(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg) {
        client_->event(kind, time_ps, node, ref, arg);
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
    TroubleMap trouble_;
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
