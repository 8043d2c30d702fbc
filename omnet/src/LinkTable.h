// Links that differ between sites: latencies, losses and queues; the rules are those of network/networks.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bridge/cpp/columns.h"
#include "bridge/cpp/random.h"
#include "causeway.pb.h"

namespace causeway {

class LinkTable {
  public:
    static constexpr int64_t kNoLink = Constant::NO_LINK_PS, kNoRoom = -2;

    LinkTable() = default;
    LinkTable(const AbstractNetwork &network, uint64_t seed)
        : seed_(seed),
          queue_bytes_(static_cast<double>(network.link_queue_bytes())),
          site_(numbers<int32_t>(network.site())),
          delay_ps_(numbers<int64_t>(network.link_delay_ps())),
          loss_(numbers<double>(network.link_loss())),
          bps_(numbers<int64_t>(network.link_bps())),
          free_ps_(bps_.size(), 0) {
        while (sites_ * sites_ < delay_ps_.size()) ++sites_;
    }

    bool empty() const { return site_.empty(); }
    // Returns whether some link sends copies one after the other.
    bool queued() const { return !bps_.empty(); }

    // Returns the latency between the sites of two nodes, or kNoLink.
    int64_t latency(int from, int to) const { return delay_ps_[row(from, to)]; }

    // Sends a copy, which leaves at an instant. Returns its time on the link, or kNoRoom if the queue is full or it
    // would take for ever.
    int64_t send(int from, int to, int64_t leave_ps, int32_t size_bytes) {
        const size_t link = row(from, to);
        if (bps_.empty() || bps_[link] == 0) return delay_ps_[link];
        const auto bps = static_cast<double>(bps_[link]);
        const int64_t start_ps = std::max(leave_ps, free_ps_[link]);
        if (queue_bytes_ > 0 && static_cast<double>(start_ps - leave_ps) * bps / (8.0 * kBitPs) > queue_bytes_)
            return kNoRoom;
        const double bits = static_cast<double>(8 * static_cast<int64_t>(size_bytes));
        const double busy_ps = std::ceil(bits * kBitPs / bps);
        if (static_cast<double>(start_ps) + busy_ps > kLatestPs) return kNoRoom;
        free_ps_[link] = start_ps + static_cast<int64_t>(busy_ps);
        return free_ps_[link] - leave_ps + delay_ps_[link];
    }

    // Returns whether the link loses a copy.
    bool loses(int from, int to, int64_t packet) const {
        return !loss_.empty() && unit(draw(seed_, RandomStream::LINKS, packet, to)) < loss_[row(from, to)];
    }

  private:
    static constexpr double kBitPs = 1e12;
    static constexpr double kLatestPs = 4611686018427387903.0;  // LATEST_PS
    uint64_t seed_ = 0;
    double queue_bytes_ = 0;
    std::vector<int32_t> site_;
    std::vector<int64_t> delay_ps_;
    std::vector<double> loss_;
    std::vector<int64_t> bps_, free_ps_;
    size_t sites_ = 0;

    size_t row(int from, int to) const { return site_[from] * sites_ + site_[to]; }
};

}  // namespace causeway
