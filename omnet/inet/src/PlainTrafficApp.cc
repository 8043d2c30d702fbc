#include "PlainTrafficApp.h"

#include "inet/common/InitStages.h"

namespace causeway {

Define_Module(PlainTrafficApp);

void PlainTrafficApp::initialize(int stage) {
    DatagramApp::initialize(stage);
    if (stage == inet::INITSTAGE_APPLICATION_LAYER) {
        timer = new omnetpp::cMessage("send");
        scheduleNext();
    }
}

void PlainTrafficApp::scheduleNext() {
    const double rate = par("rate");
    if (rate > 0) scheduleAfter(exponential(1.0 / rate), timer);
}

void PlainTrafficApp::handleMessage(omnetpp::cMessage *message) {
    if (message != timer) return DatagramApp::handleMessage(message);
    PacketTag tag;
    tag.source = nodeId;
    tag.size = par("messageLength");
    sendPacket(tag);
    scheduleNext();
}

}  // namespace causeway
