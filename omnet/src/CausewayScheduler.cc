#include "CausewayScheduler.h"

#include "Bridge.h"

using namespace omnetpp;

namespace causeway {

Register_Class(CausewayScheduler);

// Returns the first event of the future event set that is not stale; null if there is none.
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
        if (!bridge.mayRun(event ? ps_of(event->getArrivalTime()) : kNever, &exchanged)) {
            // modules average over time up to the end of the run, as with OMNeT++'s own time limit
            if (bridge.end_ps() > now_ps()) sim->setSimTime(instant_of(bridge.end_ps()));
            throw cTerminationException("causeway: %s", bridge.end_reason().c_str());
        }
        if (!exchanged) return sim->getFES()->removeFirst();
    }
}

void CausewayScheduler::lifecycleEvent(SimulationLifecycleEventType type, cObject *) {
    if (type == LF_PRE_NETWORK_INITIALIZE) {
        Bridge::callBeforeInitialize();
        Bridge::instance().watchLines();
    }
    // modules have recorded their measurements: now the run is over
    if (type == LF_POST_NETWORK_FINISH) Bridge::instance().end();
    if (type == LF_POST_NETWORK_DELETE) Bridge::forget();
}

}  // namespace causeway
