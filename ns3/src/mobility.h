// Hosts that walk: straight legs between random points, at one speed, without a rest (random waypoint).
#pragma once

#include <cstdint>

#include "geometry.h"
#include "ns3/mobility-model.h"
#include "plan.h"

namespace causeway {

/// Where one host is. ns-3 asks it for positions; it tells when the nearest station in reach changes.
class Walk : public ns3::MobilityModel {
  public:
    static ns3::TypeId GetTypeId();

    /// Puts the host somewhere, and sets it walking if hosts walk.
    void begin(const Plan &plan, const Cells &cells, int node, const Reports &reports);
    int nearest_station() const { return station_; }
    Point position() const;

  private:
    ns3::Vector DoGetPosition() const override;
    void DoSetPosition(const ns3::Vector &) override {}
    ns3::Vector DoGetVelocity() const override;

    Point random_point();
    Point next_target();
    void walk();
    void change_to(int station);
    void report();
    void report_for_ever();

    const Plan *plan_ = nullptr;
    const Cells *cells_ = nullptr;
    const Reports *reports_ = nullptr;
    int node_ = 0;
    int64_t draws_ = 0;
    int station_ = -1;
    Segment leg_;
    int64_t leg_start_ps_ = 0;
    int64_t leg_ps_ = 0;  // 0: it stands still
};

}  // namespace causeway
