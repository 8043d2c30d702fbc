// Runs the simulation in windows: stops before what the controller must answer first.
#pragma once

#include <omnetpp.h>

namespace causeway {

class CausewayScheduler : public omnetpp::cScheduler {
  public:
    std::string str() const override { return "causeway: in windows, answered by the controller"; }
    omnetpp::cEvent *guessNextEvent() override { return sim->getFES()->peekFirst(); }
    omnetpp::cEvent *takeNextEvent() override;
    void putBackEvent(omnetpp::cEvent *event) override { sim->getFES()->putBackFirst(event); }
    void lifecycleEvent(omnetpp::SimulationLifecycleEventType type, omnetpp::cObject *details) override;

  private:
    omnetpp::cEvent *firstEvent();
};

}  // namespace causeway
