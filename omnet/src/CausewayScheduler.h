// Runs the simulation in windows: stops before each event that must wait for an answer of the controller.
#pragma once

#include <omnetpp.h>

namespace causeway {

class CausewayScheduler : public omnetpp::cScheduler {
  public:
    std::string str() const override { return "causeway: runs in windows, which the controller answers"; }
    omnetpp::cEvent *guessNextEvent() override { return sim->getFES()->peekFirst(); }
    omnetpp::cEvent *takeNextEvent() override;
    void putBackEvent(omnetpp::cEvent *event) override { sim->getFES()->putBackFirst(event); }
    void lifecycleEvent(omnetpp::SimulationLifecycleEventType type, omnetpp::cObject *details) override;

  private:
    omnetpp::cEvent *firstEvent();
};

}  // namespace causeway
