// What nodes need not be told at once: see Patience in bridge/events.py.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "causeway.pb.h"

namespace causeway {

class PatienceTable {
  public:
    // The packet is about this topic.
    void sent(int64_t packet, uint8_t topic) { recent_[packet & (kRecent - 1)] = {packet, topic}; }

    void promise(int32_t node, uint8_t topic, int64_t patience_ps) {
        if (patience_ps_.size() <= static_cast<size_t>(node)) patience_ps_.resize(node + 1);
        patience_ps_[node][topic] = patience_ps;
    }

    // How long after its arrival the node does nothing about this packet; 0 if nobody promised anything.
    int64_t of(int32_t node, int64_t packet) const {
        if (static_cast<size_t>(node) >= patience_ps_.size()) return 0;  // so is node -1, everybody
        const Sent &sent = recent_[packet & (kRecent - 1)];
        return sent.packet == packet ? patience_ps_[node][sent.topic] : 0;
    }

  private:
    // The topics of so many packets with a topic are kept, the last ones. One that is forgotten has none: it closes its
    // window, which is always right.
    static constexpr size_t kRecent = 1 << 12;
    struct Sent {
        int64_t packet = -1;
        uint8_t topic = 0;
    };
    std::vector<Sent> recent_ = std::vector<Sent>(kRecent);
    std::vector<std::array<int64_t, Constant::TOPICS>> patience_ps_;  // by node; none promised: empty
};

}  // namespace causeway
