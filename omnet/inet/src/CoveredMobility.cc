#include "CoveredMobility.h"

#include "bridge/cpp/random.h"
#include "Geometry.h"
#include "inet/common/ModuleAccess.h"

namespace causeway {

using namespace omnetpp;
using inet::Coord;

Define_Module(CoveredMobility);

// Draws until a place or a leg is allowed; an area so thin that this many draws fail is an error of the configuration.
static const int kMostDraws = 100000;

// The ns-3 edge draws from the same stream in the same order: the same seed, the same walks.
double CoveredMobility::randomUnit() { return unit(draw(seed_, RandomStream::PLACE, node_, draws_++)); }

void CoveredMobility::initialize(int stage) {
    LineSegmentsMobilityBase::initialize(stage);
    if (stage == inet::INITSTAGE_LOCAL) {
        cell_radius_ = par("cellRadius");
        speed_ = par("speed");
        max_leg_ = par("maxLeg");
        covered_only_ = par("coveredOnly");
        stationary = speed_ == 0;
        seed_ = par("seed");
        node_ = inet::getContainingNode(this)->par("nodeId");
        findArea();
    }
}

// The stations' own mobility modules may not be initialized yet: their NED parameters say where they stand.
void CoveredMobility::findArea() {
    cModule *network = inet::getContainingNode(this)->getParentModule();
    const char *name = par("stations");
    for (int i = 0, n = network->getSubmoduleVectorSize(name); i < n; ++i) {
        cModule *mobility = network->getSubmodule(name, i)->getSubmodule("mobility");
        stations_.emplace_back(mobility->par("initialX").doubleValue(), mobility->par("initialY").doubleValue());
    }
    if (stations_.empty()) throw cRuntimeError("no stations named '%s' in %s", name, network->getFullPath().c_str());
    const double room = cell_radius_ + (covered_only_ ? 0.0 : par("margin").doubleValue());
    low_ = high_ = stations_[0];
    for (const Coord &s : stations_) {
        low_ = low_.min(s);
        high_ = high_.max(s);
    }
    low_ -= Coord(room, room, 0);
    high_ += Coord(room, room, 0);
}

bool CoveredMobility::allowed(const Coord &from, const Coord &to) const {
    if (covered_only_) return segment_covered(stations_, cell_radius_, from, to);
    return low_.x <= to.x && to.x <= high_.x && low_.y <= to.y && to.y <= high_.y;
}

void CoveredMobility::setInitialPosition() {
    auto start = check_and_cast<cValueArray *>(par("start").objectValue());
    if (start->size() == 2) {
        lastPosition = Coord(start->get(0).doubleValue(), start->get(1).doubleValue(), 0);
        return;
    }
    for (int i = 0; i < kMostDraws; ++i) {
        const double u = randomUnit(), v = randomUnit();
        lastPosition = Coord(low_.x + u * (high_.x - low_.x), low_.y + v * (high_.y - low_.y), 0);
        if (allowed(lastPosition, lastPosition)) return;
    }
    throw cRuntimeError("no place inside the cells found");
}

void CoveredMobility::setTargetPosition() {
    for (int i = 0; i < kMostDraws; ++i) {
        const double angle = 2 * M_PI * randomUnit(), length = max_leg_ * randomUnit();
        const Coord target = lastPosition + Coord(cos(angle), sin(angle), 0) * length;
        if (length > 0 && allowed(lastPosition, target)) return walkTo(target);
    }
    throw cRuntimeError("no way inside the cells found from (%g, %g)", lastPosition.x, lastPosition.y);
}

void CoveredMobility::walkTo(const Coord &target) {
    targetPosition = target;
    nextChange = simTime() + std::max(lastPosition.distance(target) / speed_, 1e-6);
}

void CoveredMobility::move() {
    if (!standing_) LineSegmentsMobilityBase::move();
}

void CoveredMobility::setUp(bool up) {
    Enter_Method("setUp");
    if (stationary || standing_ == !up || !par("standWhenDown")) return;
    moveAndUpdate();
    standing_ = !up;
    if (standing_) {
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
