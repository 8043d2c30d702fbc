// Things that move at random in a Near, beside the same question asked of everybody: nothing near may be missing, what
// is found must be ascending, and little that is far away may come with it. Prints how many were found for each near
// one.
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
    long found = 0, close = 0;
    for (int round = 0; round < 20'000; ++round) {
        const int moved = round < things ? round : static_cast<int>(random() % things);
        near.put(moved, x[moved] = place(random), y[moved] = place(random));
        if (round < things) continue;
        const double at_x = place(random), at_y = place(random), radius = reach(random);
        const std::vector<int> around = near.around(at_x, at_y, radius);
        if (!std::is_sorted(around.begin(), around.end())) return std::puts("not ascending"), 1;
        for (int i = 0; i < things; ++i) {
            const bool is_near = std::hypot(x[i] - at_x, y[i] - at_y) <= radius;
            const bool is_found = std::binary_search(around.begin(), around.end(), i);
            if (is_near && !is_found) return std::puts("one is missing"), 1;
            close += is_near;
            found += is_found;
        }
    }
    std::printf("%.2f\n", static_cast<double>(found) / static_cast<double>(close));
    return 0;
}
