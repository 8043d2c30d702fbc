// Conversion between times of the simulation, which has its own resolution, and the picoseconds of the bridge.
//
// A finer time is rounded down to a picosecond, so that an event is never reported before one that precedes it. Two
// instants of one picosecond are reported at two picoseconds: see `Bridge::reportedPs`. Actions come in whole
// picoseconds; in a coarser simulation they take effect at the first instant that is not before theirs.
#pragma once

#include <omnetpp.h>

#include <cstdint>
#include <string>

namespace causeway {

// Returns a time of the simulation in picoseconds, rounded down.
int64_t ps_of(omnetpp::SimTime time);

inline int64_t now_ps() { return ps_of(omnetpp::simTime()); }

// Returns the first instant of the simulation that is not before a time in picoseconds. Throws an error if the
// simulation cannot represent that instant.
omnetpp::SimTime instant_of(int64_t ps);

// Returns the unit in which the simulation counts time: "ps".
std::string unit_of_time();

}  // namespace causeway
