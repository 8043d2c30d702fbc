// The protocol's application in a host of a user's own INET network: datagrams, streams, failures and positions.
//
// A host gets the application by `causeway-nodes` (ProtocolNed.cc) or as one of its app[]. Nothing else in the network
// is changed.
#pragma once

#include "HostSwitch.h"
#include "PeerStreams.h"
#include "ProtocolNodes.h"
#include "SumoMobility.h"
#include "inet/common/lifecycle/ILifecycle.h"
#include "inet/mobility/contract/IMobility.h"
#include "inet/transportlayer/contract/udp/UdpSocket.h"

namespace causeway {

class ProtocolApp : public omnetpp::cSimpleModule,
                    public NodeHandler,
                    public inet::ILifecycle,
                    public inet::UdpSocket::ICallback,
                    public omnetpp::cListener {
  public:
    ~ProtocolApp() override;
    int node() const { return node_; }
    omnetpp::cModule *host() const { return host_; }

    // ---- from the bridge -------------------------------------------------------------------------------------------
    void onSend(const Action &action) override;
    void onMove(const Action &action) override;
    void onNode(bool up) override;
    omnetpp::cComponent *component() override { return this; }

    // ---- from INET -------------------------------------------------------------------------------------------------
    bool handleOperationStage(inet::LifecycleOperation *operation, inet::IDoneCallback *) override;
    using cListener::receiveSignal;
    void receiveSignal(omnetpp::cComponent *, omnetpp::simsignal_t, omnetpp::cObject *interface,
                       omnetpp::cObject *access_point) override;

  protected:
    int node_ = -1, port_ = 0, station_ = -1;
    omnetpp::cModule *host_ = nullptr;
    ProtocolNodes *nodes_ = nullptr;
    inet::UdpSocket socket_;
    inet::L3Address group_;  // the address of packets to all nodes
    std::unique_ptr<PeerStreams> streams_;
    std::unique_ptr<HostSwitch> switch_;
    inet::IMobility *mobility_ = nullptr;
    SumoMobility *vehicle_ = nullptr;  // the same, if the controller moves the host
    omnetpp::simtime_t position_every_;
    omnetpp::cMessage *look_ = nullptr;  // timer: report the position
    omnetpp::simtime_t places_every_;
    omnetpp::cMessage *record_ = nullptr;  // timer: record the position

    int numInitStages() const override { return inet::NUM_INIT_STAGES; }
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;
    void finish() override;

    void open();
    void joinGroup();
    void tellPlace();
    void recordPlace();
    void sendToAll(const PacketTag &tag);
    void sendDatagram(const PacketTag &tag, const inet::L3Address &to, int interface_id);
    void hostSwitched(bool up);

    void socketDataArrived(inet::UdpSocket *, inet::Packet *packet) override;
    void socketErrorArrived(inet::UdpSocket *, inet::Indication *indication) override { delete indication; }
    void socketClosed(inet::UdpSocket *) override {}
};

}  // namespace causeway
