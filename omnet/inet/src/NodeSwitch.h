// A node that is down neither sends nor receives.
#pragma once

#include "Gate.h"

namespace causeway {

// Throws away what the wireless interfaces of a node have queued.
void flush_interfaces(omnetpp::cModule *node);

class NodeSwitch : public omnetpp::cSimpleModule, public Gate {
  public:
    void setUp(bool up);

    // The switch of a node, or null if it has none (it is up, then).
    static NodeSwitch *of(omnetpp::cModule *node);

  protected:
    int numInitStages() const override;
    void initialize(int stage) override;

    // The node at the other end of the wire that a datagram came over; -1: it came over the air, or from here.
    int other_end(const inet::Packet *packet) const;

    Result datagramPreRoutingHook(inet::Packet *packet) override;
};

}  // namespace causeway
