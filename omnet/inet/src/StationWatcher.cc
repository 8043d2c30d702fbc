#include "StationWatcher.h"

#include <algorithm>

#include "Adapter.h"
#include "inet/common/InitStages.h"

namespace causeway {

using namespace omnetpp;

Define_Module(StationWatcher);

static Point point(const inet::Coord &at) { return {at.x, at.y, at.z}; }

int StationWatcher::numInitStages() const { return inet::NUM_INIT_STAGES; }

void StationWatcher::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        check_every_ = par("checkEvery");
        position_every_ = par("positionEvery");
        adapter_ = Adapter::find(this);
        timer_ = new cMessage("look");
        timer_->setSchedulingPriority(-1);  // before the traffic of the same instant
        scheduleAt(SIMTIME_ZERO, timer_);
        if (!adapter_) return;
        const Setup &setup = Bridge::instance().setup();
        places_every_ = instant_of(setup.mobile_network().places_every_ps());
        if (places_every_ == SIMTIME_ZERO) return;
        place_timer_ = new cMessage("record places");
        place_timer_->setSchedulingPriority(-1);
        scheduleAt(SIMTIME_ZERO, place_timer_);
    } else if (stage == inet::INITSTAGE_LAST) {
        findNodes();
    }
}

void StationWatcher::findNodes() {
    std::vector<Point> stations;
    for (cModule::SubmoduleIterator it(getParentModule()); !it.end(); ++it) {
        cModule *node = *it;
        if (!node->hasPar("nodeId") || !node->hasPar("isStation")) continue;
        auto mobility = check_and_cast<inet::IMobility *>(node->getSubmodule("mobility"));
        all_.push_back({static_cast<int>(node->par("nodeId").intValue()), mobility});
        if (node->par("isStation").boolValue())
            stations.push_back(point(mobility->getCurrentPosition()));
        else
            walkers_.push_back({static_cast<int>(node->par("nodeId").intValue()), mobility});
        if (!(mobility->getMaxSpeed() == 0)) moving_ = true;  // NaN: unknown
    }
    cells_ = Cells(std::move(stations), par("cellRadius"));
}

void StationWatcher::handleMessage(cMessage *message) {
    if (message == place_timer_) return tellPlaces();
    const bool start = simTime() == SIMTIME_ZERO;
    look(isMultipleOf(check_every_), start || isMultipleOf(position_every_));
    if (position_every_ > SIMTIME_ZERO)
        scheduleAt(std::min(nextMultipleOf(check_every_), nextMultipleOf(position_every_)), timer_);
    else if (moving_)
        scheduleAt(nextMultipleOf(check_every_), timer_);
}

bool StationWatcher::isMultipleOf(simtime_t every) const {
    return every > SIMTIME_ZERO && simTime().raw() % every.raw() == 0;
}

simtime_t StationWatcher::nextMultipleOf(simtime_t every) const {
    return SimTime::fromRaw((simTime().raw() / every.raw() + 1) * every.raw());
}

void StationWatcher::tellPlaces() {
    for (const Walker &one : all_) adapter_->placed(one.node, one.mobility->getCurrentPosition());
    if (moving_) scheduleAfter(places_every_, place_timer_);
}

void StationWatcher::somebodyMoves() {
    Enter_Method("somebodyMoves");
    moving_ = true;
    scheduleNext(timer_, check_every_);
    if (place_timer_) scheduleNext(place_timer_, places_every_);
}

// Schedules a timer for the next multiple of its period, unless it is scheduled.
void StationWatcher::scheduleNext(cMessage *timer, simtime_t every) {
    if (timer->isScheduled()) return;
    scheduleAt(nextMultipleOf(every), timer);
}

void StationWatcher::look(bool check, bool report_all) {
    for (Walker &w : walkers_) {
        // the node sees nothing; a change is reported when it is up again
        if (adapter_ && !adapter_->isUp(w.node)) continue;
        const inet::Coord at = w.mobility->getCurrentPosition();
        const int station = check ? cells_.nearest(point(at)) : w.station;
        const bool changed = station != w.station;
        w.station = station;
        if (adapter_ && (changed || report_all)) adapter_->moved(w.node, station, at);
        if (changed)
            for (auto &call : calls_) call(w.node, station);
    }
}

}  // namespace causeway
