#include "ProtocolNodes.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "ProtocolApp.h"
#include "inet/common/ModuleAccess.h"
#include "inet/common/Simsignals.h"
#include "inet/common/packet/Packet.h"
#include "inet/networklayer/common/L3AddressResolver.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/networklayer/contract/IInterfaceTable.h"

namespace causeway {

using namespace omnetpp;

bool before(const std::string &a, const std::string &b) {
    const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (digit(a[i]) && digit(b[j])) {
            size_t to_i = i, to_j = j;
            while (to_i < a.size() && digit(a[to_i])) ++to_i;
            while (to_j < b.size() && digit(b[to_j])) ++to_j;
            const int64_t x = std::stoll(a.substr(i, to_i - i)), y = std::stoll(b.substr(j, to_j - j));
            if (x != y) return x < y;
            i = to_i;
            j = to_j;
        } else if (a[i] != b[j]) {
            return a[i] < b[j];
        } else {
            ++i;
            ++j;
        }
    }
    return a.size() < b.size();
}

static void each_module(cModule *module, const std::function<void(cModule *)> &each) {
    each(module);
    for (cModule::SubmoduleIterator it(module); !it.end(); ++it) each_module(*it, each);
}

static bool path_before(cModule *a, cModule *b) { return before(a->getFullPath(), b->getFullPath()); }

ProtocolNodes &ProtocolNodes::ofRun() {
    static std::unique_ptr<ProtocolNodes> nodes;
    static const Bridge *of = nullptr;  // every network has its own bridge
    if (of != &Bridge::instance()) {
        of = &Bridge::instance();
        nodes.reset(new ProtocolNodes());
    }
    return *nodes;
}

ProtocolNodes::ProtocolNodes() : bridge_(Bridge::instance()) {
    std::vector<ProtocolApp *> found;
    cModule *network = getSimulation()->getSystemModule();
    each_module(network, [&](cModule *module) {
        if (auto app = dynamic_cast<ProtocolApp *>(module)) found.push_back(app);
        const char *type = module->getComponentType()->getName();
        if (std::string(type) == "AccessPoint") access_points_.push_back(module->getFullPath());
    });
    std::sort(access_points_.begin(), access_points_.end(), before);
    std::sort(found.begin(), found.end(), path_before);
    number(std::move(found));
    network->subscribe(inet::packetDroppedSignal, this);
}

// A simulation that is started with CAUSEWAY_COUNT_NODES ends here. The controller reads the number from its output.
static void end_if_counting(size_t nodes) {
    if (std::getenv("CAUSEWAY_COUNT_NODES")) throw cTerminationException("causeway: the network has %zu nodes", nodes);
}

void ProtocolNodes::number(std::vector<ProtocolApp *> found) {
    end_if_counting(found.size());
    apps_.resize(found.size());
    for (size_t i = 0; i < found.size(); ++i) {
        const int number = found[i]->par("node");
        const size_t id = number < 0 ? i : number;
        if (id >= found.size())
            throw cRuntimeError("%s has node = %zu; allowed: 0 to %zu", found[i]->getFullPath().c_str(), id,
                                found.size() - 1);
        if (apps_[id])
            throw cRuntimeError("%s and %s both have node = %zu; give them different ones",
                                apps_[id]->getFullPath().c_str(), found[i]->getFullPath().c_str(), id);
        apps_[id] = found[i];
    }
    for (size_t id = 0; id < apps_.size(); ++id) bridge_.registerNode(static_cast<int>(id), apps_[id]);
}

int ProtocolNodes::numberOf(const ProtocolApp *app) const {
    return static_cast<int>(std::find(apps_.begin(), apps_.end(), app) - apps_.begin());
}

inet::L3Address ProtocolNodes::addressOf(int node) {
    inet::L3AddressResolver resolver;
    inet::L3Address address;
    resolver.tryResolve(apps_.at(node)->host()->getFullPath().c_str(), address);
    if (!address.isUnspecified()) by_address_[address] = node;
    return address;
}

