#include "PeerStreams.h"

#include "ProtocolNodes.h"

namespace causeway {

using namespace omnetpp;

PeerStreams::PeerStreams(ProtocolNodes &nodes, int node, int port, simtime_t reconnect_after, cSimpleModule *app)
    : nodes_(nodes), node_(node), port_(port), app_(app), links_(*this, app) {
    links_.reconnectAfter(reconnect_after);
}

void PeerStreams::listen() {
    has_tcp_ = app_->getParentModule()->getSubmodule("tcp") || app_->getModuleByPath("^.tcp");
    if (has_tcp_) links_.listen(port_);
}

void PeerStreams::sendPacket(const PacketTag &tag) {
    if (!has_tcp_)
        throw cRuntimeError("node %d has no TCP (%s)", node_, app_->getParentModule()->getFullPath().c_str());
    if (tag.peer < 0) throw cRuntimeError("interface %d has no broadcast: packets need a peer", tag.interface);
    nodes_.count().stream_packets += 1;
    nodes_.count().stream_bytes += tag.size;
    links_.send(tag);
}

inet::L3Address PeerStreams::addressOf(int node) { return nodes_.addressOf(node); }
int PeerStreams::nodeOf(const inet::L3Address &address) { return nodes_.nodeOf(address); }
void PeerStreams::arrived(const PacketTag &tag) { nodes_.arrival(node_, tag); }
void PeerStreams::lost(const PacketTag &tag) { nodes_.unreachable(tag); }
void PeerStreams::opened() { nodes_.count().opened += 1; }
void PeerStreams::broken() { nodes_.count().broken += 1; }

}  // namespace causeway
