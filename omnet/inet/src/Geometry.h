// Cells on the plane: discs of one radius around the stations.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "inet/common/geometry/common/Coord.h"

namespace causeway {

// Index of the nearest station within the radius, the first of several equally near; -1 if none.
inline int nearest_station(const std::vector<inet::Coord> &stations, double radius, const inet::Coord &at) {
    int nearest = -1;
    double best = radius * radius;
    for (size_t i = 0; i < stations.size(); ++i) {
        const double square = at.sqrdist(stations[i]);
        if (square < best || (square == best && nearest < 0)) {
            best = square;
            nearest = static_cast<int>(i);
        }
    }
    return nearest;
}

// Whether every point of the segment lies in some cell. Each disc cuts one interval out of it; they must add up to all.
inline bool segment_covered(const std::vector<inet::Coord> &stations, double radius, const inet::Coord &a,
                            const inet::Coord &b) {
    std::vector<std::pair<double, double>> cuts;
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    for (const inet::Coord &s : stations) {
        const double fx = a.x - s.x, fy = a.y - s.y;
        const double c = fx * fx + fy * fy - radius * radius;
        if (length2 == 0) {
            if (c <= 0) return true;
            continue;
        }
        const double half_b = fx * dx + fy * dy, discriminant = half_b * half_b - length2 * c;
        if (discriminant < 0) continue;
        const double root = std::sqrt(discriminant);
        cuts.emplace_back((-half_b - root) / length2, (-half_b + root) / length2);
    }
    std::sort(cuts.begin(), cuts.end());
    double reached = 0;
    for (const auto &[from, to] : cuts) {
        if (from > reached) return false;
        reached = std::max(reached, to);
        if (reached >= 1) return true;
    }
    return false;
}

}  // namespace causeway
