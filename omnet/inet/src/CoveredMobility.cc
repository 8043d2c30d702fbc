#include "CoveredMobility.h"

#include "LocalRadioMedium.h"
#include "StationWatcher.h"
#include "bridge/cpp/random.h"
#include "inet/common/ModuleAccess.h"
#include "omnet/src/Bridge.h"

namespace causeway {

using namespace omnetpp;
using inet::Coord;

Define_Module(CoveredMobility);

// The maximum number of draws for an allowed position or leg. If this many fail, the area is too thin, which is an
// error of the configuration.
static const int kMostDraws = 100000;

static Coord coord(const Path::Place &place) { return Coord(place.x_m, place.y_m, place.z_m); }

// The ns-3 adapter draws from the same stream in the same order, so that the same seed gives the same walks.
double CoveredMobility::randomUnit() { return unit(draw(seed_, RandomStream::PLACE, node_, draws_++)); }

void CoveredMobility::initialize(int stage) {
    LineSegmentsMobilityBase::initialize(stage);
    if (stage == inet::INITSTAGE_LOCAL) {
        speed_ = par("speed");
        max_leg_ = par("maxLeg");
        covered_only_ = par("coveredOnly");
        seed_ = par("seed");
        node_ = inet::getContainingNode(this)->par("nodeId");
        findDescribed();
        stationary = path_.empty() && speed_ == 0;
        findArea();
    }
}

// Reads this host's own settings from the description of the run.
void CoveredMobility::findDescribed() {
    if (!Bridge::configured() || !Bridge::instance().setup().has_mobile_network()) return;
    const MobileNetwork &network = Bridge::instance().setup().mobile_network();
    const size_t stations = network.station_x_mm().size() / sizeof(int32_t);
    const auto host = static_cast<int32_t>(node_ - static_cast<int64_t>(stations));
    if (!network.host_speed_mm_s().empty()) speed_ = at<int32_t>(network.host_speed_mm_s(), host) / 1000.0;
    path_ = path_of(network, host);
    const auto area_mm = numbers<int32_t>(network.area_mm());
    has_area_ = !area_mm.empty();
    if (!has_area_) return;
    low_ = Coord(area_mm[0] / 1000.0, area_mm[1] / 1000.0, 0);
    high_ = Coord(area_mm[2] / 1000.0, area_mm[3] / 1000.0, 0);
}

// Reads the stations' positions from NED parameters, since their mobility modules may not be initialized yet.
void CoveredMobility::findArea() {
    cModule *network = inet::getContainingNode(this)->getParentModule();
    const char *name = par("stations");
    std::vector<Point> stations;
    for (int i = 0, n = network->getSubmoduleVectorSize(name); i < n; ++i) {
        cModule *mobility = network->getSubmodule(name, i)->getSubmodule("mobility");
        const auto initial = [mobility](const char *axis) { return mobility->par(axis).doubleValue(); };
        stations.push_back({initial("initialX"), initial("initialY"), initial("initialZ")});
    }
    if (stations.empty()) covered_only_ = false;
    if (has_area_ && !covered_only_) return;
    if (stations.empty() && stationary) return;  // it stays at its start
    if (stations.empty() && !path_.empty()) return;
    if (stations.empty()) throw cRuntimeError("no stations named '%s' in %s", name, network->getFullPath().c_str());
    cells_ = Cells(std::move(stations), par("cellRadius"));
    const auto [low, high] = cells_.box(covered_only_ ? 0.0 : par("margin").doubleValue());
    low_ = Coord(low.x, low.y, 0);
    high_ = Coord(high.x, high.y, 0);
}

bool CoveredMobility::allowed(const Coord &from, const Coord &to) const {
    if (covered_only_) return cells_.cover({{from.x, from.y, from.z}, {to.x, to.y, to.z}});
    return low_.x <= to.x && to.x <= high_.x && low_.y <= to.y && to.y <= high_.y;
}

void CoveredMobility::setInitialPosition() {
    if (!path_.empty()) return follow();
    auto start = check_and_cast<cValueArray *>(par("start").objectValue());
    if (start->size() >= 2) {
        const double height = start->size() > 2 ? start->get(2).doubleValue() : 0;
        lastPosition = Coord(start->get(0).doubleValue(), start->get(1).doubleValue(), height);
        return;
    }
    for (int i = 0; i < kMostDraws; ++i) {
        const double u = randomUnit(), v = randomUnit();
        lastPosition = Coord(low_.x + u * (high_.x - low_.x), low_.y + v * (high_.y - low_.y), 0);
        if (allowed(lastPosition, lastPosition)) return;
    }
    throw cRuntimeError("no position inside the cells found; make the cells or the area larger");
}

void CoveredMobility::setTargetPosition() {
    if (!path_.empty()) {
        follow();
        targetPosition = nextChange == -1 ? lastPosition : coord(path_.target(now_ps()));
        return;
    }
    for (int i = 0; i < kMostDraws; ++i) {
        const double angle = 2 * M_PI * randomUnit(), length = max_leg_ * randomUnit();
        const Coord target = lastPosition + Coord(cos(angle), sin(angle), 0) * length;
        if (length > 0 && allowed(lastPosition, target)) return walkTo(target);
    }
    throw cRuntimeError("no way inside the cells found from (%g, %g); make the cells or the area larger",
                        lastPosition.x, lastPosition.y);
}

void CoveredMobility::walkTo(const Coord &target) {
    targetPosition = target;
    nextChange = simTime() + std::max(lastPosition.distance(target) / speed_, 1e-6);
}

// Sets the position, the velocity and the time of the next change from the path.
void CoveredMobility::follow() {
    const int64_t now = now_ps(), until_ps = path_.until(now);
    lastPosition = coord(path_.at(now));
    lastVelocity = coord(path_.velocity(now));
    nextChange = until_ps == kNever ? SimTime(-1) : instant_of(until_ps);
}

void CoveredMobility::go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s) {
    Enter_Method("go");
    moveAndUpdate();
    path_.go(now_ps(), x_mm, y_mm, z_mm, speed_mm_s, {lastPosition.x, lastPosition.y, lastPosition.z});
    if (LocalRadioMedium *radio_medium = beginPath()) radio_medium->atLeastAsFast(speed_mm_s / 1000.0);
}

void CoveredMobility::put(int32_t x_mm, int32_t y_mm, int32_t z_mm) {
    Enter_Method("put");
    path_.put(now_ps(), x_mm, y_mm, z_mm);
    if (LocalRadioMedium *radio_medium = beginPath()) radio_medium->lookAgain();
}

// Follows a new path from now on. Returns the medium of the network, if it is one of ours.
LocalRadioMedium *CoveredMobility::beginPath() {
    follow();
    lastUpdate = simTime();
    scheduleUpdate();
    emitMobilityStateChangedSignal();
    cModule *network = inet::getContainingNode(this)->getParentModule();
    if (auto watcher = dynamic_cast<StationWatcher *>(network->getSubmodule("watcher"))) watcher->somebodyMoves();
    return dynamic_cast<LocalRadioMedium *>(network->getSubmodule("radioMedium"));
}

void CoveredMobility::move() {
    if (!path_.empty()) return follow();
    if (!standing_) LineSegmentsMobilityBase::move();
}

void CoveredMobility::setUp(bool up) {
    Enter_Method("setUp");
    if (stationary || !path_.empty() || standing_ == !up || !par("standWhenDown")) return;
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
