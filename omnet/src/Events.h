// The bridge's own entries in the future event set: lighter than messages, and taken from a free list.
#pragma once

#include "Bridge.h"

namespace causeway {

// Allocation from a free list, per class. Simulations run in one thread.
template <class T>
class Pooled {
  public:
    static void *operator new(size_t size) {
        if (free_ == nullptr) return ::operator new(size);
        Link *link = free_;
        free_ = link->next;
        return link;
    }
    static void operator delete(void *memory) {
        Link *link = static_cast<Link *>(memory);
        link->next = free_;
        free_ = link;
    }

  private:
    struct Link {
        Link *next;
    };
    static inline Link *free_ = nullptr;
};

// An event that runs code at an instant. It deletes itself unless it says otherwise.
class Event : public omnetpp::cEvent {
  public:
    explicit Event(short priority) : omnetpp::cEvent(static_cast<const char *>(nullptr)) { setSchedulingPriority(priority); }
    omnetpp::cEvent *dup() const override { throw omnetpp::cRuntimeError("causeway: events of the bridge are not copied"); }
    omnetpp::cObject *getTargetObject() const override { return nullptr; }

    void scheduleAt(int64_t time_ps) {
        setArrivalTime(omnetpp::SimTime::fromRaw(time_ps));
        omnetpp::getSimulation()->insertEvent(this);
    }
};

class TimerEvent : public Event, public Pooled<TimerEvent> {
  public:
    using Pooled<TimerEvent>::operator new;
    using Pooled<TimerEvent>::operator delete;
    const int64_t timer;
    const int node;
    TimerEvent(int64_t timer, int node) : Event(0), timer(timer), node(node) {}
    void execute() override {
        Bridge::instance().timerDue(this);
        delete this;
    }
};

class SendEvent : public Event, public Pooled<SendEvent> {
  public:
    using Pooled<SendEvent>::operator new;
    using Pooled<SendEvent>::operator delete;
    const Action action;
    explicit SendEvent(const Action &action) : Event(kSendPriority), action(action) {}
    void execute() override {
        Bridge::instance().sendDue(action);
        delete this;
    }
};

class NodeEvent : public Event {
  public:
    const int node;
    const bool up;
    NodeEvent(int node, bool up) : Event(kNodePriority), node(node), up(up) {}
    void execute() override {
        Bridge::instance().nodeDue(node, up);
        delete this;
    }
};

class BroadcastEvent : public Event, public Pooled<BroadcastEvent> {
  public:
    using Pooled<BroadcastEvent>::operator new;
    using Pooled<BroadcastEvent>::operator delete;
    BroadcastEvent() : Event(0) {}
    void execute() override {
        Bridge::instance().broadcastDue();
        delete this;
    }
};

}  // namespace causeway
