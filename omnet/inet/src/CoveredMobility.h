// Hosts that walk inside the cells.
#pragma once

#include "inet/mobility/base/LineSegmentsMobilityBase.h"

namespace causeway {

class CoveredMobility : public inet::LineSegmentsMobilityBase {
  public:
    double getMaxSpeed() const override { return speed; }

    // A node that fails stands still until it is back (if standWhenDown).
    void setUp(bool up);

  protected:
    std::vector<inet::Coord> stations;
    double cellRadius = 0, speed = 0, maxLeg = 0;
    bool coveredOnly = true, standing = false;
    inet::Coord low, high;  // corners of the area
    int64_t seed = 0, node = 0, draws = 0;

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
