#include "CausewayScheduler.h"

#include "Bridge.h"

using namespace omnetpp;

namespace causeway {

Register_Class(CausewayScheduler);

// The first event that is not stale, still in the future event set; null if there is none.
cEvent *CausewayScheduler::firstEvent() {
    cFutureEventSet *future = sim->getFES();
    cEvent *event = future->peekFirst();
    while (event != nullptr && event->isStale()) {
        delete future->removeFirst();
        event = future->peekFirst();
    }
    return event;
}

cEvent *CausewayScheduler::takeNextEvent() {
    Bridge &bridge = Bridge::instance();
    while (true) {
        const cEvent *event = firstEvent();
        bool exchanged = false;
        if (!bridge.mayRun(event ? event->getArrivalTime().raw() : kNever, &exchanged)) {
            throw cTerminationException("causeway: %s", bridge.end_reason().c_str());
        }
        if (!exchanged) return sim->getFES()->removeFirst();
    }
}

// Modules have recorded what they measured: now the controller may know that the run is over.
void CausewayScheduler::lifecycleEvent(SimulationLifecycleEventType type, cObject *) {
    if (type == LF_POST_NETWORK_FINISH) Bridge::instance().end();
}

}  // namespace causeway
