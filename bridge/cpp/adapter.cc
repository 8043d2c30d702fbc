#include "bridge/cpp/adapter.h"

namespace causeway {

const Setup &AdapterBase::hello(const std::string &engine, const std::string &engine_version) {
    client_ = std::make_unique<Client>();
    return client_->hello(engine, engine_version);
}

// ---- the run ----

void AdapterBase::begin() {
    const int32_t wanted = setup().own_network().nodes(), found = static_cast<int32_t>(nodes_.size());
    if (setup().has_own_network() && wanted != found) {
        fail("the study has " + std::to_string(wanted) + " nodes, but " + std::to_string(found) +
             " nodes of the network take part; change causeway-nodes or the study's parameters");
    }
    client_->has_nodes(static_cast<int32_t>(nodes_.size()));
    try {
        check_nodes(setup(), static_cast<int32_t>(nodes_.size()));
    } catch (const Refused &refused) {
        fail(refused.what());
    }
    const FaultRows faults(setup().faults());
    network_faults_ = NetworkFaultMap(setup().troubles(), nodes_.size());
    faulty_ = faults.size() > 0 || !network_faults_.empty();
    for (size_t i = 0; i < faults.size(); ++i) {
        schedule({Due::FAILURE, {Act::NODE, 0, faults.node[i], faults.up[i], 0, faults.time_ps[i], 0}});
    }
    broadcasts_ = Broadcasts(setup().workload(), setup().seed());
    schedule_broadcast();
}

Client::Step AdapterBase::step(int64_t next_ps, int64_t now_ps) {
    const Client::Step step = client_->step(next_ps);
    if (step == Client::RUN) free_until_ps_ = client_->free_until_ps();
    if (step == Client::END) ended_ = client_->ended(next_ps, now_ps);
    if (step != Client::EXCHANGE) return step;
    const size_t rows = client_->exchange(next_ps);
    for (size_t i = 0; i < rows; ++i) apply(client_->action(i));
    exchanged(client_->last_window(), rows);
    free_until_ps_ = 0;
    return step;
}

void AdapterBase::finish(int64_t now_ps, uint64_t events, const std::vector<Client::Measured> &measured) {
    // If the simulation ended by itself (for example at a time limit), its last events have not been sent yet.
    while (client_->step(kNever) == Client::EXCHANGE) client_->exchange(kNever);
    client_->finish(end_reason(), ended_.at_ps >= 0 ? ended_.at_ps : now_ps, events, measured);
}

// ---- actions ----

// Schedules an action that the client has validated.
void AdapterBase::apply(const Action &action) {
    switch (action.kind) {
        case Act::SEND:
        case Act::LISTEN:
        case Act::CONNECT:
        case Act::WRITE:
        case Act::READ:
        case Act::CLOSE:
        case Act::ABORT:
        case Act::MOVE:
            schedule({Due::SEND, action});
            break;
        case Act::SET_TIMER:
            timers_[action.ref] = {action.time_ps, schedule({Due::TIMER, action})};
            break;
        case Act::CANCEL_TIMER:
            cancel(action.ref, action.time_ps);
            break;
        case Act::NODE:
            faulty_ = true;
            schedule({Due::SWITCH, action});
            break;
        case Act::RECORD:
            record(action);
            break;
        default:
            fail("action " + Act::Value_Name(action.kind) +
                 " is in the contract, but this adapter cannot do it; rebuild it");
    }
}

// Cancels a timer, unless it is due before the cancellation takes effect.
void AdapterBase::cancel(int64_t timer, int64_t effect_ps) {
    const auto found = timers_.find(timer);
    if (found == timers_.end() || found->second.due_ps < effect_ps) return;
    unschedule(found->second.scheduled);
    timers_.erase(found);
}

// ---- scheduled events ----

void AdapterBase::happen(const Due &due) {
    const Action &action = due.action;
    switch (due.what) {
        case Due::FAILURE:
        case Due::SWITCH:
            switch_node(action);
            break;
        case Due::SEND:
            if (nodes_[action.node].up || action.kind == Act::MOVE)
                act(action);  // a move of what is down puts it there
            break;
        case Due::TIMER:
            if (timers_.erase(action.ref) > 0 && (nodes_[action.node].up || action.interface))
                tell(Kind::TIMER, reported_ps(action.time_ps), action.node, action.ref, 0);
            break;
        case Due::BROADCAST:
            broadcast();
            break;
    }
}

void AdapterBase::act(const Action &action) {
    if (action.kind == Act::SEND) return send(action);
    action.kind == Act::MOVE ? move(action) : connection(action);
}

void AdapterBase::schedule_broadcast() {
    if (broadcasts_.time_ps == kNever) return;
    schedule({Due::BROADCAST,
              {Act::SEND, 0, broadcasts_.node, 0, broadcasts_.size_bytes, broadcasts_.time_ps, broadcasts_.number}});
}

void AdapterBase::broadcast() {
    emit(Kind::BROADCAST, reported_ps(broadcasts_.time_ps), broadcasts_.node, broadcasts_.number,
         broadcasts_.size_bytes);
    broadcasts_.next();
    schedule_broadcast();
}

void AdapterBase::switch_node(const Action &action) {
    NodeState &state = nodes_[action.node];
    const bool up = action.peer != 0;
    if (state.up == up) return;
    state.up = up;
    if (!up) ++state.failures;
    tell(Kind::NODE, reported_ps(action.time_ps), action.node, 0, up);
    switched(action.node, up);
}

}  // namespace causeway
