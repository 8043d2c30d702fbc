// Packets in TCP's byte stream between two hosts of a user's own network. The first packet opens the connection.
#pragma once

#include "TcpLinks.h"

namespace causeway {

class ProtocolNodes;

class PeerStreams : public TcpLinks::Owner {
  public:
    PeerStreams(ProtocolNodes &nodes, int node, int port, omnetpp::simtime_t reconnect_after,
                omnetpp::cSimpleModule *app);

    // Listens if the host has TCP.
    void listen();
    void sendPacket(const PacketTag &tag);
    bool take(omnetpp::cMessage *message) { return links_.take(message); }
    void forget() { links_.forget(); }
    void abort() { links_.abort(); }

  private:
    ProtocolNodes &nodes_;
    const int node_, port_;
    bool has_tcp_ = false;
    omnetpp::cSimpleModule *const app_;
    TcpLinks links_;

    inet::L3Address addressOf(int node) override;
    int nodeOf(const inet::L3Address &address) override;
    void arrived(const PacketTag &tag) override;
    void lost(const PacketTag &tag) override;
    void opened() override;
    void broken() override;
};

}  // namespace causeway
