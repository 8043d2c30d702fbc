// Puts the protocol's application onto the hosts that the ini file names: `causeway-nodes = "**.host[*]"`.
//
// The application's NED text is in this library, and the application itself is made when the network is there and not
// yet initialized: neither a NED path nor the network's own numApps is touched.
#include <omnetpp/cconfigoption.h>

#include <string>

#include "omnet/src/Bridge.h"

using namespace omnetpp;

namespace causeway {

static const char kNed[] = R"ned(
package org.causeway;

import inet.applications.contract.IApp;

//
// The protocol's end in a host of any INET network. Interface 0: a packet is a UDP datagram, to a node (wherever INET's
// routes lead) or to everyone on the links of the host. Interfaces 1 and 2: packets in the byte stream of one TCP
// connection for each pair of nodes.
//
simple ProtocolApp like IApp
{
    parameters:
        int node = default(-1);                          // -1: its place among all of them, in the order of NED paths
        int port = default(27182);                       // of UDP and TCP
        string group = default("");                      // "": 255.255.255.255 (IPv6: ff02::1); or a multicast group
        double positionEvery @unit(s) = default(0s);     // 0: the place is told at the start, and at an access point
        double reconnectAfter @unit(s) = default(1s);
        @class(causeway::ProtocolApp);
        @display("i=block/app");
        @lifecycleSupport;
    gates:
        input socketIn @labels(ITransportPacket/up);
        output socketOut @labels(ITransportPacket/down);
}
)ned";

EXECUTE_ON_STARTUP(cSimulation::loadNedText("org.causeway.ProtocolApp", kNed, "org.causeway"));

Register_PerRunConfigOption(CFGID_CAUSEWAY_NODES, "causeway-nodes", CFG_STRING, "",
                            "The hosts that take part in the controller's protocol: patterns of their NED paths, "
                            "separated by spaces. Each gets an org.causeway.ProtocolApp, named `causeway`.");

// An inout pair of gates, the application's sockets and the host's dispatcher of sockets.
static void connect(cModule *app, cModule *dispatcher) {
    app->gate("socketOut")->connectTo(dispatcher->getOrCreateFirstUnconnectedGate("in", 0, false, true));
    dispatcher->getOrCreateFirstUnconnectedGate("out", 0, false, true)->connectTo(app->gate("socketIn"));
}

static void attach(cModule *host, cModule *dispatcher) {
    cModule *app = cModuleType::get("org.causeway.ProtocolApp")->create("causeway", host);
    app->finalizeParameters();
    app->buildInside();
    connect(app, dispatcher);
}

static int attach_matching(cModule *module, const cPatternMatcher &pattern) {
    int found = 0;
    if (pattern.matches(module->getFullPath().c_str())) {
        cModule *dispatcher = module->getSubmodule("at");
        if (dispatcher) {
            ++found;
            if (!module->getSubmodule("causeway")) attach(module, dispatcher);
        }
    }
    for (cModule::SubmoduleIterator it(module); !it.end(); ++it) found += attach_matching(*it, pattern);
    return found;
}

// Called when the network is there, before it is initialized.
static void attach_to_hosts() {
    const std::string patterns = getEnvir()->getConfig()->getAsString(CFGID_CAUSEWAY_NODES);
    for (const std::string &text : cStringTokenizer(patterns.c_str()).asVector()) {
        const cPatternMatcher pattern(text.c_str(), true, true, true);
        cModule *network = getSimulation()->getSystemModule();
        if (attach_matching(network, pattern) == 0) {
            throw cRuntimeError("causeway-nodes: '%s' matches no host with applications in network %s", text.c_str(),
                                network->getFullName());
        }
    }
}

EXECUTE_ON_STARTUP(Bridge::beforeInitialize(attach_to_hosts));

}  // namespace causeway
