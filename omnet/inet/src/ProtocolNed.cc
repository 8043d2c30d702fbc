// Adds the protocol's application to the hosts that the ini file names: `causeway-nodes = "**.host[*]"`.
//
// The NED texts of the application and of the vehicles' mobility are in this library, and the application itself is
// made when the network is built and not yet initialized: neither the NED path nor the network's own numApps changes.
#include <omnetpp/cconfigoption.h>

#include <functional>
#include <string>
#include <vector>

#include "omnet/src/Bridge.h"

using namespace omnetpp;

namespace causeway {

static const char kNed[] = R"ned(
package org.causeway;

import inet.applications.contract.IApp;

//
// The protocol's application in a host of any INET network. Interface 0: a packet is a UDP datagram, to a node
// (wherever INET's routes lead) or to all nodes on the links of the host. Interfaces 1 and 2: packets in the byte
// stream of one TCP connection for each pair of nodes.
//
simple ProtocolApp like IApp
{
    parameters:
        int node = default(-1);                          // -1: its index among all of them, in the order of NED paths
        int port = default(27182);                       // of UDP and TCP
        string group = default("");                      // "": 255.255.255.255 (IPv6: ff02::1); or a multicast group
        double positionEvery @unit(s) = default(0s);     // 0: report positions at the start and at access points
        double reconnectAfter @unit(s) = default(1s);
        @class(causeway::ProtocolApp);
        @display("i=block/app");
        @lifecycleSupport;
    gates:
        input socketIn @labels(ITransportPacket/up);
        output socketOut @labels(ITransportPacket/down);
}
)ned";

static const char kSumoNed[] = R"ned(
package org.causeway;

import inet.mobility.base.MovingMobilityBase;

//
// The mobility of a host that is a vehicle of SUMO. While no vehicle drives, the host is far away from all others, so
// that no frame reaches it or comes from it.
//
simple SumoMobility extends MovingMobilityBase
{
    parameters:
        double awayX @unit(m) = default(2000km);     // where the host is while it is no vehicle
        double awayY @unit(m) = default(2000km);
        double awayZ @unit(m) = default(0m);
        updateInterval = default(0s);                // no module needs signals of every step
        @class(causeway::SumoMobility);
}
)ned";

EXECUTE_ON_STARTUP(cSimulation::loadNedText("org.causeway.ProtocolApp", kNed, "org.causeway"));
EXECUTE_ON_STARTUP(cSimulation::loadNedText("org.causeway.SumoMobility", kSumoNed, "org.causeway"));

Register_PerRunConfigOption(CFGID_CAUSEWAY_NODES, "causeway-nodes", CFG_STRING, "",
                            "The hosts that take part in the controller's protocol: patterns of their NED paths, "
                            "separated by spaces. Each gets an org.causeway.ProtocolApp, named `causeway`.");

// Connects the application's socket gates with the host's dispatcher.
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

static void each_module(cModule *module, const std::function<void(cModule *)> &each) {
    each(module);
    for (cModule::SubmoduleIterator it(module); !it.end(); ++it) each_module(*it, each);
}

// Returns the transports that a host lacks: interface 0 needs UDP, interfaces 1 and 2 need TCP.
static std::vector<std::string> lacking(cModule *host) {
    std::vector<std::string> found;
    if (!host->getSubmodule("udp")) found.push_back("Udp");
    if (!host->getSubmodule("tcp")) found.push_back("Tcp");
    return found;
}

static std::string joined(const std::vector<std::string> &words) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) text += (i ? " and " : "") + words[i];
    return text;
}

// Refuses a host without the transports. INET's own error, "Unknown protocol" in a dispatcher, would not name the host.
static void check_transports(const char *pattern, cModule *host) {
    std::vector<std::string> missing, settings;
    for (const std::string &name : lacking(host)) {
        missing.push_back(name == "Udp" ? "UDP" : "TCP");
        settings.push_back(host->getFullPath() + ".has" + name + " = true");
    }
    if (missing.empty()) return;
    throw cRuntimeError(
        "causeway-nodes: '%s' matches %s (%s), which has no %s; let it match hosts only, or write %s in the ini file",
        pattern, host->getFullPath().c_str(), host->getComponentType()->getName(), joined(missing).c_str(),
        joined(settings).c_str());
}

// Attaches to every host that the pattern matches.
static void attach_matching(const char *text) {
    const cPatternMatcher pattern(text, true, true, true);
    std::vector<cModule *> hosts;
    cModule *other = nullptr;  // a switch, an access point, a host of Ethernet alone
    cModule *network = getSimulation()->getSystemModule();
    each_module(network, [&](cModule *module) {
        if (!pattern.matches(module->getFullPath().c_str())) return;
        if (module->getSubmodule("at"))
            hosts.push_back(module);
        else if (!other && module->getProperties()->getAsBool("networkNode"))
            other = module;
    });
    if (hosts.empty() && other)
        throw cRuntimeError(
            "causeway-nodes: '%s' matches %s (%s), which has neither IP nor applications; the protocol needs hosts "
            "with both, such as StandardHost: put those in network %s, or let the pattern match others",
            text, other->getFullPath().c_str(), other->getComponentType()->getName(), network->getFullName());
    if (hosts.empty())
        throw cRuntimeError("causeway-nodes: '%s' matches no host with applications in network %s", text,
                            network->getFullName());
    for (cModule *host : hosts) check_transports(text, host);
    for (cModule *host : hosts) {
        if (!host->getSubmodule("causeway")) attach(host, host->getSubmodule("at"));
    }
}

// Called when the network is built, before it is initialized.
static void attach_to_hosts() {
    const std::string patterns = getEnvir()->getConfig()->getAsString(CFGID_CAUSEWAY_NODES);
    for (const std::string &text : cStringTokenizer(patterns.c_str()).asVector()) attach_matching(text.c_str());
}

EXECUTE_ON_STARTUP(Bridge::beforeInitialize(attach_to_hosts));

}  // namespace causeway
