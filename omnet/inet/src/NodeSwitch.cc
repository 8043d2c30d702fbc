#include "NodeSwitch.h"

#include "CoveredMobility.h"
#include "inet/common/ModuleAccess.h"
#include "inet/queueing/contract/IPacketQueue.h"

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

// Empties every queue of the wireless interface. What the MAC itself holds (one frame) is on its way already.
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
