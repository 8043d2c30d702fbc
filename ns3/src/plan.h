// What to build: the mobile network of a run, in plain numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "causeway.pb.h"

namespace causeway {

struct Point {
    double x = 0;  // metres
    double y = 0;
};

struct Plan {
    uint64_t seed = 1;
    std::vector<Point> stations;
    std::vector<std::pair<int, int>> wires;
    int hosts = 0;
    std::vector<Point> host_places;  // where each starts; empty: anywhere in the cells
    double reach_m = 120;
    int64_t wire_bps = 0;
    int64_t wire_delay_ps = 0;
    std::string radio;
    int64_t radio_bps = 0;  // 0: the radio's own default
    double speed_m_s = 0;
    bool covered_only = true;
    int64_t position_every_ps = 0;
    bool host_tcp = false;

    int station_count() const { return static_cast<int>(stations.size()); }
    int nodes() const { return station_count() + hosts; }
};

/// What the parts of the network tell the edge, at the instant it happens.
struct Reports {
    std::function<void(int node, int64_t packet, Interface::Value interface)> arrival;
    std::function<void(int node, int64_t packet, Interface::Value interface)> lost;  // node -1: nobody will get it
    std::function<void(int node, int station, Point position)> station;              // station -1: in no cell
    std::function<void(Kind::Value kind, int node, int64_t connection, int arg)> connection;  // CONNECTED to ENDED
};

}  // namespace causeway
