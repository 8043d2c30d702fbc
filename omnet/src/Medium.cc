#include "Medium.h"

#include <algorithm>
#include <tuple>

#include "Process.h"
#include "bridge/cpp/random.h"

using namespace omnetpp;

namespace causeway {

Define_Module(Medium);

namespace {

// Sends the packets of an instant over the links, after all of them have left.
class LinkService : public Event, public Pooled<LinkService> {
  public:
    using Pooled<LinkService>::operator new;
    using Pooled<LinkService>::operator delete;
    explicit LinkService(Medium *medium) : Event(kLinkPriority), medium_(medium) {}
    void execute() override {
        medium_->serveLinks();
        delete this;
    }

  private:
    Medium *medium_;
};

}  // namespace

void Medium::initialize() {
    const Setup &setup = Bridge::instance().setup();
    if (!setup.has_abstract_network())
        throw cRuntimeError("causeway: this study does not describe an abstract network");
    const AbstractNetwork &network = setup.abstract_network();
    seed_ = setup.seed();
    delay_quantiles_ns_ = numbers<double>(network.delay_quantiles_ns());
    loss_ = network.loss();
    send_ps_ = network.send_ps();
    send_ps_per_byte_ = network.send_ps_per_byte();
    recv_ps_ = network.recv_ps();
    links_ = LinkTable(network, seed_);
}

void Medium::add(int node, Process *process) {
    if (node >= static_cast<int>(processes_.size())) processes_.resize(node + 1);
    processes_[node] = process;
}

void Medium::leave(const Action &send) {
    if (!links_.queued()) {
        transmit(send, now_ps());
        return;
    }
    if (leaving_.empty()) (new LinkService(this))->scheduleAt(now_ps());
    leaving_.push_back(send);
}

void Medium::serveLinks() {
    std::sort(leaving_.begin(), leaving_.end(),
              [](const Action &a, const Action &b) { return std::tie(a.node, a.ref) < std::tie(b.node, b.ref); });
    for (const Action &send : leaving_) transmit(send, now_ps());
    leaving_.clear();
}

void Medium::transmit(const Action &send, int64_t leave_ps) {
    if (send.peer != Constant::BROADCAST_PEER) {
        copyTo(send.peer, send, leave_ps);
        return;
    }
    for (int receiver = 0; receiver < static_cast<int>(processes_.size()); ++receiver) {
        if (receiver != send.node) copyTo(receiver, send, leave_ps);
    }
}

void Medium::copyTo(int receiver, const Action &send, int64_t leave_ps) {
    if (receiver < 0 || receiver >= static_cast<int>(processes_.size())) {
        throw cRuntimeError("causeway: packet %lld goes to node %d, which does not exist",
                            static_cast<long long>(send.ref), receiver);
    }
    int64_t delay_ps =
        round_ns_to_ps(from_table(delay_quantiles_ns_.data(), draw(seed_, RandomStream::DELAY, send.ref, receiver)));
    Copy::Fate fate = recv_ps_ > 0 ? Copy::REACHES_CPU : Copy::ARRIVES;
    if (!links_.empty()) {
        const int64_t latency_ps = links_.latency(send.node, receiver);
        if (latency_ps == LinkTable::kNoLink) {
            if (send.peer == Constant::BROADCAST_PEER) return;
            fate = Copy::IS_LOST;
        } else {
            const int64_t there_ps = links_.send(send.node, receiver, leave_ps, send.size_bytes);
            const bool no_room = there_ps == LinkTable::kNoRoom;
            if (no_room || links_.loses(send.node, receiver, send.ref)) fate = Copy::IS_LOST;
            delay_ps += no_room ? latency_ps : there_ps;
        }
    }
    if (loss_ > 0.0 && unit(draw(seed_, RandomStream::LOSS, send.ref, receiver)) < loss_) fate = Copy::IS_LOST;
    if (Bridge::instance().network_faults().cut(send.node, receiver, leave_ps)) fate = Copy::IS_LOST;
    (new Copy(processes_[receiver], send.ref, send.interface, fate))
        ->scheduleAt(leave_ps + std::max<int64_t>(Constant::MIN_DELAY_PS, delay_ps));
}

void Copy::execute() {
    switch (fate) {
        case ARRIVES:
            Bridge::instance().emitArrival(receiver->node(), packet, interface);
            break;
        case IS_LOST:
            Bridge::instance().emitLost(receiver->node(), packet, interface);
            break;
        case REACHES_CPU:
            receiver->reach(packet, interface);
            break;
    }
    delete this;
}

}  // namespace causeway
