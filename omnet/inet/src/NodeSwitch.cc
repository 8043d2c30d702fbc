#include "NodeSwitch.h"

#include "CoveredMobility.h"
#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/linklayer/common/InterfaceTag_m.h"
#include "inet/networklayer/contract/IInterfaceTable.h"
#include "inet/queueing/contract/IPacketQueue.h"
#include "omnet/src/Bridge.h"

namespace causeway {

using namespace omnetpp;

Define_Module(NodeSwitch);

NodeSwitch *NodeSwitch::of(cModule *node) { return dynamic_cast<NodeSwitch *>(node->getSubmodule("switch")); }

int NodeSwitch::numInitStages() const { return inet::NUM_INIT_STAGES; }

void NodeSwitch::initialize(int stage) {
    if (stage == inet::INITSTAGE_NETWORK_LAYER) {
        cModule *ip = getParentModule()->getModuleByPath(".ipv4.ip");
        inet::check_and_cast<inet::INetfilter *>(ip)->registerHook(0, this);
    }
}

int NodeSwitch::other_end(const inet::Packet *packet) const {
    const auto came = packet->findTag<inet::InterfaceInd>();
    auto table = check_and_cast<inet::IInterfaceTable *>(getParentModule()->getSubmodule("interfaceTable"));
    const inet::NetworkInterface *interface = came ? table->getInterfaceById(came->getInterfaceId()) : nullptr;
    if (!interface || interface->findGate("phys$i") < 0) return -1;
    const cModule *sender = interface->gate("phys$i")->getPathStartGate()->getOwnerModule();
    cModule *node = inet::findContainingNode(sender);
    return node && node->hasPar("nodeId") ? static_cast<int>(node->par("nodeId").intValue()) : -1;
}

// Drops a datagram that arrives over a failed link.
NodeSwitch::Result NodeSwitch::datagramPreRoutingHook(inet::Packet *packet) {
    static const bool bridged = Bridge::configured();
    if (bridged && !Bridge::instance().network_faults().empty()) {
        const int from = other_end(packet), to = static_cast<int>(par("nodeId").intValue());
        if (from >= 0 && Bridge::instance().network_faults().cut(from, to, now_ps())) return DROP;
    }
    return pass();
}

// Empties every queue of the wireless interface. The frame in the MAC itself is already being sent.
static void flush(cModule *module) {
    if (auto queue = dynamic_cast<inet::queueing::IPacketQueue *>(module)) {
        queue->removeAllPackets();
        return;
    }
    for (cModule::SubmoduleIterator it(module); !it.end(); ++it) flush(*it);
}

void flush_interfaces(cModule *node) {
    for (int i = 0, n = node->getSubmoduleVectorSize("wlan"); i < n; ++i) flush(node->getSubmodule("wlan", i));
}

void NodeSwitch::setUp(bool up) {
    Enter_Method("setUp");
    up_ = up;
    cModule *node = getParentModule();
    if (auto mobility = dynamic_cast<CoveredMobility *>(node->getSubmodule("mobility"))) mobility->setUp(up);
    if (!up) flush_interfaces(node);
}

}  // namespace causeway
