#include "mobility.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bridge/cpp/random.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace causeway {

using namespace ns3;

namespace {
constexpr double LONGEST_LEG_M = 120;    // a leg's length is uniform up to this
constexpr double MARGIN_M = 60;          // room beyond the outermost cells for hosts that may leave them
constexpr int64_t MOST_DRAWS = 100'000;  // for one position or leg; if this many attempts fail, the area is too thin

int64_t now_ps() { return Simulator::Now().GetTimeStep(); }

Point point(const Path::Place &place) { return {place.x_m, place.y_m, place.z_m}; }
}  // namespace

TypeId Walk::GetTypeId() {
    static TypeId id = TypeId("causeway::Walk").SetParent<MobilityModel>().AddConstructor<Walk>();
    return id;
}

void Walk::begin(const Plan &plan, const Cells &cells, int node, const Reports &reports) {
    plan_ = &plan;
    cells_ = &cells;
    reports_ = &reports;
    node_ = node;
    const int host = node - plan.station_count();
    speed_m_s_ = plan.speed_of(node);
    path_ = plan.paths[host];
    if (!path_.empty()) {
        leg_.from = point(path_.at(0));
    } else {
        leg_.from = plan.host_places.empty() ? random_place() : plan.host_places[host];
    }
    leg_.to = leg_.from;
    station_ = cells.nearest(leg_.from);
    Simulator::ScheduleNow(&Walk::report, this);
    if (!path_.empty()) {
        Simulator::ScheduleNow(&Walk::follow, this);
    } else if (speed_m_s_ > 0) {
        Simulator::ScheduleNow(&Walk::next_leg, this);
    }
    if (plan.position_every_ps > 0) {
        Simulator::Schedule(PicoSeconds(plan.position_every_ps), &Walk::report_for_ever, this);
    }
}

Point Walk::position() const {
    if (!path_.empty()) {
        return point(path_.at(now_ps()));
    }
    if (leg_ps_ == 0) return leg_.from;
    const double share = static_cast<double>(now_ps() - leg_start_ps_) / static_cast<double>(leg_ps_);
    return leg_.at(std::min(1.0, share));
}

Vector Walk::DoGetPosition() const {
    const Point p = position();
    return {p.x, p.y, p.z};
}

Vector Walk::DoGetVelocity() const {
    if (leg_ps_ == 0) return {};
    const double seconds = static_cast<double>(leg_ps_) * 1e-12;
    return {(leg_.to.x - leg_.from.x) / seconds, (leg_.to.y - leg_.from.y) / seconds,
            (leg_.to.z - leg_.from.z) / seconds};
}

void Walk::set_up(bool up) {
    if (up == up_) return;
    up_ = up;
    if (!walks()) {  // a host on a path continues its way
        if (up) change_to(cells_->nearest(position()));
        return;
    }
    if (up) {
        walk_to(leg_.to);
    } else {
        stand();
    }
}

void Walk::go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s) {
    const Point here = position();
    path_.go(now_ps(), x_mm, y_mm, z_mm, speed_mm_s, {here.x, here.y, here.z});
    follow();
}

void Walk::put(int32_t x_mm, int32_t y_mm, int32_t z_mm) {
    path_.put(now_ps(), x_mm, y_mm, z_mm);
    for (const auto &event : to_come_) Simulator::Cancel(event);
    to_come_.clear();
    leg_.from = leg_.to = {x_mm / 1000.0, y_mm / 1000.0, z_mm / 1000.0};
    leg_ps_ = 0;
    change_to(cells_->nearest(leg_.from));
}

/// Begins the next straight line of the path.
void Walk::follow() {
    const int64_t now = now_ps(), until = path_.until(now);
    for (const auto &event : to_come_) Simulator::Cancel(event);
    to_come_.clear();
    leg_.from = leg_.to = position();
    leg_ps_ = 0;
    if (until == kNever) return change_to(cells_->nearest(leg_.from));
    leg_.to = point(path_.target(now));
    begin_leg(until - now, &Walk::follow);
}

std::pair<Point, Point> Walk::area(double margin_m) const {
    return plan_->has_area ? plan_->area : cells_->box(margin_m);
}

double Walk::random_unit() { return unit(draw(plan_->seed, RandomStream::PLACE, node_, draws_++)); }

/// Returns a position, uniform over the area of the cells, or over a box around them if hosts may leave the cells.
Point Walk::random_place() {
    const auto [low, high] = covered_only() ? cells_->box(0) : area(MARGIN_M);
    for (int64_t i = 0; i < MOST_DRAWS; ++i) {
        const double u = random_unit(), v = random_unit();
        const Point p{low.x + u * (high.x - low.x), low.y + v * (high.y - low.y)};
        if (!covered_only() || cells_->nearest(p) >= 0) return p;
    }
    throw std::runtime_error("no position inside the cells found for a host; make the cells or the area larger");
}

/// Returns a target that the host can reach without leaving the cells (or the box).
Point Walk::next_target() {
    const auto [low, high] = covered_only() ? cells_->box(MARGIN_M) : area(MARGIN_M);
    for (int64_t i = 0; i < MOST_DRAWS; ++i) {
        const double angle = 2 * M_PI * random_unit(), length = LONGEST_LEG_M * random_unit();
        const Point p{leg_.from.x + length * std::cos(angle), leg_.from.y + length * std::sin(angle), leg_.from.z};
        const bool in_box = low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y;
        if (covered_only() ? cells_->cover({leg_.from, p}) : in_box) return p;
    }
    throw std::runtime_error("no way inside the cells found for a host; make the cells or the area larger");
}

void Walk::next_leg() {
    if (!up_ || !walks()) return;
    leg_.from = leg_.to;
    walk_to(next_target());
}

/// Begins a leg at the host's position.
void Walk::walk_to(Point target) {
    leg_.to = target;
    const double leg_s = distance(leg_.from, leg_.to) / speed_m_s_;
    begin_leg(std::max<int64_t>(1, std::llround(leg_s * 1e12)), &Walk::next_leg);
}

/// Schedules the changes of the nearest station from leg_.from to leg_.to, and the call at the end of the leg.
void Walk::begin_leg(int64_t lasts_ps, void (Walk::*then)()) {
    leg_start_ps_ = now_ps();
    leg_ps_ = lasts_ps;
    to_come_.clear();
    for (const auto &[share, station] : cells_->changes(leg_)) {
        const auto after = PicoSeconds(std::llround(share * static_cast<double>(leg_ps_)));
        to_come_.push_back(Simulator::Schedule(after, &Walk::change_to, this, station));
    }
    to_come_.push_back(Simulator::Schedule(PicoSeconds(leg_ps_), then, this));
}

void Walk::stand() {
    leg_.from = position();
    leg_ps_ = 0;
    for (const auto &event : to_come_) Simulator::Cancel(event);
    to_come_.clear();
}

void Walk::change_to(int station) {
    if (station == station_ || !up_) return;
    station_ = station;
    report();
}

void Walk::report() {
    if (up_) reports_->station(node_, station_, position());
}

void Walk::report_for_ever() {
    report();
    Simulator::Schedule(PicoSeconds(plan_->position_every_ps), &Walk::report_for_ever, this);
}

}  // namespace causeway
