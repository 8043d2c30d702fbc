// Takes a host of a user's own network down and up. Made at run time, for any host.
#pragma once

#include "Gate.h"

namespace causeway {

class HostSwitch : public Gate {
  public:
    explicit HostSwitch(omnetpp::cModule *host) : host_(host) { hook(host); }
    void setUp(bool up);

  private:
    omnetpp::cModule *host_;

    void hook(omnetpp::cModule *module);
};

}  // namespace causeway
