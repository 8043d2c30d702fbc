// One process of the abstract network: a CPU that sends and a CPU that receives, each serving one packet after the
// other.
#pragma once

#include <vector>

#include "Bridge.h"
#include "Medium.h"

namespace causeway {

class Process : public omnetpp::cSimpleModule, public NodeHandler {
  public:
    int node() const { return node_; }

    // ---- NodeHandler ------------------------------------------------------------------------------------------------
    void onSend(const Action &action) override;
    omnetpp::cComponent *component() override { return this; }

    // ---- called by the network's events -----------------------------------------------------------------------------
    void reach(int64_t packet, uint8_t interface);
    void leave(const Action &action, int64_t failures_before);
    void serveWaiting();
    void takeWaiting();

  protected:
    void initialize() override;

  private:
    struct Incoming {
        int64_t packet;
        uint8_t interface;
    };

    int node_ = -1;
    Medium *medium_ = nullptr;
    int64_t send_free_ps_ = 0, recv_free_ps_ = 0;
    std::vector<Action> to_send_;       // SENDs of this instant, while more may follow
    std::vector<Incoming> to_take_in_;  // copies of this instant, while more may follow

    void serve(const Action &action);
    void takeIn(const Incoming &copy);
};

}  // namespace causeway