int ProtocolNodes::nodeOf(const inet::L3Address &address) {
    auto found = by_address_.find(address);
    if (found != by_address_.end()) return found->second;
    cModule *host = inet::L3AddressResolver().findHostWithAddress(address);
    for (const ProtocolApp *app : apps_) {
        if (host && app->host() == host) return by_address_[address] = app->node();
    }
    return -1;
}

int ProtocolNodes::accessPointOf(const inet::MacAddress &address) {
    const inet::NetworkInterface *interface = inet::L3AddressResolver().findInterfaceWithMacAddress(address);
    if (!interface) return -1;
    const std::string path = inet::getContainingNode(interface)->getFullPath();
    const auto found = std::find(access_points_.begin(), access_points_.end(), path);
    return found == access_points_.end() ? -1 : static_cast<int>(found - access_points_.begin());
}

void ProtocolNodes::eachInterface(cModule *host, const std::function<void(int)> &each) const {
    const inet::IInterfaceTable *table = inet::L3AddressResolver().interfaceTableOf(host);
    for (int i = 0; i < table->getNumInterfaces(); ++i) {
        const inet::NetworkInterface *interface = table->getInterface(i);
        if (!interface->isLoopback() && interface->isUp()) each(interface->getInterfaceId());
    }
}

// ---- events ---------------------------------------------------------------------------------------------------------

void ProtocolNodes::arrival(int node, const PacketTag &tag) {
    counts_.arrived += 1;
    bridge_.emitArrival(node, tag.packet, tag.interface);
}

void ProtocolNodes::unreachable(const PacketTag &tag) {
    counts_.unreachable += 1;
    bridge_.emitLost(tag.peer, tag.packet, tag.interface);
}

void ProtocolNodes::hostSwitched(int node, bool up) {
    if (bridge_.is_up(node) == up) return;
    bridge_.happen({AdapterBase::Due::SWITCH, {Act::NODE, 0, node, up, 0, now_ps(), 0}});
}

// Reports a datagram for one node as lost if a module on its way drops it. A datagram for all nodes may have further
// copies, and TCP sends its segments again.
void ProtocolNodes::receiveSignal(cComponent *, simsignal_t, cObject *object, cObject *details) {
    auto packet = dynamic_cast<inet::Packet *>(object);
    auto drop = dynamic_cast<inet::PacketDropDetails *>(details);
    if (!packet || !drop || packet->getTotalLength() == inet::b(0)) return;
    switch (drop->getReason()) {
        case inet::INCORRECTLY_RECEIVED:  // its MAC may try again, or another datagram was meant
        case inet::NOT_ADDRESSED_TO_US:
        case inet::DUPLICATE_DETECTED:
        case inet::OTHER_PACKET_DROP:
            return;
        default:
            break;
    }
    const PacketTag *tag = find_tag(packet->peekAll().get());
    if (!tag || tag->interface != Interface::WIRELESS || tag->peer < 0) return;
    counts_.lost += 1;
    bridge_.emitLost(tag->peer, tag->packet, tag->interface);
}

void ProtocolNodes::finished() {
    if (++finished_ < apps_.size()) return;
    const std::pair<const char *, double> numbers[] = {
        {"datagrams", counts_.datagrams},
        {"arrived", counts_.arrived},
        {"lost", counts_.lost},
        {"unreachable", counts_.unreachable},
        {"tcp_opened", counts_.opened},
        {"tcp_broken", counts_.broken},
        {"stream_packets", counts_.stream_packets},
        {"stream_bytes", counts_.stream_bytes},
    };
    for (const auto &[name, value] : numbers) bridge_.measure("network", name, value);
    tellNodes();
}

// If a host has several of the applications, each is named by its own path instead of the host's.
void ProtocolNodes::tellNodes() {
    std::map<cModule *, int> on_host;
    for (const ProtocolApp *app : apps_) ++on_host[app->host()];
    for (size_t id = 0; id < apps_.size(); ++id) {
        const cModule *module = apps_[id]->host();
        if (on_host[apps_[id]->host()] > 1) module = apps_[id];
        bridge_.measure(module->getFullPath(), "node", static_cast<double>(id));
    }
}

}  // namespace causeway
