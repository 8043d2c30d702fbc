// An ns-3 simulator that is run event by event.
//
// ns-3's own simulator runs until it is stopped, and a stop is an event like others: events that are already scheduled
// for the same instant still happen. A window must end before its horizon exactly, so the adapter checks the time of
// the next event before it runs it.
#pragma once

#include <cstdint>
#include <list>
#include <queue>
#include <vector>

#include "ns3/event-id.h"
#include "ns3/scheduler.h"
#include "ns3/simulator-impl.h"

namespace causeway {

class SteppedSimulator : public ns3::SimulatorImpl {
  public:
    static constexpr int64_t NEVER = INT64_MAX;

    static ns3::TypeId GetTypeId();
    /// Makes this object the simulator of the program, with picoseconds as the unit of time. Call it before any other
    /// function of ns-3.
    static ns3::Ptr<SteppedSimulator> install();

    int64_t now_ps() const { return now_ps_; }
    int64_t next_ps();              // the time of the next event, or NEVER
    void step();                    // runs the next event
    void advance(int64_t time_ps);  // moves the clock; no event may be due before `time_ps`

    void Destroy() override;
    bool IsFinished() const override { return queue_.empty(); }
    void Stop() override;
    ns3::EventId Stop(const ns3::Time &delay) override;
    ns3::EventId Schedule(const ns3::Time &delay, ns3::EventImpl *event) override;
    void ScheduleWithContext(uint32_t context, const ns3::Time &delay, ns3::EventImpl *event) override;
    ns3::EventId ScheduleNow(ns3::EventImpl *event) override;
    ns3::EventId ScheduleDestroy(ns3::EventImpl *event) override;
    void Remove(const ns3::EventId &id) override { Cancel(id); }
    void Cancel(const ns3::EventId &id) override;
    bool IsExpired(const ns3::EventId &id) const override;
    void Run() override;
    ns3::Time Now() const override;
    ns3::Time GetDelayLeft(const ns3::EventId &id) const override;
    ns3::Time GetMaximumSimulationTime() const override;
    void SetScheduler(ns3::ObjectFactory) override {}
    uint32_t GetSystemId() const override { return 0; }
    uint32_t GetContext() const override { return context_; }
    uint64_t GetEventCount() const override { return executed_; }

  protected:
    void DoDispose() override;

  private:
    using Event = ns3::Scheduler::Event;
    ns3::EventId insert(uint32_t context, const ns3::Time &delay, ns3::EventImpl *event);
    void drop_cancelled();

    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> queue_;
    std::list<ns3::EventId> at_destroy_;
    int64_t now_ps_ = 0;
    uint32_t next_uid_ = ns3::EventId::UID::VALID;
    uint32_t current_uid_ = ns3::EventId::UID::INVALID;
    uint32_t context_ = 0xffffffff;
    uint64_t executed_ = 0;
};

}  // namespace causeway
