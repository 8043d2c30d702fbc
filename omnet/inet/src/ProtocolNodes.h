// The nodes of a protocol in a user's own INET network: their hosts, addresses, and lost packets.
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

    // Returns the nodes of the present network. The first call finds the hosts with the protocol's application.
    static ProtocolNodes &ofRun();

    Bridge &bridge() { return bridge_; }
    Counts &count() { return counts_; }
    // Returns the node number of an application: its own parameter `node`, or its index in the order of NED paths.
    int numberOf(const ProtocolApp *app) const;
    // Returns the present address of a node, from INET's resolver; unspecified if it has none (yet).
    inet::L3Address addressOf(int node);
    // Returns the node with this address, -1 if there is none.
    int nodeOf(const inet::L3Address &address);
    // Returns the index of an access point in the order of NED paths; -1 if the module is not one.
    int accessPointOf(const inet::MacAddress &address);
    // Calls `each(id)` for every interface of a host that leads out of it and is up.
    void eachInterface(omnetpp::cModule *host, const std::function<void(int)> &each) const;

    // ---- events ----------------------------------------------------------------------------------------------------
    void arrival(int node, const PacketTag &tag);
    // Reports a packet as lost: there is no route to its destination.
    void unreachable(const PacketTag &tag);
    // Reports that INET stopped or started the host.
    void hostSwitched(int node, bool up);
    // Counts an application that has finished; after the last one, sends the network's measurements.
    void finished();

    // Handles a packet that INET dropped somewhere.
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
    // Reports the node number of each module, as a scalar `node` of the module.
    void tellNodes();
};

// Returns whether a comes before b, with numbers compared by value: host[2] comes before host[10].
bool before(const std::string &a, const std::string &b);

}  // namespace causeway
