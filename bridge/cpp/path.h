// The path of a host: straight lines, at constant speed, between positions at instants.
//
// Both packet-level adapters use this code, with these operations in this order, so that a host is at the same
// millimetre on both. network/movement.py has the same as `place_at`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "bridge/cpp/columns.h"
#include "causeway.pb.h"

namespace causeway {

class Path {
  public:
    struct Place {
        double x_m = 0, y_m = 0, z_m = 0;
    };

    bool empty() const { return points_.empty(); }
    // Adds a position. Instants ascend.
    void add(int64_t time_ps, double x_mm, double y_mm, double z_mm) {
        if (!empty()) {
            const Point &last = points_.back();
            const double dx = x_mm - last.x_mm, dy = y_mm - last.y_mm, dz = z_mm - last.z_mm;
            const double seconds = static_cast<double>(time_ps - last.time_ps) * 1e-12;
            most_speed_m_s_ = std::max(most_speed_m_s_, std::sqrt(dx * dx + dy * dy + dz * dz) / 1000 / seconds);
        }
        points_.push_back({time_ps, x_mm, y_mm, z_mm});
    }

    Place at(int64_t time_ps) const { return metres(exact(time_ps)); }

    // Return the end of the line on which the host is at an instant, and the time at the end (kNever: the host stays).
    Place target(int64_t time_ps) const { return metres(points_[std::min(after(time_ps), points_.size() - 1)]); }
    int64_t until(int64_t time_ps) const {
        const size_t i = after(time_ps);
        return i == points_.size() ? kNever : points_[i].time_ps;
    }

    // Returns the velocity in m/s.
    Place velocity(int64_t time_ps) const {
        const size_t i = after(time_ps);
        if (i == 0 || i == points_.size()) return {};
        const Point &a = points_[i - 1], &b = points_[i];
        const double seconds = static_cast<double>(b.time_ps - a.time_ps) * 1e-12;
        return {(b.x_mm - a.x_mm) / 1000 / seconds, (b.y_mm - a.y_mm) / 1000 / seconds,
                (b.z_mm - a.z_mm) / 1000 / seconds};
    }

    // Replaces the path by a straight line from the host's position at `now_ps` to a target. If the host had no path,
    // `here` is its position; it is rounded to millimetres, since each engine computes walks in its own way.
    void go(int64_t now_ps, double x_mm, double y_mm, double z_mm, double speed_mm_s, Place here) {
        const auto whole = [](double metres) { return std::round(metres * 1000); };
        const Point from = empty() ? Point{now_ps, whole(here.x_m), whole(here.y_m), whole(here.z_m)} : exact(now_ps);
        points_.clear();
        add(now_ps, from.x_mm, from.y_mm, from.z_mm);
        const double dx = x_mm - from.x_mm, dy = y_mm - from.y_mm, dz = z_mm - from.z_mm;
        const double seconds = std::sqrt(dx * dx + dy * dy + dz * dz) / speed_mm_s;
        const double share = std::min(1.0, kLongest_s / std::max(seconds, kLongest_s * 1e-18));
        const auto lasts_ps = static_cast<int64_t>(std::llround(std::min(seconds, kLongest_s) * 1e12));
        if (lasts_ps > 0)
            add(now_ps + lasts_ps, from.x_mm + dx * share, from.y_mm + dy * share, from.z_mm + dz * share);
    }

    // Replaces the path by a position.
    void put(int64_t now_ps, double x_mm, double y_mm, double z_mm) {
        points_.clear();
        add(now_ps, x_mm, y_mm, z_mm);
    }

    double most_speed_m_s() const { return most_speed_m_s_; }

  private:
    struct Point {
        int64_t time_ps;
        double x_mm, y_mm, z_mm;
    };
    static constexpr double kLongest_s = 2e6;  // longer ways would end after every run

    std::vector<Point> points_;
    double most_speed_m_s_ = 0;

    // Returns the index of the first point later than an instant.
    size_t after(int64_t time_ps) const {
        const auto later = [](int64_t t, const Point &p) { return t < p.time_ps; };
        return std::upper_bound(points_.begin(), points_.end(), time_ps, later) - points_.begin();
    }
    static Place metres(const Point &p) { return {p.x_mm / 1000, p.y_mm / 1000, p.z_mm / 1000}; }
    Point exact(int64_t time_ps) const {
        const size_t i = after(time_ps);
        const Point &a = points_[i == 0 ? 0 : i - 1];
        if (i == 0 || i == points_.size()) return a;
        const Point &b = points_[i];
        const double share = static_cast<double>(time_ps - a.time_ps) / static_cast<double>(b.time_ps - a.time_ps);
        return {time_ps, a.x_mm + (b.x_mm - a.x_mm) * share, a.y_mm + (b.y_mm - a.y_mm) * share,
                a.z_mm + (b.z_mm - a.z_mm) * share};
    }
};

// Returns the path of a host: its trace, or an empty one. The contract orders rows by host.
inline Path path_of(const MobileNetwork &network, int32_t host) {
    const std::string &hosts = network.trace_host();
    size_t low = 0, high = hosts.size() / sizeof(int32_t);
    const size_t rows = high;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (at<int32_t>(hosts, middle) < host) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Path path;
    for (size_t i = low; i < rows && at<int32_t>(hosts, i) == host; ++i) {
        path.add(at<int64_t>(network.trace_time_ps(), i), at<int32_t>(network.trace_x_mm(), i),
                 at<int32_t>(network.trace_y_mm(), i), at_or_zero<int32_t>(network.trace_z_mm(), i));
    }
    return path;
}

// Returns the position (x_mm, y_mm) of the `ref` of a STATION event.
inline std::pair<int32_t, int32_t> unpack_position(int64_t ref) {
    const auto bits = static_cast<uint64_t>(ref);
    return {static_cast<int32_t>(bits >> 32), static_cast<int32_t>(bits & 0xFFFFFFFF)};
}

}  // namespace causeway
