// The adapter: sends the events of the network to the controller in windows, and executes the actions at their
// instants.
//
// Actions, timers, broadcasts and failures wait here and not among ns-3's events: at one instant they come before all
// of ns-3's events, in a fixed order. So the results do not depend on how events were batched into windows.
#pragma once

#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "bridge/cpp/adapter.h"
#include "simulator.h"
#include "mobile_network.h"

namespace causeway {

class Adapter : public AdapterBase {
  public:
    Reports reports();
    void run(SimulatedNetwork &world, SteppedSimulator &simulator);

  private:
    struct Waiting {
        int rank;  // the order at one instant
        uint64_t number;
        Due due;
        bool operator>(const Waiting &other) const {
            return std::make_tuple(due.time_ps(), rank, number) >
                   std::make_tuple(other.due.time_ps(), other.rank, other.number);
        }
    };

    void *schedule(const Due &due) override;
    void send(const Action &action) override;
    void connection(const Action &action) override;
    void move(const Action &action) override;
    void switched(int32_t node, bool up) override;
    int64_t next_ps() const { return waiting_.empty() ? kNever : waiting_.top().due.time_ps(); }
    void do_next();

    SimulatedNetwork *world_ = nullptr;
    SteppedSimulator *simulator_ = nullptr;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>> waiting_;
    uint64_t numbered_ = 0;
    uint64_t done_ = 0;
};

}  // namespace causeway
