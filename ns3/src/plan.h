// The description of the mobile network of a run, in plain numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bridge/cpp/cells.h"
#include "bridge/cpp/path.h"
#include "bridge/cpp/faults.h"
#include "causeway.pb.h"

namespace causeway {

struct Plan {
    uint64_t seed = 1;
    std::vector<Point> stations;
    std::vector<std::pair<int, int>> wires;
    int hosts = 0;
    std::vector<Point> host_places;  // the start of each; empty: anywhere in the cells
    double reach_m = 120;
    int64_t wire_bps = 0;
    int64_t wire_delay_ps = 0;
    std::string radio;
    int64_t radio_bps = 0;  // 0: the default of the radio
    double speed_m_s = 0;
    std::vector<double> host_speeds_m_s;  // by host; empty: speed_m_s
    std::vector<Path> paths;              // by host: its trace, or empty
    std::pair<Point, Point> area{};       // the area where hosts walk, if has_area
    bool has_area = false;
    int64_t places_every_ps = 0;
    NetworkFaultMap network_faults;
    bool covered_only = true;
    int64_t position_every_ps = 0;
    bool host_tcp = false;

    int station_count() const { return static_cast<int>(stations.size()); }
    int nodes() const { return station_count() + hosts; }
    double speed_of(int node) const {
        return host_speeds_m_s.empty() ? speed_m_s : host_speeds_m_s[node - station_count()];
    }
    // Returns the highest speed of all hosts, except for those on a command.
    double most_speed_m_s() const {
        double most = host_speeds_m_s.empty() ? speed_m_s : 0;
        for (const double speed : host_speeds_m_s) most = std::max(most, speed);
        for (const Path &path : paths) most = std::max(most, path.most_speed_m_s());
        return most;
    }
};

/// The functions with which the parts of the network report events to the adapter.
struct Reports {
    std::function<void(int node, int64_t packet, Interface::Value interface)> arrival;
    std::function<void(int node, int64_t packet, Interface::Value interface)> lost;  // node -1: nobody will receive it
    std::function<void(int node, int station, Point position)> station;              // station -1: in no cell
    std::function<void(int node, Point position)> place;                             // for the recorded positions
    std::function<void(Kind::Value kind, int node, int64_t connection, int arg)> connection;  // CONNECTED to ENDED
};

}  // namespace causeway
