#include "SumoMobility.h"

#include "omnet/src/Bridge.h"

namespace causeway {

using namespace omnetpp;
using inet::Coord;

Define_Module(SumoMobility);

static Coord coord(const Path::Place &place) { return Coord(place.x_m, place.y_m, place.z_m); }

Coord SumoMobility::away_mm() const { return Coord(par("awayX"), par("awayY"), par("awayZ")) * 1000; }

void SumoMobility::setInitialPosition() {
    last_mm_ = away_mm();
    put(last_mm_);
    lastPosition = coord(path_.at(now_ps()));
}

void SumoMobility::put(const Coord &place_mm) { path_.put(now_ps(), place_mm.x, place_mm.y, place_mm.z); }

void SumoMobility::go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s) {
    Enter_Method("go");
    last_mm_ = Coord(x_mm, y_mm, z_mm);
    if (!up_) return;
    path_.go(now_ps(), x_mm, y_mm, z_mm, speed_mm_s, {});
    begin();
}

void SumoMobility::setUp(bool up) {
    Enter_Method("setUp");
    up_ = up;
    put(up ? last_mm_ : away_mm());
    begin();
}

void SumoMobility::move() {
    const int64_t now = now_ps(), until_ps = path_.until(now);
    lastPosition = coord(path_.at(now));
    lastVelocity = coord(path_.velocity(now));
    nextChange = until_ps == kNever ? SimTime(-1) : instant_of(until_ps);
}

// Follows a new path from now on.
void SumoMobility::begin() {
    move();
    orient();
    lastUpdate = simTime();
    scheduleUpdate();
    emitMobilityStateChangedSignal();
}

// Shows no position while the host is away, since the picture of the network would have to be as large.
void SumoMobility::refreshDisplay() const {
    if (up_) MovingMobilityBase::refreshDisplay();
}

}  // namespace causeway
