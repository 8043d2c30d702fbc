// Interfaces 1 and 2: packets in TCP's byte stream, one connection per peer.
#pragma once

#include <set>

#include "Adapter.h"
#include "TcpLinks.h"

namespace causeway {

class StreamApp : public omnetpp::cSimpleModule, public PacketSender, public TcpLinks::Owner {
  public:
    void sendPacket(const PacketTag &tag) override;

  protected:
    int node_ = -1, interface_ = Interface::WIRE, station_ = -1;
    Adapter *adapter_ = nullptr;
    TcpLinks links_{*this, this};
    std::set<int> awaited_;  // the nodes that open the connection to this one

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;

    void openWires();
    void follow(int station);

    inet::L3Address addressOf(int node) override;
    int nodeOf(const inet::L3Address &address) override { return adapter_->nodeOf(address); }
    bool opens(int node) const override { return !awaited_.count(node); }
    bool keeps(int node) const override { return node == station_ || interface_ == Interface::WIRE; }
    void arrived(const PacketTag &tag) override { adapter_->arrival(node_, tag.packet, interface_); }
    void lost(const PacketTag &tag) override { adapter_->lost(tag.peer, tag.packet, interface_); }
    void opened() override { adapter_->tcpOpened(); }
    void broken() override { adapter_->tcpBroken(); }
};

}  // namespace causeway
