#include "mobility.h"

#include <algorithm>
#include <cmath>

#include "bridge/cpp/random.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

namespace causeway {

namespace {
constexpr int STREAM_PLACE = 8;  // this engine's own stream of bridge/cpp/random.h
constexpr int TARGETS_TRIED = 50;

int64_t now_ps() { return ns3::Simulator::Now().GetTimeStep(); }
}  // namespace

ns3::TypeId Walk::GetTypeId() {
    static ns3::TypeId id = ns3::TypeId("causeway::Walk").SetParent<ns3::MobilityModel>().AddConstructor<Walk>();
    return id;
}

void Walk::begin(const Plan &plan, const Cells &cells, int node, const Reports &reports) {
    plan_ = &plan;
    cells_ = &cells;
    reports_ = &reports;
    node_ = node;
    const Point start = random_point();
    leg_ = {start, start};
    station_ = cells.nearest(start);
    ns3::Simulator::ScheduleNow(&Walk::report, this);
    if (plan.speed_m_s <= 0) return;
    ns3::Simulator::ScheduleNow(&Walk::walk, this);
    if (plan.position_every_ps > 0) {
        ns3::Simulator::Schedule(ns3::PicoSeconds(plan.position_every_ps), &Walk::report_for_ever, this);
    }
}

Point Walk::position() const {
    if (leg_ps_ == 0) return leg_.from;
    const double share = static_cast<double>(now_ps() - leg_start_ps_) / static_cast<double>(leg_ps_);
    return leg_.at(std::min(1.0, share));
}

ns3::Vector Walk::DoGetPosition() const {
    const Point p = position();
    return {p.x, p.y, 0};
}

ns3::Vector Walk::DoGetVelocity() const {
    if (leg_ps_ == 0) return {};
    const double seconds = static_cast<double>(leg_ps_) * 1e-12;
    return {(leg_.to.x - leg_.from.x) / seconds, (leg_.to.y - leg_.from.y) / seconds, 0};
}

/// Uniform over what the cells cover, or over the box around them if hosts may leave the cells.
Point Walk::random_point() {
    const auto [low, high] = cells_->box();
    for (;;) {
        const double u = unit(draw(plan_->seed, STREAM_PLACE, node_, 2 * draws_));
        const double v = unit(draw(plan_->seed, STREAM_PLACE, node_, 2 * draws_ + 1));
        ++draws_;
        const Point p{low.x + u * (high.x - low.x), low.y + v * (high.y - low.y)};
        if (!plan_->covered_only || cells_->nearest(p) >= 0) return p;
    }
}

/// A random point that can be walked to without leaving the cells. A cell is convex, so one in the same cell always
/// can.
Point Walk::next_target() {
    if (!plan_->covered_only) return random_point();
    Point target = random_point();
    for (int i = 0; i < TARGETS_TRIED && !cells_->cover({leg_.from, target}); ++i) target = random_point();
    while (!cells_->cover({leg_.from, target})) {
        const Point p = random_point();
        if (distance(p, plan_->stations[station_]) <= plan_->reach_m) target = p;
    }
    return target;
}

/// Begins the next leg, from where the last one ended.
void Walk::walk() {
    leg_.from = leg_.to;
    leg_.to = next_target();
    leg_start_ps_ = now_ps();
    const double leg_s = distance(leg_.from, leg_.to) / plan_->speed_m_s;
    leg_ps_ = std::max<int64_t>(1, std::llround(leg_s * 1e12));
    for (const auto &[share, station] : cells_->changes(leg_)) {
        const auto after = ns3::PicoSeconds(std::llround(share * static_cast<double>(leg_ps_)));
        ns3::Simulator::Schedule(after, &Walk::change_to, this, station);
    }
    ns3::Simulator::Schedule(ns3::PicoSeconds(leg_ps_), &Walk::walk, this);
}

void Walk::change_to(int station) {
    if (station == station_) return;
    station_ = station;
    report();
}

void Walk::report() { reports_->station(node_, station_, position()); }

void Walk::report_for_ever() {
    report();
    ns3::Simulator::Schedule(ns3::PicoSeconds(plan_->position_every_ps), &Walk::report_for_ever, this);
}

}  // namespace causeway
