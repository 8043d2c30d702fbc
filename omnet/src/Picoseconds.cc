#include "Picoseconds.h"

#include <limits>

#include "bridge/cpp/contract.h"
#include "bridge/cpp/window.h"

using namespace omnetpp;

namespace causeway {

namespace {

constexpr int kPicoseconds = -12;  // the exponent

int64_t power_of_ten(int exponent) {
    int64_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

// Returns the picoseconds in an instant of a coarser simulation, and the instants in a picosecond of a finer one.
int64_t coarser() { return power_of_ten(SimTime::getScaleExp() - kPicoseconds); }
int64_t finer() { return power_of_ten(kPicoseconds - SimTime::getScaleExp()); }

[[noreturn]] void beyond(int64_t ps) {
    throw cRuntimeError(
        "causeway: a simulation with simtime-resolution = %s ends after %s s, before %.9g s, where the protocol acts "
        "or the run ends; set a shorter duration, or a coarser resolution in the ini file",
        unit_of_time().c_str(), SimTime::getMaxTime().str().c_str(), static_cast<double>(ps) / 1e12);
}

}  // namespace

int64_t ps_of(SimTime time) {
    const int exponent = SimTime::getScaleExp();
    if (exponent == kPicoseconds) return time.raw();
    if (exponent < kPicoseconds) return time.raw() / finer();
    if (time.raw() >= kNever / coarser()) return kNever - 1;  // later than any run of the bridge
    return time.raw() * coarser();
}

SimTime instant_of(int64_t ps) {
    const int exponent = SimTime::getScaleExp();
    if (exponent == kPicoseconds) return SimTime::fromRaw(ps);
    if (exponent > kPicoseconds) return SimTime::fromRaw((ps + coarser() - 1) / coarser());
    if (ps > std::numeric_limits<int64_t>::max() / finer()) beyond(ps);
    return SimTime::fromRaw(ps * finer());
}

std::string unit_of_time() {
    switch (SimTime::getScaleExp()) {
        case 0:
            return "s";
        case -3:
            return "ms";
        case -6:
            return "us";
        case -9:
            return "ns";
        case -12:
            return "ps";
        case -15:
            return "fs";
        case -18:
            return "as";
        default:
            return "1e" + std::to_string(SimTime::getScaleExp()) + "s";
    }
}

}  // namespace causeway
