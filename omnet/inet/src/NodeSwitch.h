// The switch of a node: while the node is down, it neither sends nor receives.
#pragma once

#include "Gate.h"

namespace causeway {

// Empties the queues of a node's wireless interfaces.
void flush_interfaces(omnetpp::cModule *node);

class NodeSwitch : public omnetpp::cSimpleModule, public Gate {
  public:
    void setUp(bool up);

    // Returns the switch of a node, or null if it has none (and is always up).
    static NodeSwitch *of(omnetpp::cModule *node);

  protected:
    int numInitStages() const override;
    void initialize(int stage) override;

    // Returns the node at the other end of a datagram's wire; -1 if it was wireless, or is from this node.
    int other_end(const inet::Packet *packet) const;

    Result datagramPreRoutingHook(inet::Packet *packet) override;
};

}  // namespace causeway
