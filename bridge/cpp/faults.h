// Link failures, jammers and partitions, and the packets that are lost because of them (network/faults.py).
#pragma once

#include <cstdint>
#include <vector>

#include "bridge/cpp/columns.h"
#include "causeway.pb.h"

namespace causeway {

class NetworkFaultMap {
  public:
    NetworkFaultMap() = default;
    NetworkFaultMap(const Troubles &rows, size_t nodes) {
        const auto kind = numbers<uint8_t>(rows.kind());
        const auto from_ps = numbers<int64_t>(rows.from_ps()), to_ps = numbers<int64_t>(rows.to_ps());
        const auto a = numbers<int32_t>(rows.a()), b = numbers<int32_t>(rows.b());
        const auto radius_mm = numbers<int32_t>(rows.radius_mm());
        for (size_t i = 0; i < kind.size(); ++i) {
            const auto z_mm = at_or_zero<int32_t>(rows.z_mm(), i);
            rows_.push_back(
                {static_cast<Trouble::Value>(kind[i]), from_ps[i], to_ps[i], a[i], b[i], z_mm, radius_mm[i], {}});
            if (kind[i] == Trouble::PARTITION || kind[i] == Trouble::ONE_WAY) rows_.back().side.assign(nodes, NEITHER);
        }
        const auto row = numbers<int32_t>(rows.side_trouble()), node = numbers<int32_t>(rows.side_node());
        const auto side = numbers<uint8_t>(rows.side());
        for (size_t i = 0; i < row.size(); ++i) rows_.at(row[i]).side.at(node[i]) = side[i];
    }

    bool empty() const { return rows_.empty(); }

    // Returns whether `to`, at a position, receives nothing from `from` over the wireless channel.
    bool deaf(int from, int to, int64_t time_ps, double x_m, double y_m, double z_m) const {
        for (const Row &row : rows_) {
            if (time_ps < row.from_ps || time_ps >= row.to_ps) continue;
            if (row.kind == Trouble::JAMMER && row.covers(x_m * 1000, y_m * 1000, z_m * 1000)) return true;
            if (row.apart(from, to)) return true;
        }
        return false;
    }

    // Returns whether `to` receives nothing from `from` over a wire or on the abstract network.
    bool cut(int from, int to, int64_t time_ps) const {
        for (const Row &row : rows_) {
            if (time_ps < row.from_ps || time_ps >= row.to_ps) continue;
            if (row.kind == Trouble::CUT && ((row.a == from && row.b == to) || (row.a == to && row.b == from)))
                return true;
            if (row.apart(from, to)) return true;
        }
        return false;
    }

  private:
    static constexpr uint8_t NEITHER = 2;
    struct Row {
        Trouble::Value kind;
        int64_t from_ps, to_ps;
        int32_t a, b, z_mm, radius_mm;
        std::vector<uint8_t> side;  // by node

        bool apart(int from, int to) const {
            if (kind == Trouble::ONE_WAY) return side[from] == 0 && side[to] == 1;
            return kind == Trouble::PARTITION && side[from] != side[to] && side[from] != NEITHER && side[to] != NEITHER;
        }
        bool covers(double x_mm, double y_mm, double z) const {
            const double dx = x_mm - a, dy = y_mm - b, dz = z - z_mm, r = radius_mm;
            return dx * dx + dy * dy + dz * dz <= r * r;
        }
    };

    std::vector<Row> rows_;
};

}  // namespace causeway
