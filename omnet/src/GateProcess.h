// A process whose packets go through its gates, for networks of your own: packets are ordinary cPackets there.
#pragma once

#include "Bridge.h"

namespace causeway {

// What crosses the network: the bridge's id of a packet, and where it is bound for.
class BridgePacket : public omnetpp::cPacket {
  public:
    int64_t packet = -1;
    int source = -1;
    int destination = Constant::BROADCAST_PEER;  // or a node id; for the network to route by
    int interface = 0;

    explicit BridgePacket(const char *name = nullptr) : omnetpp::cPacket(name) {}
    BridgePacket *dup() const override { return new BridgePacket(*this); }
};

// Gate pair k is interface k. A SEND goes out through it, one packet after the other; what comes in has arrived if it
// is bound for this node or for everybody, and is dropped if not. Subclass it to forward.
class GateProcess : public omnetpp::cSimpleModule, public NodeHandler {
  public:
    void onSend(const Action &action) override;
    omnetpp::cComponent *component() override { return this; }

  protected:
    int node_ = -1;
    std::vector<omnetpp::simtime_t> free_;  // when each interface has sent what it was given

    void initialize() override;
    void handleMessage(omnetpp::cMessage *message) override;
    // Sends through out[interface], after the packets before it.
    virtual void sendOut(BridgePacket *packet);
    // A packet for this node, or for everybody.
    virtual void receive(BridgePacket *packet);
};

}  // namespace causeway
