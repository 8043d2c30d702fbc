// A process that sends packets, which are ordinary cPackets, through its gates. For your own networks.
#pragma once

#include "Bridge.h"

namespace causeway {

// A packet: its id on the bridge, and its destination.
class BridgePacket : public omnetpp::cPacket {
  public:
    int64_t packet = -1;
    int source = -1;
    int destination = Constant::BROADCAST_PEER;  // or a node id; for the network to route by
    int interface = 0;

    explicit BridgePacket(const char *name = nullptr) : omnetpp::cPacket(name) {}
    BridgePacket *dup() const override { return new BridgePacket(*this); }
};

// Gate pair k is interface k, which sends one packet after the other. A received packet arrives if it is for this node
// or for all nodes, and is dropped otherwise. Subclass it to forward packets.
class GateProcess : public omnetpp::cSimpleModule, public NodeHandler {
  public:
    void onSend(const Action &action) override;
    omnetpp::cComponent *component() override { return this; }

  protected:
    int node_ = -1;
    std::vector<omnetpp::simtime_t> free_;  // the time from which each interface can send

    void initialize() override;
    void handleMessage(omnetpp::cMessage *message) override;
    // Sends a packet through out[interface], after the packets before it.
    virtual void sendOut(BridgePacket *packet);
    // Handles a received packet.
    virtual void receive(BridgePacket *packet);
};

}  // namespace causeway
