#include "CoveredMobility.h"

#include "bridge/cpp/random.h"
#include "geometry.h"
#include "inet/common/ModuleAccess.h"

namespace causeway {

using namespace omnetpp;
using inet::Coord;

Define_Module(CoveredMobility);

// Draws until a place or a leg is allowed; an area so thin that this many draws fail is an error of the configuration.
static const int kMostDraws = 100000;

// The ns-3 edge draws from the same stream in the same order: the same seed, the same walks.
double CoveredMobility::randomUnit() { return unit(draw(seed, RandomStream::PLACE, node, draws++)); }

void CoveredMobility::initialize(int stage) {
    LineSegmentsMobilityBase::initialize(stage);
    if (stage == inet::INITSTAGE_LOCAL) {
        cellRadius = par("cellRadius");
        speed = par("speed");
        maxLeg = par("maxLeg");
        coveredOnly = par("coveredOnly");
        stationary = speed == 0;
        seed = par("seed");
        node = inet::getContainingNode(this)->par("nodeId");
        findArea();
    }
}

// The stations' own mobility modules may not be initialized yet: their NED parameters say where they stand.
void CoveredMobility::findArea() {
    cModule *network = inet::getContainingNode(this)->getParentModule();
    const char *name = par("stations");
    for (int i = 0, n = network->getSubmoduleVectorSize(name); i < n; ++i) {
        cModule *mobility = network->getSubmodule(name, i)->getSubmodule("mobility");
        stations.emplace_back(mobility->par("initialX").doubleValue(), mobility->par("initialY").doubleValue());
    }
    if (stations.empty()) throw cRuntimeError("no stations named '%s' in %s", name, network->getFullPath().c_str());
    const double room = cellRadius + (coveredOnly ? 0.0 : par("margin").doubleValue());
    low = high = stations[0];
    for (const Coord &s : stations) {
        low = low.min(s);
        high = high.max(s);
    }
    low -= Coord(room, room, 0);
    high += Coord(room, room, 0);
}

bool CoveredMobility::allowed(const Coord &from, const Coord &to) const {
    if (coveredOnly) return segment_covered(stations, cellRadius, from, to);
    return low.x <= to.x && to.x <= high.x && low.y <= to.y && to.y <= high.y;
}

void CoveredMobility::setInitialPosition() {
    auto start = check_and_cast<cValueArray *>(par("start").objectValue());
    if (start->size() == 2) {
        lastPosition = Coord(start->get(0).doubleValue(), start->get(1).doubleValue(), 0);
        return;
    }
    for (int i = 0; i < kMostDraws; ++i) {
        const double u = randomUnit(), v = randomUnit();
        lastPosition = Coord(low.x + u * (high.x - low.x), low.y + v * (high.y - low.y), 0);
        if (allowed(lastPosition, lastPosition)) return;
    }
    throw cRuntimeError("no place inside the cells found");
}

void CoveredMobility::setTargetPosition() {
    for (int i = 0; i < kMostDraws; ++i) {
        const double angle = 2 * M_PI * randomUnit(), length = maxLeg * randomUnit();
        const Coord target = lastPosition + Coord(cos(angle), sin(angle), 0) * length;
        if (length > 0 && allowed(lastPosition, target)) return walkTo(target);
    }
    throw cRuntimeError("no way inside the cells found from (%g, %g)", lastPosition.x, lastPosition.y);
}

void CoveredMobility::walkTo(const Coord &target) {
    targetPosition = target;
    nextChange = simTime() + std::max(lastPosition.distance(target) / speed, 1e-6);
}

void CoveredMobility::move() {
    if (!standing) LineSegmentsMobilityBase::move();
}

void CoveredMobility::setUp(bool up) {
    Enter_Method("setUp");
    if (stationary || standing == !up || !par("standWhenDown")) return;
    moveAndUpdate();
    standing = !up;
    if (standing) {
        lastVelocity = Coord::ZERO;
        nextChange = -1;
    } else {
        walkTo(targetPosition);
        lastVelocity = (targetPosition - lastPosition) / (nextChange - simTime()).dbl();
    }
    lastUpdate = simTime();
    scheduleUpdate();
}

}  // namespace causeway
