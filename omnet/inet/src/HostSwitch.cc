#include "HostSwitch.h"

#include "NodeSwitch.h"

namespace causeway {

using namespace omnetpp;

// Registers with every network layer of the host (IPv4, IPv6), before the hooks of its routing protocols.
void HostSwitch::hook(cModule *module) {
    if (auto layer = dynamic_cast<inet::INetfilter *>(module)) layer->registerHook(-1, this);
    for (cModule::SubmoduleIterator it(module); !it.end(); ++it) hook(*it);
}

void HostSwitch::setUp(bool up) {
    up_ = up;
    if (!up) flush_interfaces(host_);
}

}  // namespace causeway
