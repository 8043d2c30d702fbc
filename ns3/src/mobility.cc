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
constexpr double LONGEST_LEG_M = 120;    // a leg's length is uniform up to here
constexpr double MARGIN_M = 60;          // room beyond the outermost cells for hosts that may leave them
constexpr int64_t MOST_DRAWS = 100'000;  // for one place or leg: an area so thin is an error of the study

int64_t now_ps() { return Simulator::Now().GetTimeStep(); }
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
    leg_.from = leg_.to = plan.host_places.empty() ? random_place() : plan.host_places[node - plan.station_count()];
    station_ = cells.nearest(leg_.from);
    Simulator::ScheduleNow(&Walk::report, this);
    if (plan.speed_m_s <= 0) return;
    Simulator::ScheduleNow(&Walk::next_leg, this);
    if (plan.position_every_ps > 0) {
        Simulator::Schedule(PicoSeconds(plan.position_every_ps), &Walk::report_for_ever, this);
    }
}

Point Walk::position() const {
    if (leg_ps_ == 0) return leg_.from;
    const double share = static_cast<double>(now_ps() - leg_start_ps_) / static_cast<double>(leg_ps_);
    return leg_.at(std::min(1.0, share));
}

Vector Walk::DoGetPosition() const {
    const Point p = position();
    return {p.x, p.y, 0};
}

Vector Walk::DoGetVelocity() const {
    if (leg_ps_ == 0) return {};
    const double seconds = static_cast<double>(leg_ps_) * 1e-12;
    return {(leg_.to.x - leg_.from.x) / seconds, (leg_.to.y - leg_.from.y) / seconds, 0};
}

void Walk::set_up(bool up) {
    if (up == up_) return;
    up_ = up;
    if (plan_->speed_m_s <= 0) return;
    if (up) {
        walk_to(leg_.to);
    } else {
        stand();
    }
}

double Walk::random_unit() { return unit(draw(plan_->seed, RandomStream::PLACE, node_, draws_++)); }

/// Uniform over what the cells cover, or over a box around them if hosts may leave the cells.
Point Walk::random_place() {
    const auto [low, high] = cells_->box(plan_->covered_only ? 0 : MARGIN_M);
    for (int64_t i = 0; i < MOST_DRAWS; ++i) {
        const double u = random_unit(), v = random_unit();
        const Point p{low.x + u * (high.x - low.x), low.y + v * (high.y - low.y)};
        if (!plan_->covered_only || cells_->nearest(p) >= 0) return p;
    }
    throw std::runtime_error("no place inside the cells found for a host");
}

/// Somewhere the host can walk to without leaving the cells (or the box).
Point Walk::next_target() {
    const auto [low, high] = cells_->box(MARGIN_M);
    for (int64_t i = 0; i < MOST_DRAWS; ++i) {
        const double angle = 2 * M_PI * random_unit(), length = LONGEST_LEG_M * random_unit();
        const Point p{leg_.from.x + length * std::cos(angle), leg_.from.y + length * std::sin(angle)};
        const bool in_box = low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y;
        if (plan_->covered_only ? cells_->cover({leg_.from, p}) : in_box) return p;
    }
    throw std::runtime_error("no way inside the cells found for a host");
}

void Walk::next_leg() {
    if (!up_) return;
    leg_.from = leg_.to;
    walk_to(next_target());
}

/// Begins a leg where the host stands.
void Walk::walk_to(Point target) {
    leg_.to = target;
    leg_start_ps_ = now_ps();
    const double leg_s = distance(leg_.from, leg_.to) / plan_->speed_m_s;
    leg_ps_ = std::max<int64_t>(1, std::llround(leg_s * 1e12));
    to_come_.clear();
    for (const auto &[share, station] : cells_->changes(leg_)) {
        const auto after = PicoSeconds(std::llround(share * static_cast<double>(leg_ps_)));
        to_come_.push_back(Simulator::Schedule(after, &Walk::change_to, this, station));
    }
    to_come_.push_back(Simulator::Schedule(PicoSeconds(leg_ps_), &Walk::next_leg, this));
}

void Walk::stand() {
    leg_.from = position();
    leg_ps_ = 0;
    for (const auto &event : to_come_) Simulator::Cancel(event);
    to_come_.clear();
}

void Walk::change_to(int station) {
    if (station == station_) return;
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
