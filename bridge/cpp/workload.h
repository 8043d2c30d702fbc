// The workload and scripted failures of nodes; network/workload.py gives exactly the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bridge/cpp/columns.h"
#include "bridge/cpp/contract.h"
#include "bridge/cpp/random.h"
#include "causeway.pb.h"

namespace causeway {

// The broadcasts of a run in order. `time_ps` is kNever if there are no more.
class Broadcasts {
  public:
    int64_t time_ps = kNever;
    int32_t node = 0;
    int32_t size_bytes = 0;
    int64_t number = -1;

    Broadcasts() = default;
    Broadcasts(const Workload &workload, uint64_t seed)
        : seed_(seed),
          first_node_(workload.first_node()),
          nodes_(workload.nodes()),
          messages_(workload.messages()),
          poisson_size_(workload.size_bytes()),
          start_ps_(numbers<int64_t>(workload.segment_start_ps())),
          mean_ns_(numbers<double>(workload.segment_mean_ns())),
          hot_share_(numbers<double>(workload.segment_hot_share())),
          hot_nodes_(numbers<int32_t>(workload.segment_hot_nodes())),
          exponential_(numbers<double>(workload.exponential_quantiles())),
          script_time_ps_(numbers<int64_t>(workload.script_time_ps())),
          script_node_(numbers<int32_t>(workload.script_node())),
          script_size_(numbers<int32_t>(workload.script_size())) {
        time_ps = 0;
        next();
    }

    // Advances to the next broadcast.
    void next() {
        if (time_ps == kNever) return;
        ++number;
        if (!script_time_ps_.empty()) {
            next_of_script();
        } else if (start_ps_.empty() || (messages_ > 0 && number >= messages_)) {
            time_ps = kNever;
        } else {
            next_of_chain();
        }
    }

  private:
    uint64_t seed_ = 0;
    int32_t first_node_ = 0, nodes_ = 0;
    int64_t messages_ = 0;
    int32_t poisson_size_ = 0;
    std::vector<int64_t> start_ps_;
    std::vector<double> mean_ns_, hot_share_;
    std::vector<int32_t> hot_nodes_;
    std::vector<double> exponential_;
    std::vector<int64_t> script_time_ps_;
    std::vector<int32_t> script_node_, script_size_;
    int64_t latest_ps_ = exactly_of(Constant::LATEST_PS);

    void next_of_script() {
        if (number >= static_cast<int64_t>(script_time_ps_.size())) {
            time_ps = kNever;
            return;
        }
        time_ps = script_time_ps_[number];
        node = script_node_[number];
        size_bytes = script_size_[number];
    }

    // The exponential is consumed segment by segment: in a segment with mean m, a time of d ns consumes d / m of it.
    void next_of_chain() {
        double left = from_table(exponential_.data(), draw(seed_, RandomStream::INTERVAL, number, 0));
        size_t segment = std::upper_bound(start_ps_.begin(), start_ps_.end(), time_ps) - start_ps_.begin() - 1;
        while (true) {
            const int64_t end_ps = segment + 1 < start_ps_.size() ? start_ps_[segment + 1] : kNever;
            const double mean = mean_ns_[segment];
            if (mean > 0.0) {
                const int64_t wait_ps = round_ns_to_ps(left * mean);
                if (end_ps == kNever || time_ps + wait_ps < end_ps) {
                    time_ps += wait_ps;
                    break;
                }
                left = std::max(0.0, left - (static_cast<double>(end_ps - time_ps) / 1000.0) / mean);
            } else if (end_ps == kNever) {
                time_ps = kNever;
                return;
            }
            time_ps = end_ps;
            ++segment;
        }
        if (time_ps > latest_ps_) {  // so that times can be added without overflow
            time_ps = kNever;
            return;
        }
        int64_t senders = nodes_;
        if (hot_nodes_[segment] > 0 && unit(draw(seed_, RandomStream::HOT, number, 0)) < hot_share_[segment]) {
            senders = hot_nodes_[segment];
        }
        node = first_node_ + static_cast<int32_t>(below(draw(seed_, RandomStream::SENDER, number, 0), senders));
        size_bytes = poisson_size_;
    }
};

// The scripted failures of a run, ascending in time.
struct FaultRows {
    std::vector<int64_t> time_ps;
    std::vector<int32_t> node;
    std::vector<uint8_t> up;

    FaultRows() = default;
    explicit FaultRows(const Faults &faults)
        : time_ps(numbers<int64_t>(faults.time_ps())),
          node(numbers<int32_t>(faults.node())),
          up(numbers<uint8_t>(faults.up())) {}
    size_t size() const { return time_ps.size(); }
};

}  // namespace causeway
