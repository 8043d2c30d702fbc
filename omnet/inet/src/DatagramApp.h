// Interface 0: a packet is a UDP datagram over the wireless channel.
#pragma once

#include "Adapter.h"
#include "inet/transportlayer/contract/udp/UdpSocket.h"

namespace causeway {

class DatagramApp : public omnetpp::cSimpleModule, public PacketSender, public inet::UdpSocket::ICallback {
  public:
    void sendPacket(const PacketTag &tag) override;

  protected:
    int node_ = -1, port_ = 0, wireless_id_ = -1;
    Adapter *adapter_ = nullptr;
    inet::UdpSocket socket_;

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;

    void socketDataArrived(inet::UdpSocket *, inet::Packet *packet) override;
    void socketErrorArrived(inet::UdpSocket *, inet::Indication *indication) override { delete indication; }
    void socketClosed(inet::UdpSocket *) override {}
};

}  // namespace causeway
