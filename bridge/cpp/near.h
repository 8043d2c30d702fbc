// A spatial index: points on the plane, in a grid of squares. The time of a query depends only on the points near its
// centre.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace causeway {

class Near {
  public:
    // The width of a square should be about the most frequent radius of queries.
    explicit Near(double square_m = 100) : square_m_(square_m) {}

    void set_square(double square_m) { square_m_ = square_m; }

    // Adds a point, or moves it. Ids are dense, from 0.
    void put(int id, double x, double y) {
        const int64_t square = key(index(x), index(y));
        if (id >= static_cast<int>(where_.size())) where_.resize(id + 1, kNowhere);
        if (where_[id] != square) {
            if (where_[id] != kNowhere) {
                std::vector<Thing> &old = squares_[where_[id]];
                old.erase(std::find_if(old.begin(), old.end(), [id](const Thing &thing) { return thing.id == id; }));
            }
            squares_[square].push_back({x, y, id});
            where_[id] = square;
            return;
        }
        for (Thing &thing : squares_[square]) {
            if (thing.id == id) thing = {x, y, id};
        }
    }

    // Returns the ids of the points within a radius, ascending. Valid until the next call.
    const std::vector<int> &around(double x, double y, double radius_m) {
        found_.clear();
        for (int64_t i = index(x - radius_m); i <= index(x + radius_m); ++i) {
            for (int64_t j = index(y - radius_m); j <= index(y + radius_m); ++j) {
                const auto square = squares_.find(key(i, j));
                if (square == squares_.end()) continue;
                for (const Thing &thing : square->second) {
                    const double dx = thing.x - x, dy = thing.y - y;
                    if (dx * dx + dy * dy <= radius_m * radius_m) found_.push_back(thing.id);
                }
            }
        }
        std::sort(found_.begin(), found_.end());
        return found_;
    }

  private:
    struct Thing {
        double x, y;
        int id;
    };

    static constexpr int64_t kNowhere = INT64_MIN;

    int64_t index(double at_m) const { return static_cast<int64_t>(std::floor(at_m / square_m_)); }
    static int64_t key(int64_t i, int64_t j) { return (i << 32) ^ (j & 0xFFFFFFFF); }

    double square_m_;
    std::unordered_map<int64_t, std::vector<Thing>> squares_;
    std::vector<int64_t> where_;  // id -> its square
    std::vector<int> found_;
};

}  // namespace causeway
