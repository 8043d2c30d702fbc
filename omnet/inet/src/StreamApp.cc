#include "StreamApp.h"

#include "StationWatcher.h"
#include "inet/common/ModuleAccess.h"

namespace causeway {

using namespace omnetpp;

Define_Module(StreamApp);

int StreamApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void StreamApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        node_ = par("nodeId");
        interface_ = par("interface");
        links_.reconnectAfter(par("reconnectAfter"));
        adapter_ = Adapter::find(this);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER && adapter_) {
        adapter_->addSender(node_, interface_, this);
        links_.listen(static_cast<int>(par("port").intValue()) + interface_);
    } else if (stage == inet::INITSTAGE_LAST && adapter_) {
        openWires();
        if (par("followStation")) {
            cModule *watcher = inet::getContainingNode(this)->getParentModule()->getSubmodule("watcher");
            check_and_cast<StationWatcher *>(watcher)->onChange([this](int node, int to) {
                if (node == node_) follow(to);
            });
        }
    }
}

void StreamApp::openWires() {
    auto wires = check_and_cast_nullable<cValueArray *>(par("wires").objectValue());
    for (int i = 0; wires && i < wires->size(); ++i) {
        auto ends = check_and_cast<cValueArray *>((*wires)[i].objectValue());
        const int from = (*ends)[0].intValue(), to = (*ends)[1].intValue();
        if (from == node_) links_.open(to);
        if (to == node_) awaited_.insert(from);
    }
}

// A host at a new station closes the connection to the old one. The first packet opens the new connection, so hosts do
// not all open connections at the same instant.
void StreamApp::follow(int station) {
    Enter_Method("follow");
    const int old = station_;
    station_ = station;
    if (old >= 0) links_.leave(old);
}

void StreamApp::sendPacket(const PacketTag &tag) {
    Enter_Method("sendPacket");
    if (tag.peer < 0) throw cRuntimeError("interface %d has no broadcast: packets need a peer", interface_);
    if (interface_ == Interface::WIRE) adapter_->wireSent(tag.size);
    links_.send(tag);
}

void StreamApp::handleMessage(cMessage *message) {
    if (!links_.take(message)) delete message;  // of a connection that is over
}

inet::L3Address StreamApp::addressOf(int node) {
    const inet::L3Address to = adapter_->addressOf(node, interface_);
    if (to.isUnspecified()) throw cRuntimeError("node %d cannot be reached over interface %d", node, interface_);
    return to;
}

}  // namespace causeway
