#include "edge.h"

#include <cmath>
#include <stdexcept>

namespace causeway {

namespace {
enum Rank { FAILURE, ACTION, TIMER_DUE };

int32_t millimetres(double metres) { return static_cast<int32_t>(std::lround(metres * 1000)); }
}  // namespace

Edge::Edge(Client &bridge) : bridge_(bridge), broadcasts_(bridge.setup().workload(), bridge.setup().seed()) {
    const FaultRows faults(bridge.setup().faults());
    for (size_t i = 0; i < faults.time_ps.size(); ++i) {
        due_.push({faults.time_ps[i],
                   FAILURE,
                   numbered_++,
                   {Act::NODE, 0, faults.node[i], faults.up[i], 0, faults.time_ps[i], 0}});
    }
}

Reports Edge::reports() {
    return {
        .arrival =
            [this](int node, int64_t packet, Interface::Value interface) {
                if (world_->is_up(node)) tell(Kind::ARRIVAL, node, packet, interface);
            },
        .lost = [this](int node, int64_t packet, Interface::Value interface) { tell(Kind::LOST, node, packet, interface); },
        .station = [this](int node, int station,
                          Point p) { tell(Kind::STATION, node, pack_position(millimetres(p.x), millimetres(p.y)), station); },
    };
}

void Edge::tell(Kind::Value kind, int32_t node, int64_t ref, int32_t arg) {
    bridge_.event(kind, simulator_->now_ps(), node, ref, arg);
}

void Edge::run(World &world, SteppedSimulator &simulator) {
    world_ = &world;
    simulator_ = &simulator;
    for (;;) {
        const int64_t ours_ps = next_ps(), ns3_ps = simulator.next_ps();
        const int64_t next = std::min(ours_ps, ns3_ps);
        switch (bridge_.step(next)) {
            case Client::EXCHANGE:
                for (size_t i = 0, n = bridge_.exchange(next); i < n; ++i) add(bridge_.action(i));
                break;
            case Client::RUN:
                if (ours_ps <= ns3_ps) {
                    simulator.advance(ours_ps);
                    do_next(ours_ps);
                } else {
                    simulator.step();
                }
                break;
            case Client::END:
                finish(next);
                return;
        }
    }
}

void Edge::finish(int64_t next_ps) {
    const int64_t duration_ps = bridge_.setup().duration_ps();
    const bool over = duration_ps > 0 && next_ps >= duration_ps;
    std::vector<Client::Measured> measured;
    for (const auto &[name, value] : world_->measured()) measured.push_back({"network", name, value});
    const std::string reason = bridge_.stopped() ? "the protocol stopped the run"
                               : over            ? "the duration is over"
                                                 : "nothing is left to happen";
    const int64_t end_ps = over && !bridge_.stopped() ? duration_ps : simulator_->now_ps();
    bridge_.finish(reason, end_ps, simulator_->GetEventCount() + done_, measured);
}

void Edge::add(const Action &action) {
    check_node(action.node, "the protocol acts for");
    due_.push({action.time_ps, action.kind == Act::SET_TIMER ? TIMER_DUE : ACTION, numbered_++, action});
}

void Edge::check_node(int32_t node, const std::string &who) const {
    if (node >= 0 && node < world_->nodes()) return;
    throw std::runtime_error(who + " node " + std::to_string(node) + "; the network has nodes 0 to " +
                             std::to_string(world_->nodes() - 1));
}

/// Does the first thing of ours that is due: failures, then actions, then timers, then broadcasts.
void Edge::do_next(int64_t now_ps) {
    ++done_;
    if (!due_.empty() && due_.top().time_ps == now_ps) {
        const Action action = due_.top().action;
        due_.pop();
        do_action(action, now_ps);
        return;
    }
    check_node(broadcasts_.node, "the workload broadcasts from");
    if (world_->is_up(broadcasts_.node)) {
        tell(Kind::BROADCAST, broadcasts_.node, broadcasts_.number, broadcasts_.size_bytes);
    }
    broadcasts_.next();
}

void Edge::do_action(const Action &action, int64_t now_ps) {
    switch (action.kind) {
        case Act::SEND:
            world_->send(action.node, static_cast<Interface::Value>(action.interface), action.ref, action.peer,
                         action.size_bytes);
            break;
        case Act::SET_TIMER: {
            const auto cancelled = cancelled_.find(action.ref);
            const bool fires = cancelled == cancelled_.end() || now_ps < cancelled->second;
            if (cancelled != cancelled_.end()) cancelled_.erase(cancelled);
            if (fires && world_->is_up(action.node)) tell(Kind::TIMER, action.node, action.ref, 0);
            break;
        }
        case Act::CANCEL_TIMER:
            cancelled_[action.ref] = now_ps;
            break;
        case Act::NODE: {
            check_node(action.node, "a failure is scripted for");
            const bool up = action.peer != 0;
            if (world_->is_up(action.node) == up) break;
            world_->set_up(action.node, up);
            tell(Kind::NODE, action.node, 0, up);
            break;
        }
        case Act::RECORD:
            break;  // this engine writes no result files of its own
    }
}

}  // namespace causeway
