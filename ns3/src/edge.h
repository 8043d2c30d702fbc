// Between the network and the controller: what happens goes out in windows, what nodes do about it comes in and is done
// at its instant.
//
// Actions, timers, broadcasts and failures wait here and not among ns-3's events: at one instant they come before
// whatever ns-3 does, in one order. So nothing depends on how events were batched into windows.
#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "bridge/cpp/client.h"
#include "bridge/cpp/workload.h"
#include "simulator.h"
#include "world.h"

namespace causeway {

class Edge {
  public:
    explicit Edge(Client &bridge);
    Reports reports();
    void run(World &world, SteppedSimulator &simulator);

  private:
    struct Due {  // something of ours that waits for its instant
        int64_t time_ps;
        int rank;  // among what is due at one instant
        uint64_t number;
        Action action;
        bool operator>(const Due &other) const {
            return std::tie(time_ps, rank, number) > std::tie(other.time_ps, other.rank, other.number);
        }
    };

    void add(const Action &action);
    void check_node(int32_t node, const std::string &who) const;
    int64_t next_ps() const { return std::min(due_.empty() ? kNever : due_.top().time_ps, broadcasts_.time_ps); }
    void do_next(int64_t now_ps);
    void do_action(const Action &action, int64_t now_ps);
    void finish(int64_t next_ps);
    void tell(Kind::Value kind, int32_t node, int64_t ref, int32_t arg);

    Client &bridge_;
    World *world_ = nullptr;
    SteppedSimulator *simulator_ = nullptr;
    Broadcasts broadcasts_;
    std::priority_queue<Due, std::vector<Due>, std::greater<Due>> due_;
    std::unordered_map<int64_t, int64_t> cancelled_;  // timer -> since when
    uint64_t numbered_ = 0;
    uint64_t done_ = 0;
};

}  // namespace causeway
