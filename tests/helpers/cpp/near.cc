// Things that move at random in a Near, beside the same question asked of everybody: what is found must be ascending,
// and who is near, no more and no less.
#include "bridge/cpp/near.h"

#include <cstdio>
#include <cstdlib>
#include <random>

int main() {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> place(-2000, 2000), reach(1, 400);
    const int things = 500;
    std::vector<double> x(things), y(things);
    causeway::Near near(130);
    for (int round = 0; round < 20'000; ++round) {
        const int moved = round < things ? round : static_cast<int>(random() % things);
        near.put(moved, x[moved] = place(random), y[moved] = place(random));
        if (round < things) continue;
        const double at_x = place(random), at_y = place(random), radius = reach(random);
        const std::vector<int> around = near.around(at_x, at_y, radius);
        if (!std::is_sorted(around.begin(), around.end())) return std::puts("not ascending"), 1;
        for (int i = 0; i < things; ++i) {
            const double apart = std::hypot(x[i] - at_x, y[i] - at_y);
            const bool is_found = std::binary_search(around.begin(), around.end(), i);
            if (apart < radius - 1e-9 && !is_found) return std::puts("one is missing"), 1;
            if (apart > radius + 1e-9 && is_found) return std::puts("one is far away"), 1;
        }
    }
    return 0;
}
