// The counter-based generator that every engine shares; network/random.py gives exactly the same numbers.
//
// A random number is a pure function of (seed, stream, a, b). Only integer and correctly rounded float64 operations are
// used, so that numpy, numba and C++ agree: compile with -ffp-contract=off and without -ffast-math.
#pragma once

#include <cmath>
#include <cstdint>

#include "causeway.pb.h"

namespace causeway {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15ull;

// Returns the finalizer of splitmix64 (OOPSLA 2014).
inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

// Returns 64 random bits for (seed, stream, a, b).
inline uint64_t draw(uint64_t seed, int stream, int64_t a, int64_t b) {
    uint64_t h = mix(seed + kGolden * static_cast<uint64_t>(stream));
    h = mix(h + kGolden * (static_cast<uint64_t>(a) + 1));
    return mix(h + kGolden * (static_cast<uint64_t>(b) + 1));
}

// Returns a float64 in [0, 1) made of 53 random bits.
inline double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0); }

// Returns an integer in [0, n).
inline int64_t below(uint64_t bits, int64_t n) { return static_cast<int64_t>(bits % static_cast<uint64_t>(n)); }

// Returns a draw from the distribution whose quantiles are in `table` (Constant::QUANTILE_BINS + 1 points).
inline double from_table(const double *table, uint64_t bits) {
    const int64_t bin = static_cast<int64_t>(bits >> 50);
    const double fraction = static_cast<double>((bits >> 11) & 0x7FFFFFFFFFull) * (1.0 / 549755813888.0);
    const double low = table[bin];
    return low + (table[bin + 1] - low) * fraction;
}

// Rounds a non-negative duration to whole nanoseconds and returns it in picoseconds.
inline int64_t round_ns_to_ps(double value_ns) { return static_cast<int64_t>(std::floor(value_ns + 0.5)) * 1000; }

}  // namespace causeway
