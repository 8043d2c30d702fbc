// A simulator of a page: what a node sends reaches its peer, or everybody, after a microsecond.
#pragma once

#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "bridge/cpp/adapter.h"

namespace causeway {

class TinyAdapter : public AdapterBase {
  public:
    // Runs to the end of the run, or for so many events.
    void run(uint64_t most_events) {
        const Setup &setup = hello("tiny", "tiny 1");
        const int32_t nodes = std::max(1, nodes_of(setup));
        has_nodes(nodes);
        begin();
        for (uint64_t events = 0; events < most_events;) {
            const int64_t next_ps = waiting_.empty() ? kNever : waiting_.top().time_ps;
            const Client::Step what = step(next_ps, now_ps_);
            if (what == Client::EXCHANGE) continue;
            if (what == Client::END) return finish(now_ps_, events, {{"tiny", "events", double(events)}});
            const Waiting next = waiting_.top();
            waiting_.pop();
            now_ps_ = next.time_ps;
            ++events;
            if (next.arrival)
                emit(Kind::ARRIVAL, now_ps_, next.receiver, next.due.action.ref, next.due.action.interface);
            else
                happen(next.due);
        }
    }

  private:
    struct Waiting {
        int64_t time_ps;
        uint64_t number;
        bool arrival;
        int32_t receiver;
        Due due;
        bool operator>(const Waiting &other) const {
            return std::tie(time_ps, number) > std::tie(other.time_ps, other.number);
        }
    };
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<Waiting>> waiting_;
    int64_t now_ps_ = 0;
    uint64_t number_ = 0;

    void *schedule(const Due &due) override {
        waiting_.push({due.time_ps(), number_++, false, -1, due});
        return nullptr;
    }
    void send(const Action &action) override {
        const int32_t nodes = std::min(8, std::max(1, nodes_of(setup())));
        const int32_t first = action.peer < 0 ? 0 : action.peer, last = action.peer < 0 ? nodes : action.peer + 1;
        for (int32_t to = first; to < last; ++to) {
            waiting_.push({now_ps_ + 1'000'000, number_++, true, to, {Due::SEND, action}});
        }
    }
    void switched(int32_t, bool) override {}
};

}  // namespace causeway
