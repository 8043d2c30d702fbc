// The load of a bridged run without the bridge: UDP broadcasts at exponential intervals.
#pragma once

#include "DatagramApp.h"

namespace causeway {

class PlainTrafficApp : public DatagramApp {
  public:
    ~PlainTrafficApp() override { cancelAndDelete(timer); }

  protected:
    omnetpp::cMessage *timer = nullptr;

    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;
    void scheduleNext();
};

}  // namespace causeway
