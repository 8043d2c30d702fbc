// The bridge's own events in the future event set. They are lighter than messages, and allocated from a free list.
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

// An event that runs code at an instant. `execute` deletes it.
class Event : public omnetpp::cEvent {
  public:
    explicit Event(short priority) : omnetpp::cEvent(static_cast<const char *>(nullptr)) {
        setSchedulingPriority(priority);
    }
    omnetpp::cEvent *dup() const override {
        throw omnetpp::cRuntimeError("causeway: events of the bridge are not copied");
    }
    omnetpp::cObject *getTargetObject() const override { return nullptr; }

    void scheduleAt(int64_t time_ps) {
        setArrivalTime(instant_of(time_ps));
        omnetpp::getSimulation()->insertEvent(this);
    }
};

// A scheduled action, timer, broadcast or failure.
class DueEvent : public Event, public Pooled<DueEvent> {
  public:
    using Pooled<DueEvent>::operator new;
    using Pooled<DueEvent>::operator delete;
    explicit DueEvent(const AdapterBase::Due &due) : Event(priorityOf(due.what)), due_(due) {}
    void execute() override {
        Bridge::instance().happen(due_);
        delete this;
    }

  private:
    const AdapterBase::Due due_;

    static short priorityOf(AdapterBase::Due::What what) {
        switch (what) {
            case AdapterBase::Due::FAILURE:
            case AdapterBase::Due::SWITCH:
                return kNodePriority;
            case AdapterBase::Due::SEND:
                return kSendPriority;
            default:
                return 0;
        }
    }
};

}  // namespace causeway
