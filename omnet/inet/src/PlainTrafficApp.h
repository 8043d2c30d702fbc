// The load of a bridged run without the bridge: UDP datagrams at exponential intervals, wireless or over the wires.
#pragma once

#include "DatagramApp.h"

namespace causeway {

class PlainTrafficApp : public DatagramApp {
  public:
    ~PlainTrafficApp() override { cancelAndDelete(timer_); }

  protected:
    omnetpp::cMessage *timer_ = nullptr;

    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;
    void scheduleNext();
    void findNeighbours();
    void sendDatagram();

    double rate_ = 0;
    bool on_wires_ = false;
    std::vector<inet::L3Address> neighbours_;  // at the other ends of this station's wires
};

}  // namespace causeway
