// Cells: which station is nearest, what the cells cover, and when a host that walks straight changes from one to
// another. Both packet-level edges ask here: the same host, the same station.
#pragma once

#include <utility>
#include <vector>

namespace causeway {

struct Point {
    double x = 0;  // metres
    double y = 0;
};

/// A straight walk: at the share `s` of the way (0..1) the host is at from + s * (to - from).
struct Segment {
    Point from;
    Point to;
    Point at(double s) const { return {from.x + s * (to.x - from.x), from.y + s * (to.y - from.y)}; }
};

double distance(Point a, Point b);

class Cells {
  public:
    Cells() = default;
    Cells(std::vector<Point> stations, double reach_m) : stations_(std::move(stations)), reach_m_(reach_m) {}

    /// The nearest station in reach (the first of equals), or -1.
    int nearest(Point p) const;
    /// Whether every point of the segment is in some cell.
    bool cover(const Segment &way) const;
    /// Where on the way the nearest station in reach becomes another one: (share of the way, station), ascending. The
    /// first entry is (0, station at the start).
    std::vector<std::pair<double, int>> changes(const Segment &way) const;
    /// Lower left and upper right corner of the box around all cells and a margin.
    std::pair<Point, Point> box(double margin_m) const;

  private:
    /// Shares of the way between which a cell covers it; empty if from > to.
    std::pair<double, double> inside(const Segment &way, Point station) const;

    std::vector<Point> stations_;
    double reach_m_ = 0;
};

}  // namespace causeway
