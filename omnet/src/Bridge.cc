#include "Bridge.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "Events.h"

using namespace omnetpp;

namespace causeway {

static std::unique_ptr<Bridge> current;

Bridge &Bridge::instance() {
    if (!current) current = std::make_unique<Bridge>();
    return *current;
}

void Bridge::forget() { current.reset(); }

static std::vector<std::function<void()>> &calls() {
    static std::vector<std::function<void()>> registered;
    return registered;
}

void Bridge::beforeInitialize(std::function<void()> call) { calls().push_back(std::move(call)); }

void Bridge::callBeforeInitialize() {
    for (const auto &call : calls()) call();
}

void Bridge::watchLines() {
    if (!std::getenv("CAUSEWAY_UNUSED_LINES")) return;
    lines_ = std::make_unique<UnusedLines>();
    lines_->begin(getSimulation()->getSystemModule());
}

bool Bridge::configured() {
    const char *endpoint = std::getenv("CAUSEWAY_ENDPOINT");
    return endpoint != nullptr && *endpoint != '\0';
}

const Setup &Bridge::setup() {
    if (finished_) throw cRuntimeError("causeway: a process can do one run only; start another process for every run");
    if (!connected()) {
        if (getEnvir()->isGUI())
            Channel::instead_of_exit([](const std::string &why) { throw cRuntimeError("causeway: %s", why.c_str()); });
        const char *version = std::getenv("CAUSEWAY_ENGINE_VERSION");
        const std::string known =
            version ? version
                    : "OMNeT++ " + std::to_string(OMNETPP_VERSION >> 8) + "." + std::to_string(OMNETPP_VERSION & 0xff);
        const std::string unit = unit_of_time();
        hello("omnet", unit == "ps" ? known : known + ", simtime-resolution " + unit);
        instant_of(AdapterBase::setup().duration_ps());  // refuses a run that is too long for the resolution
    }
    return AdapterBase::setup();
}

void Bridge::registerNode(int node, NodeHandler *handler) {
    setup();
    if (node < 0 || node >= Constant::MOST_NODES)
        throw cRuntimeError("causeway: node id %d is not allowed; ids are 0 to %d", node, Constant::MOST_NODES - 1);
    if (node >= static_cast<int>(handlers_.size())) {
        handlers_.resize(node + 1);
        has_nodes(node + 1);
    }
    if (handlers_[node]) throw cRuntimeError("causeway: node id %d is taken already", node);
    handlers_[node] = handler;
}

bool Bridge::askMayRun(int64_t next_ps, bool *exchanged) {
    if (!begun_) {
        begun_ = true;
        setup();
        begin();
        *exchanged = true;
        return true;
    }
    const Client::Step next = step(next_ps, now_ps());
    *exchanged = next == Client::EXCHANGE;
    return next != Client::END;
}

int64_t Bridge::reportedPs() {
    if (reported_ps_ < 0 || simTime() > reported_at_) {
        reported_ps_ = std::max(now_ps(), reported_ps_ + 1);
        reported_at_ = simTime();
    }
    return reported_ps_;
}

void Bridge::end() {
    if (!connected() || finished_) return;
    finished_ = true;
    measureFingerprint();
    if (lines_)
        for (const std::string &key : lines_->end()) measure(key, "unused", 0);
    finish(std::max(now_ps(), reported_ps_), getSimulation()->getEventNumber(), measured_);
    vectors_.clear();
}

// Measures the fingerprint, if OMNeT++ computes one: 32 bits, in hexadecimal, as in "ab12-cd34/~tNl".
void Bridge::measureFingerprint() {
    const cFingerprintCalculator *calculator = getSimulation()->getFingerprintCalculator();
    if (!calculator) return;
    std::string digits = calculator->str().substr(0, calculator->str().find('/'));
    digits.erase(std::remove(digits.begin(), digits.end(), '-'), digits.end());
    measure("network", "fingerprint", static_cast<double>(std::stoull(digits, nullptr, 16)));
}

// Logs an exchange if the simulation has a log: in a graphical environment, or in Cmdenv with every event printed.
void Bridge::exchanged(const Window &window, size_t actions) {
    if (getEnvir()->isExpressMode()) return;
    cContextSwitcher context(getSimulation()->getSystemModule());  // the log is the network's
    EV << "causeway: window " << window.number() << " up to " << instant_of(window.end_ps())
       << " s: " << window.kind().size() << " events sent, " << actions << " actions received\n";
}

// ---- AdapterBase's interface
// -------------------------------------------------------------------------------------------

NodeHandler *Bridge::handlerOf(int node) {
    if (!handlers_[node]) fail("no module registered for node " + std::to_string(node));
    return handlers_[node];
}

void *Bridge::schedule(const Due &due) {
    handlerOf(due.action.node);
    auto event = new DueEvent(due);
    const int64_t end_ps =
        AdapterBase::setup().duration_ps();  // later events never happen, and may exceed the largest time
    event->scheduleAt(end_ps > 0 ? std::min(due.time_ps(), end_ps) : due.time_ps());
    return event;
}

void Bridge::unschedule(void *scheduled) {
    auto event = static_cast<DueEvent *>(scheduled);
    getSimulation()->getFES()->remove(event);
    delete event;
}

void Bridge::send(const Action &action) {
    NodeHandler *handler = handlers_[action.node];
    cContextSwitcher context(handler->component());
    handler->onSend(action);
}

void Bridge::connection(const Action &action) {
    NodeHandler *handler = handlers_[action.node];
    cContextSwitcher context(handler->component());
    handler->onConnection(action);
}

void Bridge::move(const Action &action) {
    NodeHandler *handler = handlers_[action.node];
    cContextSwitcher context(handler->component());
    handler->onMove(action);
}

void Bridge::switched(int32_t node, bool up) {
    cContextSwitcher context(handlers_[node]->component());
    handlers_[node]->onNode(up);
}

void Bridge::record(const Action &action) {
    cContextSwitcher context(handlerOf(action.node)->component());  // the owner of the vector
    std::unique_ptr<cOutVector> &vector = vectors_[{action.node, action.peer}];
    if (!vector) {
        const Setup &run = setup();
        const bool named = action.peer >= 0 && action.peer < run.channels_size();
        vector = std::make_unique<cOutVector>(named ? run.channels(action.peer).c_str() : "recorded");
    }
    double value;
    std::memcpy(&value, &action.ref, sizeof value);
    vector->recordWithTimestamp(instant_of(action.time_ps), value);
}

}  // namespace causeway
