#include "Adapter.h"

#include "CoveredMobility.h"
#include "NodeSwitch.h"
#include "bridge/cpp/path.h"
#include "inet/common/InitStages.h"
#include "inet/networklayer/common/NetworkInterface.h"
#include "inet/networklayer/contract/IInterfaceTable.h"
#include "inet/networklayer/ipv4/Ipv4InterfaceData.h"

namespace causeway {

using namespace omnetpp;

Define_Module(Adapter);

static constexpr int FIRST_PORT = 49152;  // the first of IANA's dynamic ports

Adapter *Adapter::find(cModule *inside) {
    for (cModule *m = inside; m; m = m->getParentModule()) {
        for (const char *name : {"adapter", "edge"}) {  // "edge": its former name
            if (auto adapter = dynamic_cast<Adapter *>(m->getSubmodule(name))) return adapter;
        }
    }
    return nullptr;
}

int Adapter::numInitStages() const { return inet::NUM_INIT_STAGES; }

void Adapter::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        bridge_ = &Bridge::instance();
        findNodes();
        checkSetup();
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER) {
        findAddresses();
    }
}

void Adapter::finish() {
    measure("wire_packets", wire_packets_);
    measure("wire_bytes", wire_bytes_);
    measure("tcp_opened", opened_);
    measure("tcp_broken", broken_);
}

// Finds the modules with a node id. Ids are dense, from 0.
void Adapter::findNodes() {
    for (cModule::SubmoduleIterator it(getParentModule()); !it.end(); ++it) {
        cModule *module = *it;
        if (!module->hasPar("nodeId")) continue;
        const size_t id = module->par("nodeId").intValue();
        if (id >= nodes_.size()) nodes_.resize(id + 1);
        if (nodes_[id]) throw cRuntimeError("two nodes have the id %zu", id);
        nodes_[id] = std::make_unique<End>();
        nodes_[id]->module = module;
        nodes_[id]->on_off = NodeSwitch::of(module);
        bridge_->registerNode(static_cast<int>(id), nodes_[id].get());
    }
    for (size_t id = 0; id < nodes_.size(); ++id) {
        if (!nodes_[id]) throw cRuntimeError("no node has the id %zu; ids must be dense, from 0", id);
    }
}

// Checks that the network of the ini file has as many nodes as the controller's description, if there is one.
void Adapter::checkSetup() const {
    const Setup &setup = bridge_->setup();
    if (!setup.has_mobile_network()) return;
    const auto &wanted = setup.mobile_network();
    const size_t count = wanted.station_x_mm().size() / sizeof(int32_t) + wanted.hosts();
    if (count != nodes_.size()) {
        throw cRuntimeError("the study has %zu nodes, the network of the ini file has %zu; change one of them", count,
                            nodes_.size());
    }
}

static int32_t mm(double metres) { return static_cast<int32_t>(std::lround(metres * 1000)); }

void Adapter::moved(int node, int station, const inet::Coord &at) {
    bridge_->emitStation(node, station, mm(at.x), mm(at.y), mm(at.z));
}

void Adapter::placed(int node, const inet::Coord &at) { bridge_->tellPlace(node, mm(at.x), mm(at.y), mm(at.z)); }

void Adapter::End::onSend(const Action &action) {
    PacketSender *sender = action.interface < senders.size() ? senders[action.interface] : nullptr;
    if (!sender) throw cRuntimeError("node %d has no interface %d", action.node, action.interface);
    if (action.size_bytes <= 0) throw cRuntimeError("packet %ld has no length", static_cast<long>(action.ref));
    PacketTag tag;
    tag.packet = action.ref;
    tag.source = action.node;
    tag.peer = action.peer;
    tag.size = action.size_bytes;
    tag.interface = action.interface;
    sender->sendPacket(tag);
}

void Adapter::End::onConnection(const Action &action) {
    if (!connections) {
        throw cRuntimeError("%s has no TCP connections: give it a ConnectionApp", module->getFullPath().c_str());
    }
    connections->act(action);
}

void Adapter::End::onMove(const Action &action) {
    auto mobility = dynamic_cast<CoveredMobility *>(module->getSubmodule("mobility"));
    if (!mobility) throw cRuntimeError("%s cannot MOVE: give it a CoveredMobility", module->getFullPath().c_str());
    const auto [x_mm, y_mm] = unpack_position(action.ref);
    if (Bridge::instance().is_up(action.node)) {
        mobility->go(x_mm, y_mm, action.peer, action.size_bytes);
    } else {
        mobility->put(x_mm, y_mm, action.peer);
    }
}

void Adapter::End::onNode(bool up) {
    if (connections && !up) connections->forget();
    if (!on_off) throw cRuntimeError("%s cannot go down: give it a NodeSwitch", module->getFullPath().c_str());
    on_off->setUp(up);
}

void Adapter::findAddresses() {
    for (size_t id = 0; id < nodes_.size(); ++id) {
        auto table = check_and_cast<inet::IInterfaceTable *>(nodes_[id]->module->getSubmodule("interfaceTable"));
        for (int i = 0; i < table->getNumInterfaces(); ++i) {
            const inet::NetworkInterface *interface = table->getInterface(i);
            const inet::L3Address address = interface->getNetworkAddress();
            if (interface->isLoopback() || address.isUnspecified()) continue;
            by_address_[address] = static_cast<int>(id);
            inet::L3Address &slot =
                nodes_[id]->addresses[interface->isWireless() ? Interface::WIRELESS : Interface::WIRE];
            if (slot.isUnspecified()) slot = address;
        }
    }
}

void Adapter::addSender(int node, int interface, PacketSender *sender) {
    nodes_.at(node)->senders.at(interface) = sender;
}

void Adapter::addConnections(int node, ConnectionUser *user) { nodes_.at(node)->connections = user; }

// Returns dynamic ports, which no server uses, in ascending order.
int Adapter::opens(int node, int64_t connection) {
    int &last = nodes_.at(node)->last_port;
    last = last < FIRST_PORT || last == Constant::LAST_PORT ? FIRST_PORT : last + 1;
    coming_[{node, last}] = connection;
    return last;
}

int64_t Adapter::accepts(int node, int port) {
    const auto found = coming_.find({node, port});
    if (found == coming_.end()) return -1;
    const int64_t connection = found->second;
    coming_.erase(found);
    return connection;
}

void Adapter::gaveUp(int64_t connection) {
    for (auto it = coming_.begin(); it != coming_.end(); ++it) {
        if (it->second != connection) continue;
        coming_.erase(it);
        return;
    }
}

inet::L3Address Adapter::addressOf(int node, int interface) const {
    if (node < 0 || node >= static_cast<int>(nodes_.size()))
        throw cRuntimeError("there is no node %d to send to", node);
    return nodes_[node]->addresses[interface == Interface::WIRE ? Interface::WIRE : Interface::WIRELESS];
}

int Adapter::nodeOf(const inet::L3Address &address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? -1 : found->second;
}

}  // namespace causeway
