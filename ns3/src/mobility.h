// Mobility of hosts: straight legs in random directions, of random length, at constant speed and without pauses; or a
// path.
#pragma once

#include <cstdint>
#include <vector>

#include "ns3/event-id.h"
#include "ns3/mobility-model.h"
#include "plan.h"

namespace causeway {

/// The mobility of one host. ns-3 reads positions from it; it reports changes of the nearest station in range.
class Walk : public ns3::MobilityModel {
  public:
    static ns3::TypeId GetTypeId();
    /// Returns a copy; MobilityModel demands it from ns-3.48 on, so it is not marked as an override.
    ns3::Ptr<ns3::MobilityModel> Copy() const { return ns3::CopyObject<Walk>(ns3::Ptr<const Walk>(this)); }

    /// Puts the host at its start, and makes it walk if hosts walk.
    void begin(const Plan &plan, const Cells &cells, int node, const Reports &reports);
    Point position() const;
    /// Makes a walking host stand still while it is down.
    void set_up(bool up);
    /// Sends the host straight to a position, where it stays. It no longer walks or follows its trace.
    void go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s);
    void put(int32_t x_mm, int32_t y_mm, int32_t z_mm);

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
    Path path_;  // its trace, or the way to the position of a command
    int station_ = -1;
    Segment leg_;
    int64_t leg_start_ps_ = 0;
    int64_t leg_ps_ = 0;  // 0: it stands still
    bool up_ = true;
    std::vector<ns3::EventId> to_come_;  // the events of the leg: changes of station, its end
};

}  // namespace causeway
