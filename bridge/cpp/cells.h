// Cells: the nearest station, the area that cells cover, and the changes of cell on a straight walk.
//
// Both packet-level adapters use this code, so that a host has the same station on both.
#pragma once

#include <utility>
#include <vector>

namespace causeway {

struct Point {
    double x = 0;  // metres
    double y = 0;
    double z = 0;
};

/// A straight walk; after the share `s` of the way (0..1) the host is at from + s * (to - from).
struct Segment {
    Point from;
    Point to;
    Point at(double s) const {
        return {from.x + s * (to.x - from.x), from.y + s * (to.y - from.y), from.z + s * (to.z - from.z)};
    }
};

double distance(Point a, Point b);

class Cells {
  public:
    Cells() = default;
    Cells(std::vector<Point> stations, double reach_m) : stations_(std::move(stations)), reach_m_(reach_m) {}

    /// Returns the nearest station in reach (the first of equals), or -1.
    int nearest(Point p) const;
    /// Returns whether every point of the segment is in some cell.
    bool cover(const Segment &way) const;
    /// Returns the changes of the nearest station in reach: (share of the way, new station), ascending. The first entry
    /// is (0, station at the start).
    std::vector<std::pair<double, int>> changes(const Segment &way) const;
    /// Returns the lower left and upper right corner of the box around all cells and a margin, at height 0.
    std::pair<Point, Point> box(double margin_m) const;

  private:
    /// Returns the shares of the way between which a cell covers it; none if first > second.
    std::pair<double, double> inside(const Segment &way, Point station) const;

    std::vector<Point> stations_;
    double reach_m_ = 0;
};

}  // namespace causeway
