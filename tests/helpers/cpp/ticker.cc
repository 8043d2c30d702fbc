// The smallest adapter there is: every timer fires at its time, every packet comes back to its sender after a
// microsecond. It is what docs/guide/07-bridge.md shows, and what the tests of the C++ client run.
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "bridge/cpp/client.h"

using namespace causeway;

int main() {
    using Event = std::tuple<int64_t, int, int32_t, int64_t>;  // time, kind, node, ref
    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> queue;
    Client bridge;
    bridge.hello("ticker", "ticker 1");
    int64_t now_ps = 0;
    uint64_t events = 0;
    for (;;) {
        const int64_t next_ps = queue.empty() ? kNever : std::get<0>(queue.top());
        switch (bridge.step(next_ps)) {
            case Client::EXCHANGE:
                for (size_t i = 0, n = bridge.exchange(next_ps); i < n; ++i) {
                    const Action a = bridge.action(i);
                    if (a.kind == Act::SET_TIMER) queue.push({a.time_ps, Kind::TIMER, a.node, a.ref});
                    if (a.kind == Act::SEND) queue.push({a.time_ps + 1'000'000, Kind::ARRIVAL, a.node, a.ref});
                }
                continue;
            case Client::END:
                bridge.finish(bridge.stopped() ? "stopped" : "done", now_ps, events,
                              {{"ticker", "events", double(events)}});
                return 0;
            case Client::RUN:
                const auto [time_ps, kind, node, ref] = queue.top();
                queue.pop();
                now_ps = time_ps;
                ++events;
                bridge.event(static_cast<Kind::Value>(kind), time_ps, node, ref, 0);
        }
    }
}
