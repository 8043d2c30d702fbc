#include "adapter.h"

#include <cmath>

namespace causeway {

namespace {
int32_t millimetres(double metres) { return static_cast<int32_t>(std::lround(metres * 1000)); }

/// Returns the order at one instant: scripted failures, then actions in order of arrival, then timers, then broadcasts.
int rank_of(AdapterBase::Due::What what) {
    switch (what) {
        case AdapterBase::Due::FAILURE:
            return 0;
        case AdapterBase::Due::SWITCH:
        case AdapterBase::Due::SEND:
            return 1;
        case AdapterBase::Due::TIMER:
            return 2;
        default:
            return 3;
    }
}
}  // namespace

Reports Adapter::reports() {
    return {
        .arrival =
            [this](int node, int64_t packet, Interface::Value interface) {
                emit(Kind::ARRIVAL, simulator_->now_ps(), node, packet, interface);
            },
        .lost = [this](int node, int64_t packet,
                       Interface::Value interface) { tell(Kind::LOST, simulator_->now_ps(), node, packet, interface); },
        .station =
            [this](int node, int station, Point p) {
                const int64_t position = pack_position(millimetres(p.x), millimetres(p.y));
                tell(Kind::STATION, simulator_->now_ps(), node, position, station, millimetres(p.z));
            },
        .place =
            [this](int node, Point p) {
                const int64_t position = pack_position(millimetres(p.x), millimetres(p.y));
                tell(Kind::PLACE, simulator_->now_ps(), node, position, 0, millimetres(p.z));
            },
        .connection = [this](Kind::Value kind, int node, int64_t connection,
                             int arg) { emit(kind, simulator_->now_ps(), node, connection, arg); },
    };
}

void Adapter::run(SimulatedNetwork &world, SteppedSimulator &simulator) {
    world_ = &world;
    simulator_ = &simulator;
    has_nodes(world.nodes());
    begin();
    for (;;) {
        const int64_t waiting_ps = next_ps(), ns3_ps = simulator.next_ps();
        const int64_t next = std::min(waiting_ps, ns3_ps);
        const Client::Step now = next < free_until_ps() ? Client::RUN : step(next, simulator.now_ps());
        if (now == Client::END) break;
        if (now == Client::EXCHANGE) continue;
        if (waiting_ps <= ns3_ps) {
            simulator.advance(waiting_ps);
            do_next();
        } else {
            simulator.step();
        }
    }
    std::vector<Client::Measured> measured;
    for (const auto &[name, value] : world.measured()) measured.push_back({"network", name, value});
    finish(simulator.now_ps(), simulator.GetEventCount() + done_, measured);
}

void *Adapter::schedule(const Due &due) {
    waiting_.push({rank_of(due.what), numbered_++, due});
    return nullptr;
}

/// Executes the first scheduled action, timer, broadcast or failure.
void Adapter::do_next() {
    ++done_;
    const Due due = waiting_.top().due;
    waiting_.pop();
    happen(due);
}

void Adapter::send(const Action &action) {
    const auto interface = static_cast<Interface::Value>(action.interface);
    world_->send(action.node, interface, action.ref, action.peer, action.size_bytes);
}

void Adapter::move(const Action &action) { world_->move(action); }

void Adapter::connection(const Action &action) { world_->connection(action); }

void Adapter::switched(int32_t node, bool up) { world_->set_up(node, up); }

}  // namespace causeway
