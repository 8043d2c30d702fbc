// Prints what the C++ twins of network/random.py and network/workload.py make of a Setup (a serialized Frame on stdin).
#include <cstdio>
#include <iterator>
#include <iostream>
#include <string>

#include "bridge/cpp/setup.h"
#include "bridge/cpp/workload.h"

int main(int, char **argv) {
    const std::string bytes((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
    causeway::Frame frame;
    if (!frame.ParseFromString(bytes)) return 1;
    const causeway::Setup &setup = frame.setup();
    causeway::check_setup(setup);
    const auto delays = causeway::numbers<double>(setup.abstract_network().delay_quantiles_ns());
    for (int64_t a = 0; a < 2000; ++a) {
        const uint64_t bits = causeway::draw(setup.seed(), causeway::RandomStream::DELAY, a * a - 7, a % 5);
        std::printf("%llu %a %lld %lld\n", (unsigned long long)bits, causeway::unit(bits),
                    (long long)causeway::below(bits, a + 1),
                    (long long)causeway::round_ns_to_ps(causeway::from_table(delays.data(), bits)));
    }
    causeway::Broadcasts broadcasts(setup.workload(), setup.seed());
    for (int i = 0; i < std::stoi(argv[1]) && broadcasts.time_ps != causeway::kNever; ++i, broadcasts.next()) {
        std::printf("%lld %lld %d %d\n", (long long)broadcasts.number, (long long)broadcasts.time_ps, broadcasts.node,
                    broadcasts.size_bytes);
    }
}
