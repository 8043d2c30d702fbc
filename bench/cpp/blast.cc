// An adapter that does nothing but tell events: windows of 1,000 each, as fast as the controller takes them.
#include <cstdint>
#include <cstdlib>

#include "bridge/cpp/client.h"

using namespace causeway;

int main(int, char **argv) {
    const int64_t windows = std::atoll(argv[1]);
    Client bridge;
    const int64_t reaction_ps = bridge.hello("blast", "blast 1").reaction_ps();
    for (int64_t window = 0; window <= windows; ++window) {
        bridge.exchange(window * reaction_ps);
        for (int32_t i = 0; window < windows && i < 1000; ++i) {
            bridge.event(Kind::ARRIVAL, window * reaction_ps + i * (reaction_ps / 1000), i, window * 1000 + i, 0);
        }
    }
    bridge.finish("done", windows * reaction_ps, windows * 1000);
}
