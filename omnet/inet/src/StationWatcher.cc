#include "StationWatcher.h"

#include "Edge.h"
#include "geometry.h"
#include "inet/common/InitStages.h"

namespace causeway {

using namespace omnetpp;

Define_Module(StationWatcher);

int StationWatcher::numInitStages() const { return inet::NUM_INIT_STAGES; }

void StationWatcher::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        cellRadius = par("cellRadius");
        checkEvery = par("checkEvery");
        positionEvery = par("positionEvery");
        edge = Edge::find(this);
        timer = new cMessage("look");
        timer->setSchedulingPriority(-1);  // before the traffic of the same instant
        scheduleAt(SIMTIME_ZERO, timer);
    } else if (stage == inet::INITSTAGE_LAST) {
        findNodes();
    }
}

void StationWatcher::findNodes() {
    for (cModule::SubmoduleIterator it(getParentModule()); !it.end(); ++it) {
        cModule *node = *it;
        if (!node->hasPar("nodeId") || !node->hasPar("isStation")) continue;
        auto mobility = check_and_cast<inet::IMobility *>(node->getSubmodule("mobility"));
        if (node->par("isStation").boolValue())
            stations.push_back(mobility->getCurrentPosition());
        else
            walkers.push_back({static_cast<int>(node->par("nodeId").intValue()), mobility});
        if (!(mobility->getMaxSpeed() == 0)) moving = true;  // NaN: unknown
    }
}

void StationWatcher::handleMessage(cMessage *) {
    const bool start = simTime() == SIMTIME_ZERO;
    look(start || (positionEvery > SIMTIME_ZERO && simTime().raw() % positionEvery.raw() == 0));
    if (moving || positionEvery > SIMTIME_ZERO) scheduleAfter(checkEvery, timer);
}

void StationWatcher::look(bool tellAll) {
    for (Walker &w : walkers) {
        if (edge && !edge->isUp(w.node)) continue;  // it sees nothing; what changed meanwhile is told when it is back
        const inet::Coord at = w.mobility->getCurrentPosition();
        const int station = nearest_station(stations, cellRadius, at);
        const bool changed = station != w.station;
        w.station = station;
        if (edge && (changed || tellAll)) edge->moved(w.node, station, at);
        if (changed)
            for (auto &tell : tellees) tell(w.node, station);
    }
}

}  // namespace causeway
