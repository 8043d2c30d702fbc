#include "Process.h"

#include <algorithm>

using namespace omnetpp;

namespace causeway {

Define_Module(Process);

namespace {

// Calls a member function of a process at an instant.
class Call : public Event, public Pooled<Call> {
  public:
    using Pooled<Call>::operator new;
    using Pooled<Call>::operator delete;
    Call(short priority, Process *process, void (Process::*method)())
        : Event(priority), process_(process), method_(method) {}
    void execute() override {
        (process_->*method_)();
        delete this;
    }

  private:
    Process *process_;
    void (Process::*method_)();
};

// A packet leaves its sender, unless the sender has failed meanwhile.
class Leave : public Event, public Pooled<Leave> {
  public:
    using Pooled<Leave>::operator new;
    using Pooled<Leave>::operator delete;
    Leave(Process *process, const Action &action, int64_t failures)
        : Event(kLeavePriority), process_(process), action_(action), failures_(failures) {}
    void execute() override {
        process_->leave(action_, failures_);
        delete this;
    }

  private:
    Process *process_;
    Action action_;
    int64_t failures_;
};

// Returns whether no other event is left at this instant.
bool instant_is_over() {
    const cEvent *next = getSimulation()->getFES()->peekFirst();
    return next == nullptr || next->getArrivalTime() > simTime();
}

}  // namespace

void Process::initialize() {
    node_ = par("nodeId");
    medium_ = check_and_cast<Medium *>(getModuleByPath(par("mediumModule")));
    medium_->add(node_, this);
    Bridge::instance().registerNode(node_, this);
}

// ---- sending --------------------------------------------------------------------------------------------------------

void Process::onSend(const Action &action) {
    if (!medium_->sendingTakesTime() || instant_is_over()) {
        serve(action);
        return;
    }
    if (to_send_.empty()) (new Call(kServePriority, this, &Process::serveWaiting))->scheduleAt(now_ps());
    to_send_.push_back(action);
}

void Process::serveWaiting() {
    std::sort(to_send_.begin(), to_send_.end(), [](const Action &a, const Action &b) { return a.ref < b.ref; });
    for (const Action &action : to_send_) serve(action);
    to_send_.clear();
}

void Process::serve(const Action &action) {
    const int64_t leave_ps = std::max(now_ps(), send_free_ps_) + medium_->sendPs(action.size_bytes);
    send_free_ps_ = leave_ps;
    if (Bridge::instance().faulty() || medium_->hasQueues()) {
        (new Leave(this, action, Bridge::instance().failures(node_)))->scheduleAt(leave_ps);
    } else {
        medium_->transmit(action, leave_ps);
    }
}

void Process::leave(const Action &action, int64_t failures_before) {
    if (Bridge::instance().failures(node_) == failures_before) medium_->leave(action);
}

// ---- receiving ------------------------------------------------------------------------------------------------------

void Process::reach(int64_t packet, uint8_t interface) {
    if (to_take_in_.empty() && instant_is_over()) {
        takeIn({packet, interface});
        return;
    }
    if (to_take_in_.empty()) (new Call(kTakePriority, this, &Process::takeWaiting))->scheduleAt(now_ps());
    to_take_in_.push_back({packet, interface});
}

void Process::takeWaiting() {
    std::sort(to_take_in_.begin(), to_take_in_.end(),
              [](const Incoming &a, const Incoming &b) { return a.packet < b.packet; });
    for (const Incoming &copy : to_take_in_) takeIn(copy);
    to_take_in_.clear();
}

void Process::takeIn(const Incoming &copy) {
    const int64_t done_ps = std::max(now_ps(), recv_free_ps_) + medium_->receivePs();
    recv_free_ps_ = done_ps;
    (new Copy(this, copy.packet, copy.interface, Copy::ARRIVES))->scheduleAt(done_ps);
}

}  // namespace causeway
