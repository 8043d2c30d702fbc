#include "cells.h"

#include <algorithm>
#include <cmath>

namespace causeway {

namespace {
double square(double x) { return x * x; }
double distance2(Point a, Point b) { return square(a.x - b.x) + square(a.y - b.y) + square(a.z - b.z); }
}  // namespace

double distance(Point a, Point b) { return std::sqrt(distance2(a, b)); }

int Cells::nearest(Point p) const {
    int best = -1;
    double best2 = square(reach_m_);
    for (size_t i = 0; i < stations_.size(); ++i) {
        const double d2 = distance2(p, stations_[i]);
        if (d2 < best2 || (best < 0 && d2 == best2)) {
            best = static_cast<int>(i);
            best2 = d2;
        }
    }
    return best;
}

// Solves |from + s * d - station|^2 = reach^2, which is quadratic in s.
std::pair<double, double> Cells::inside(const Segment &way, Point station) const {
    const double dx = way.to.x - way.from.x, dy = way.to.y - way.from.y, dz = way.to.z - way.from.z;
    const double fx = way.from.x - station.x, fy = way.from.y - station.y, fz = way.from.z - station.z;
    const double a = dx * dx + dy * dy + dz * dz, half_b = fx * dx + fy * dy + fz * dz;
    const double c = fx * fx + fy * fy + fz * fz - square(reach_m_);
    if (a == 0) return c <= 0 ? std::pair{0.0, 1.0} : std::pair{1.0, 0.0};
    const double discriminant = half_b * half_b - a * c;
    if (discriminant < 0) return {1.0, 0.0};
    const double root = std::sqrt(discriminant);
    return {(-half_b - root) / a, (-half_b + root) / a};
}

bool Cells::cover(const Segment &way) const {
    std::vector<std::pair<double, double>> stretches;
    for (const auto &station : stations_) {
        const auto [from, to] = inside(way, station);
        if (from <= to) stretches.emplace_back(from, to);
    }
    std::sort(stretches.begin(), stretches.end());
    double covered = 0;
    for (const auto &[from, to] : stretches) {
        if (from > covered) return false;
        covered = std::max(covered, to);
        if (covered >= 1) return true;
    }
    return false;
}

// The nearest station can change only at the border of a cell or where two stations are equally far away. Between two
// such places it is constant. It is computed at the middle, where rounding cannot change it.
std::vector<std::pair<double, int>> Cells::changes(const Segment &way) const {
    std::vector<double> places{0.0, 1.0};
    const auto add = [&](double s) {
        if (s > 0 && s < 1) places.push_back(s);
    };
    for (size_t i = 0; i < stations_.size(); ++i) {
        const auto [enter, leave] = inside(way, stations_[i]);
        if (enter > leave) continue;
        add(enter);
        add(leave);
        for (size_t j = 0; j < i; ++j) {
            const double start = distance2(way.from, stations_[i]) - distance2(way.from, stations_[j]);
            const double end = distance2(way.to, stations_[i]) - distance2(way.to, stations_[j]);
            if (start != end) add(start / (start - end));  // the difference of squares is linear in s
        }
    }
    std::sort(places.begin(), places.end());
    std::vector<std::pair<double, int>> out;
    for (size_t k = 0; k + 1 < places.size(); ++k) {
        if (places[k] == places[k + 1]) continue;
        const int station = nearest(way.at((places[k] + places[k + 1]) / 2));
        if (out.empty() || out.back().second != station) out.emplace_back(places[k], station);
    }
    return out;
}

std::pair<Point, Point> Cells::box(double margin_m) const {
    if (stations_.empty()) return {};
    const double room = reach_m_ + margin_m;
    Point low = stations_.front(), high = stations_.front();
    for (const auto &s : stations_) {
        low = {std::min(low.x, s.x), std::min(low.y, s.y)};
        high = {std::max(high.x, s.x), std::max(high.y, s.y)};
    }
    return {{low.x - room, low.y - room}, {high.x + room, high.y + room}};
}

}  // namespace causeway
