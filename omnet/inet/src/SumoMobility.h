// Mobility of a host that follows a vehicle: it goes where the controller commands, and is far away while it is down.
#pragma once

#include "bridge/cpp/path.h"
#include "inet/mobility/base/MovingMobilityBase.h"

namespace causeway {

class SumoMobility : public inet::MovingMobilityBase {
  public:
    double getMaxSpeed() const override { return NAN; }  // unknown: the next command may set any speed
    const inet::Coord &getCurrentAcceleration() override { return inet::Coord::ZERO; }
    bool isAway() const { return !up_; }
    // Sends the host straight to a position, where it stays. A host that is down comes there when it goes up.
    void go(int32_t x_mm, int32_t y_mm, int32_t z_mm, int32_t speed_mm_s);
    // Takes the host far away, or to the position of the last command.
    void setUp(bool up);

  protected:
    int numInitStages() const override { return inet::NUM_INIT_STAGES; }
    void setInitialPosition() override;
    void checkPosition() override {}  // it may start, and drive, outside the constraint area
    void move() override;
    void refreshDisplay() const override;

  private:
    Path path_;
    inet::Coord last_mm_;  // the position of the last command; before the first one, far away
    bool up_ = true;

    inet::Coord away_mm() const;
    void put(const inet::Coord &place_mm);
    void begin();
};

}  // namespace causeway
