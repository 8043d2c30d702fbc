// The abstract network's model of delay, loss and CPUs. network/networks.py describes its rules.
#pragma once

#include <vector>

#include "Events.h"
#include "LinkTable.h"

namespace causeway {

class Process;

// The medium of all processes of the network. It has no gates: packets are entries of the future event set.
class Medium : public omnetpp::cSimpleModule {
  public:
    int64_t receivePs() const { return recv_ps_; }
    // Returns the time for which a sender's CPU is busy with a packet.
    int64_t sendPs(int size_bytes) const { return send_ps_ + send_ps_per_byte_ * size_bytes; }
    bool sendingTakesTime() const { return send_ps_ > 0 || send_ps_per_byte_ > 0; }

    void add(int node, Process *process);
    // Returns whether packets must leave one after the other, because a link has a queue.
    bool hasQueues() const { return links_.queued(); }
    // Sends a packet that leaves now. If links have queues, they get the packets of an instant in the order of (node,
    // packet).
    void leave(const Action &send);
    void serveLinks();
    // Sends a copy of a packet to every receiver.
    void transmit(const Action &send, int64_t leave_ps);

  protected:
    int numInitStages() const override { return 1; }
    void initialize() override;

  private:
    uint64_t seed_ = 0;
    std::vector<double> delay_quantiles_ns_;
    double loss_ = 0;
    int64_t send_ps_ = 0, send_ps_per_byte_ = 0, recv_ps_ = 0;
    LinkTable links_;
    std::vector<Process *> processes_;
    std::vector<Action> leaving_;  // packets that leave at this instant

    void copyTo(int receiver, const Action &send, int64_t leave_ps);
};

// One receiver's copy of a packet, at the instant at which it reaches the receiver (or would reach it, if it is lost).
class Copy : public Event, public Pooled<Copy> {
  public:
    using Pooled<Copy>::operator new;
    using Pooled<Copy>::operator delete;
    enum Fate : uint8_t { ARRIVES, IS_LOST, REACHES_CPU };

    Process *const receiver;
    const int64_t packet;
    const uint8_t interface;
    const Fate fate;

    Copy(Process *receiver, int64_t packet, uint8_t interface, Fate fate)
        : Event(fate == REACHES_CPU ? kReachPriority : 0),
          receiver(receiver),
          packet(packet),
          interface(interface),
          fate(fate) {}
    void execute() override;
};

}  // namespace causeway
