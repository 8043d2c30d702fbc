// The client that every adapter links: the handshake, windows out, actions in.
//
//     causeway::Client bridge;                                   // endpoint and deadline from the environment
//     const causeway::Setup &setup = bridge.hello("mysim", "MySim 1.0");
//     for (;;) {
//         int64_t next_ps = queue.empty() ? causeway::kNever : queue.top().time_ps;
//         switch (bridge.step(next_ps)) {
//             case causeway::Client::EXCHANGE:
//                 for (size_t i = 0, n = bridge.exchange(next_ps); i < n; ++i) schedule(bridge.action(i));
//                 continue;
//             case causeway::Client::END: bridge.finish("done", now_ps, events, scalars); return 0;
//             case causeway::Client::RUN: queue.run_one();        // calls bridge.event(...) for events that nodes see
//         }
//     }
//
// A simulator with a loop that cannot call `step` before every event stops at `horizon_ps()` instead; a call of `event`
// may bring the horizon nearer. An adapter may finish an instant at or after the horizon: its events wait for the next
// window.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bridge/cpp/channel.h"
#include "bridge/cpp/columns.h"
#include "bridge/cpp/contract.h"
#include "bridge/cpp/setup.h"
#include "bridge/cpp/window.h"
#include "causeway.pb.h"

namespace causeway {

// One row of an Actions frame.
struct Action {
    Act::Value kind;
    uint8_t interface;
    int32_t node;
    int32_t peer;
    int32_t size_bytes;
    int64_t time_ps;
    int64_t ref;

    static Action row(const Actions &a, size_t i) {
        return {static_cast<Act::Value>(at<uint8_t>(a.kind(), i)),
                at<uint8_t>(a.interface(), i),
                at<int32_t>(a.node(), i),
                at<int32_t>(a.peer(), i),
                at<int32_t>(a.size_bytes(), i),
                at<int64_t>(a.time_ps(), i),
                at<int64_t>(a.ref(), i)};
    }
};

class Client {
  public:
    enum Step { RUN, EXCHANGE, END };

    explicit Client(const std::string &endpoint = "") : channel_(endpoint) {}

    // Introduces the simulator and returns the description of the run. Ends the process if the controller refuses.
    const Setup &hello(const std::string &engine, const std::string &engine_version);
    const Setup &setup() const { return setup_; }

    // Sets the number of nodes of a simulator's own network, for the validation of answers.
    void has_nodes(int32_t nodes) { check_.expect_nodes(nodes); }

    // Adds an event to the window. Times must not decrease.
    void event(Kind::Value kind, int64_t time_ps, int32_t node, int64_t ref, int32_t arg, int32_t z_mm = 0) {
        window_.event(kind, time_ps, node, ref, arg, z_mm);
    }

    // Returns what to do before the simulator's next event at next_ps (kNever: it has none).
    Step step(int64_t next_ps) const {
        next_ps = within_run(next_ps);
        if (!begun_) return EXCHANGE;
        if (stopped_) return END;
        if (window_.must_close(next_ps)) return EXCHANGE;
        return next_ps == kNever ? END : RUN;
    }

    // Returns the instant before which `step` returns RUN as long as no event is added: no call is necessary.
    int64_t free_until_ps() const {
        if (!begun_ || stopped_ || window_.full()) return 0;
        return setup_.duration_ps() > 0 ? std::min(horizon_ps(), setup_.duration_ps()) : horizon_ps();
    }

    // Sends the window and waits for its answer. Returns the number of actions (0 if the window wants no reply).
    size_t exchange(int64_t next_ps);
    Action action(size_t i) const { return Action::row(in_.actions(), i); }

    // The window sent last.
    const Window &last_window() const { return out_.window(); }

    // Returns whether the protocol stopped the run: call `finish`.
    bool stopped() const { return stopped_; }

    // Returns the first instant that must not be simulated before the next exchange; kNever without active events.
    int64_t horizon_ps() const { return window_.horizon_ps(); }

    // Returns the reason why `step` returned END before next_ps, and the end of the run.
    struct Ended {
        End::Value why;
        int64_t at_ps;
    };
    Ended ended(int64_t next_ps, int64_t now_ps) const {
        if (stopped_) return {End::STOPPED, now_ps};
        if (next_ps == kNever) return {End::NOTHING_LEFT, now_ps};
        return {End::DURATION_OVER, setup_.duration_ps()};
    }

    struct Measured {
        std::string module, name;
        double value;
    };

    // Reports the end of the run.
    void finish(const std::string &reason, int64_t end_ps, uint64_t events, const std::vector<Measured> &scalars = {});

    // Sends the reason why the simulation cannot continue to the controller, and ends the process.
    [[noreturn]] void fail(const std::string &why);

  private:
    Channel channel_;
    Setup setup_;
    WindowBuilder window_;
    AnswerCheck check_;
    Frame out_, in_;
    bool begun_ = false, stopped_ = false;
    using Clock = std::chrono::steady_clock;
    Clock::duration waited_{};

    int64_t within_run(int64_t next_ps) const {
        return setup_.duration_ps() > 0 && next_ps >= setup_.duration_ps() ? kNever : next_ps;
    }
    size_t take_answer();
    void expect(Frame::BodyCase body, const char *what);
    void take_topics();
    void take_lookaheads();
};

}  // namespace causeway
