#include "simulator.h"

#include <stdexcept>

#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace causeway {

using namespace ns3;

TypeId SteppedSimulator::GetTypeId() {
    static TypeId id =
        TypeId("causeway::SteppedSimulator").SetParent<SimulatorImpl>().AddConstructor<SteppedSimulator>();
    return id;
}

Ptr<SteppedSimulator> SteppedSimulator::install() {
    Time::SetResolution(Time::PS);
    auto simulator = CreateObject<SteppedSimulator>();
    Simulator::SetImplementation(simulator);
    return simulator;
}

int64_t SteppedSimulator::next_ps() {
    drop_cancelled();
    return queue_.empty() ? NEVER : static_cast<int64_t>(queue_.top().key.m_ts);
}

void SteppedSimulator::step() {
    drop_cancelled();
    const Event next = queue_.top();
    queue_.pop();
    now_ps_ = static_cast<int64_t>(next.key.m_ts);
    context_ = next.key.m_context;
    current_uid_ = next.key.m_uid;
    ++executed_;
    next.impl->Invoke();
    next.impl->Unref();
}

void SteppedSimulator::advance(int64_t time_ps) {
    if (time_ps < now_ps_ || next_ps() < time_ps)
        throw std::logic_error("the simulator's clock may not jump over an event");
    if (time_ps > now_ps_) current_uid_ = EventId::UID::INVALID;  // no event of this instant has run yet
    now_ps_ = time_ps;
    context_ = 0xffffffff;
}

// Removes cancelled events from the head of the queue, so that `next_ps` does not return their time.
void SteppedSimulator::drop_cancelled() {
    while (!queue_.empty() && queue_.top().impl->IsCancelled()) {
        queue_.top().impl->Unref();
        queue_.pop();
    }
}

EventId SteppedSimulator::insert(uint32_t context, const Time &delay, EventImpl *event) {
    if (delay.IsStrictlyNegative()) throw std::logic_error("an event was scheduled in the past");
    if (next_uid_ == UINT32_MAX)
        throw std::runtime_error("ns-3 allows at most 4 billion events in a run; make the run shorter");
    const Event entry{event, {static_cast<uint64_t>(now_ps_ + delay.GetTimeStep()), next_uid_++, context}};
    queue_.push(entry);
    return EventId(event, entry.key.m_ts, context, entry.key.m_uid);
}

EventId SteppedSimulator::Schedule(const Time &delay, EventImpl *event) { return insert(context_, delay, event); }

void SteppedSimulator::ScheduleWithContext(uint32_t context, const Time &delay, EventImpl *event) {
    insert(context, delay, event);
}

EventId SteppedSimulator::ScheduleNow(EventImpl *event) { return insert(context_, Time(0), event); }

EventId SteppedSimulator::ScheduleDestroy(EventImpl *event) {
    EventId id(Ptr<EventImpl>(event, false), static_cast<uint64_t>(now_ps_), 0xffffffff, EventId::UID::DESTROY);
    at_destroy_.push_back(id);
    return id;
}

void SteppedSimulator::Cancel(const EventId &id) {
    if (!IsExpired(id)) id.PeekEventImpl()->Cancel();
}

bool SteppedSimulator::IsExpired(const EventId &id) const {
    const auto *event = id.PeekEventImpl();
    if (event == nullptr || const_cast<EventImpl *>(event)->IsCancelled()) return true;
    if (id.GetUid() == EventId::UID::DESTROY) return false;
    const auto due_ps = static_cast<int64_t>(id.GetTs());
    return due_ps < now_ps_ || (due_ps == now_ps_ && id.GetUid() <= current_uid_);
}

void SteppedSimulator::Run() {
    while (next_ps() != NEVER) step();
}

void SteppedSimulator::Stop() { throw std::logic_error("this simulator is stopped from outside"); }

EventId SteppedSimulator::Stop(const Time &) {
    Stop();
    return {};
}

Time SteppedSimulator::Now() const { return TimeStep(static_cast<uint64_t>(now_ps_)); }

Time SteppedSimulator::GetDelayLeft(const EventId &id) const {
    return IsExpired(id) ? Time(0) : TimeStep(id.GetTs() - static_cast<uint64_t>(now_ps_));
}

Time SteppedSimulator::GetMaximumSimulationTime() const { return TimeStep(INT64_MAX); }

void SteppedSimulator::Destroy() {
    while (!at_destroy_.empty()) {
        auto event = at_destroy_.front();
        at_destroy_.pop_front();
        if (!event.PeekEventImpl()->IsCancelled()) event.PeekEventImpl()->Invoke();
    }
}

void SteppedSimulator::DoDispose() {
    while (!queue_.empty()) {
        queue_.top().impl->Unref();
        queue_.pop();
    }
    SimulatorImpl::DoDispose();
}

}  // namespace causeway
