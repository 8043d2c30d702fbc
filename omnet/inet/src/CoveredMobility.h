// Mobility of hosts that walk inside the cells, follow a trace, or go to a position on command.
#pragma once

#include "bridge/cpp/cells.h"
#include "bridge/cpp/path.h"
#include "inet/mobility/base/LineSegmentsMobilityBase.h"

namespace causeway {

class LocalRadioMedium;

class CoveredMobility : public inet::LineSegmentsMobilityBase {
  public:
    double getMaxSpeed() const override { return std::max(path_.empty() ? speed_ : 0.0, path_.most_speed_m_s()); }

    // Makes a node stand still while it is down (if standWhenDown).
    void setUp(bool up);
    // Sends the host straight to a position, where it stays. It no longer walks or follows its trace.
    void go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s);
    // Puts the host at a position, where it stays.
    void put(int32_t x_mm, int32_t y_mm, int32_t z_mm);

  protected:
    Cells cells_;
    double speed_ = 0, max_leg_ = 0;
    bool covered_only_ = true, standing_ = false;
    inet::Coord low_, high_;  // corners of the area
    int64_t seed_ = 0, node_ = 0, draws_ = 0;
    Path path_;  // its trace, or the way to the position of a command
    bool has_area_ = false;

    int numInitStages() const override { return inet::NUM_INIT_STAGES; }
    void initialize(int stage) override;
    void setInitialPosition() override;
    void setTargetPosition() override;
    void move() override;

  private:
    void findDescribed();
    void findArea();
    void follow();
    LocalRadioMedium *beginPath();
    double randomUnit();
    bool allowed(const inet::Coord &from, const inet::Coord &to) const;
    void walkTo(const inet::Coord &target);
};

}  // namespace causeway
