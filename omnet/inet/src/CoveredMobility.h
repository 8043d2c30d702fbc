// Hosts that walk inside the cells.
#pragma once

#include "inet/mobility/base/LineSegmentsMobilityBase.h"

namespace causeway {

class CoveredMobility : public inet::LineSegmentsMobilityBase {
  public:
    double getMaxSpeed() const override { return speed_; }

    // A node that fails stands still until it is back (if standWhenDown).
    void setUp(bool up);

  protected:
    std::vector<inet::Coord> stations_;
    double cell_radius_ = 0, speed_ = 0, max_leg_ = 0;
    bool covered_only_ = true, standing_ = false;
    inet::Coord low_, high_;  // corners of the area
    int64_t seed_ = 0, node_ = 0, draws_ = 0;

    int numInitStages() const override { return inet::NUM_INIT_STAGES; }
    void initialize(int stage) override;
    void setInitialPosition() override;
    void setTargetPosition() override;
    void move() override;

  private:
    void findArea();
    double randomUnit();
    bool allowed(const inet::Coord &from, const inet::Coord &to) const;
    void walkTo(const inet::Coord &target);
};

}  // namespace causeway
