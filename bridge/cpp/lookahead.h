// The lookaheads that nodes have declared for topics: see Lookahead in bridge/events.py.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "causeway.pb.h"

namespace causeway {

class LookaheadTable {
  public:
    // Records the topic of a packet.
    void sent(int64_t packet, uint8_t topic) { recent_[packet & (kRecent - 1)] = {packet, topic}; }

    // Records a declared lookahead.
    void declare(int32_t node, uint8_t topic, int64_t lookahead_ps) {
        if (lookahead_ps_.size() <= static_cast<size_t>(node)) lookahead_ps_.resize(node + 1);
        lookahead_ps_[node][topic] = lookahead_ps;
    }

    // Returns the lookahead that the node has declared for this packet's topic; 0 if it has not.
    int64_t of(int32_t node, int64_t packet) const {
        if (static_cast<size_t>(node) >= lookahead_ps_.size()) return 0;  // node -1 (everyone), too
        const Sent &sent = recent_[packet & (kRecent - 1)];
        return sent.packet == packet ? lookahead_ps_[node][sent.topic] : 0;
    }

  private:
    // The number of recent packets whose topics are stored. An older packet counts as one without a topic: it closes
    // its window, which is always correct.
    static constexpr size_t kRecent = 1 << 12;
    struct Sent {
        int64_t packet = -1;
        uint8_t topic = 0;
    };
    std::vector<Sent> recent_ = std::vector<Sent>(kRecent);
    std::vector<std::array<int64_t, Constant::TOPICS>> lookahead_ps_;  // by node, up to the last one with a lookahead
};

}  // namespace causeway
