// Hosts that walk: straight legs in random directions, of random length, at one speed, without a rest.
#pragma once

#include <cstdint>
#include <vector>

#include "ns3/event-id.h"
#include "ns3/mobility-model.h"
#include "plan.h"

namespace causeway {

/// Where one host is. ns-3 asks it for positions; it tells when the nearest station in reach changes.
class Walk : public ns3::MobilityModel {
  public:
    static ns3::TypeId GetTypeId();

    /// Puts the host somewhere, and sets it walking if hosts walk.
    void begin(const Plan &plan, const Cells &cells, int node, const Reports &reports);
    Point position() const;
    /// A host that is down stands where it is; once it is up again it goes on.
    void set_up(bool up);
    /// Straight to a place, and no further; it no longer walks, nor follows its trace.
    void go(int32_t x_mm, int32_t y_mm, int32_t speed_mm_s);

  private:
    ns3::Vector DoGetPosition() const override;
    void DoSetPosition(const ns3::Vector &) override {}
    ns3::Vector DoGetVelocity() const override;

    bool walks() const { return path_.empty() && speed_m_s_ > 0; }
    void follow();
    void begin_leg(int64_t lasts_ps, void (Walk::*then)());
    double random_unit();
    Point random_place();
    std::pair<Point, Point> area(double margin_m) const;
    bool covered_only() const { return plan_->covered_only && plan_->station_count() > 0; }
    Point next_target();
    void walk_to(Point target);
    void next_leg();
    void stand();
    void change_to(int station);
    void report();
    void report_for_ever();

    const Plan *plan_ = nullptr;
    const Cells *cells_ = nullptr;
    const Reports *reports_ = nullptr;
    int node_ = 0;
    int64_t draws_ = 0;
    double speed_m_s_ = 0;
    Path path_;  // of a trace, or where it was told to go
    int station_ = -1;
    Segment leg_;
    int64_t leg_start_ps_ = 0;
    int64_t leg_ps_ = 0;  // 0: it stands still
    bool up_ = true;
    std::vector<ns3::EventId> to_come_;  // what the leg holds: changes of station, its end
};

}  // namespace causeway
