#include "Bridge.h"

#include <cstdlib>
#include <cstring>

#include "Events.h"

using namespace omnetpp;

namespace causeway {

Bridge &Bridge::instance() {
    static Bridge bridge;
    return bridge;
}

bool Bridge::configured() {
    const char *endpoint = std::getenv("CAUSEWAY_ENDPOINT");
    return endpoint != nullptr && *endpoint != '\0';
}

const Setup &Bridge::setup() {
    if (finished_) throw cRuntimeError("causeway: a process carries one run; start every run with a process of its own");
    if (!client_) {
        client_ = std::make_unique<Client>();
        const char *version = std::getenv("CAUSEWAY_ENGINE_VERSION");
        client_->hello("omnet", version ? version : "OMNeT++ " + std::to_string(OMNETPP_VERSION >> 8) + "." + std::to_string(OMNETPP_VERSION & 0xff));
        if (SimTime::getScaleExp() != -12) client_->fail("simulation time must be in picoseconds: simtime-resolution = ps");
    }
    return client_->setup();
}

void Bridge::registerNode(int node, NodeHandler *handler) {
    setup();
    if (node < 0) throw cRuntimeError("causeway: a node id must not be negative (%d)", node);
    if (node >= nodes()) nodes_.resize(node + 1);
    if (nodes_[node].handler) throw cRuntimeError("causeway: node id %d is taken already", node);
    nodes_[node].handler = handler;
}

Bridge::NodeState &Bridge::stateOf(int node) {
    if (node < 0 || node >= nodes() || !nodes_[node].handler) throw cRuntimeError("causeway: no module registered for node %d", node);
    return nodes_[node];
}

// ---- windows --------------------------------------------------------------------------------------------------------

void Bridge::begin() {
    begun_ = true;
    const FaultRows faults(setup().faults());
    faulty_ = faults.size() > 0;
    for (size_t i = 0; i < faults.size(); ++i) {
        stateOf(faults.node[i]);
        (new NodeEvent(faults.node[i], faults.up[i] != 0))->scheduleAt(faults.time_ps[i]);
    }
    broadcasts_ = Broadcasts(setup().workload(), setup().seed());
    scheduleBroadcast();
}

bool Bridge::askMayRun(int64_t next_ps, bool *exchanged) {
    if (!begun_) {
        begin();
        *exchanged = true;
        return true;
    }
    switch (client_->step(next_ps)) {
        case Client::RUN:
            free_until_ps_ = client_->free_until_ps();
            return true;
        case Client::EXCHANGE:
            for (size_t i = 0, rows = client_->exchange(next_ps); i < rows; ++i) apply(client_->action(i));
            *exchanged = true;
            return true;
        default:
            end_reason_ = client_->stopped()   ? "the protocol stopped the run"
                          : next_ps == kNever ? "nothing is left to happen"
                                              : "the duration is over";
            if (!client_->stopped() && next_ps != kNever) end_ps_ = setup().duration_ps();
            return false;
    }
}

void Bridge::finish() {
    if (!client_ || finished_) return;
    // Where the simulation ended by itself (a time limit, say) the last events are still here.
    while (client_->step(kNever) == Client::EXCHANGE) client_->exchange(kNever);
    finished_ = true;
    client_->finish(end_reason_, end_ps_ >= 0 ? end_ps_ : simTime().raw(), getSimulation()->getEventNumber(), measured_);
    vectors_.clear();
}

// ---- actions --------------------------------------------------------------------------------------------------------

void Bridge::apply(const Action &action) {
    switch (action.kind) {
        case Act::SEND:
            stateOf(action.node);
            (new SendEvent(action))->scheduleAt(action.time_ps);
            break;
        case Act::SET_TIMER: {
            stateOf(action.node);
            TimerEvent *timer = new TimerEvent(action.ref, action.node);
            timers_[action.ref] = timer;
            timer->scheduleAt(action.time_ps);
            break;
        }
        case Act::CANCEL_TIMER:
            cancelTimer(action.ref, action.time_ps);
            break;
        case Act::NODE:
            stateOf(action.node);
            faulty_ = true;
            (new NodeEvent(action.node, action.peer != 0))->scheduleAt(action.time_ps);
            break;
        case Act::RECORD:
            record(action);
            break;
        default:
            client_->fail("the controller asked for an action of kind " + std::to_string(action.kind) + ", which nobody knows");
    }
}

// A timer due before the cancellation takes effect still fires.
void Bridge::cancelTimer(int64_t timer, int64_t effect_ps) {
    const auto found = timers_.find(timer);
    if (found == timers_.end() || found->second->getArrivalTime().raw() < effect_ps) return;
    getSimulation()->getFES()->remove(found->second);
    delete found->second;
    timers_.erase(found);
}

void Bridge::record(const Action &action) {
    NodeState &state = stateOf(action.node);
    cContextSwitcher context(state.handler->component());  // whose vector it is
    std::unique_ptr<cOutVector> &vector = vectors_[{action.node, action.peer}];
    if (!vector) {
        const Setup &run = setup();
        const bool named = action.peer >= 0 && action.peer < run.channels_size();
        vector = std::make_unique<cOutVector>(named ? run.channels(action.peer).c_str() : "recorded");
    }
    double value;
    std::memcpy(&value, &action.ref, sizeof value);
    vector->recordWithTimestamp(SimTime::fromRaw(action.time_ps), value);
}

// ---- what is due ----------------------------------------------------------------------------------------------------

void Bridge::scheduleBroadcast() {
    if (broadcasts_.time_ps == kNever) return;
    stateOf(broadcasts_.node);
    (new BroadcastEvent())->scheduleAt(broadcasts_.time_ps);
}

void Bridge::broadcastDue() {
    emit(Kind::BROADCAST, broadcasts_.node, broadcasts_.number, broadcasts_.size_bytes);
    broadcasts_.next();
    scheduleBroadcast();
}

void Bridge::timerDue(TimerEvent *timer) {
    timers_.erase(timer->timer);
    emit(Kind::TIMER, timer->node, timer->timer, 0);
}

void Bridge::sendDue(const Action &action) {
    NodeState &state = nodes_[action.node];
    if (!state.up) return;
    cContextSwitcher context(state.handler->component());
    state.handler->onSend(action);
}

void Bridge::nodeDue(int node, bool up) {
    NodeState &state = nodes_[node];
    if (state.up == up) return;
    state.up = up;
    if (!up) ++state.failures;
    tell(Kind::NODE, node, 0, up);
    cContextSwitcher context(state.handler->component());
    state.handler->onNode(up);
}

}  // namespace causeway
