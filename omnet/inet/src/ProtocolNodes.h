// The nodes of a protocol in somebody's own INET network: which hosts they are, how they are reached, what is lost.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "PacketTag.h"
#include "inet/linklayer/common/MacAddress.h"
#include "inet/networklayer/common/L3Address.h"
#include "omnet/src/Bridge.h"

namespace causeway {

class ProtocolApp;

class ProtocolNodes : public omnetpp::cListener {
  public:
    struct Counts {
        double datagrams = 0, arrived = 0, lost = 0, unreachable = 0;
        double opened = 0, broken = 0, stream_packets = 0, stream_bytes = 0;
    };

    // Of the network that is there now. The first call finds the hosts with the protocol's application.
    static ProtocolNodes &ofRun();

    Bridge &bridge() { return bridge_; }
    Counts &count() { return counts_; }
    // The number of a host's application: its own parameter `node`, or its place in the order of NED paths.
    int numberOf(const ProtocolApp *app) const;
    // INET's resolver says where a node is reached now; unspecified if it has no address (yet).
    inet::L3Address addressOf(int node);
    // The node with this address, -1 if it is none.
    int nodeOf(const inet::L3Address &address);
    // Which access point of the network this is, in the order of NED paths; -1 if it is none.
    int accessPointOf(const inet::MacAddress &address);
    // Calls `each(id)` for every interface of a host that leads out of it and is up.
    void eachInterface(omnetpp::cModule *host, const std::function<void(int)> &each) const;

    // ---- what is told ----------------------------------------------------------------------------------------------
    void arrival(int node, const PacketTag &tag);
    // Nobody knows a way to whom the packet is for.
    void unreachable(const PacketTag &tag);
    // INET stopped or started the host.
    void hostSwitched(int node, bool up);
    // One of the applications is finished; the last one's numbers are the network's.
    void finished();

    // INET dropped a packet somewhere.
    using cListener::receiveSignal;
    void receiveSignal(omnetpp::cComponent *source, omnetpp::simsignal_t, omnetpp::cObject *packet,
                       omnetpp::cObject *details) override;

  private:
    Bridge &bridge_;
    std::vector<ProtocolApp *> apps_;  // by node
    std::map<inet::L3Address, int> by_address_;
    std::vector<std::string> access_points_;  // NED paths, in order
    size_t finished_ = 0;
    Counts counts_;

    ProtocolNodes();
    void number(std::vector<ProtocolApp *> found);
    // Which module is which node: scalars `node` of the modules.
    void tellNodes();
};

// In the order of people: host[2] comes before host[10].
bool before(const std::string &a, const std::string &b);

}  // namespace causeway
