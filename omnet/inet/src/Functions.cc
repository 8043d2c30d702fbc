// NED functions with the controller's description of the mobile network, for NED and ini files.
#include <string>

#include "omnet/src/Bridge.h"

using namespace omnetpp;

namespace causeway {

static const MobileNetwork &network() {
    const Setup &setup = Bridge::instance().setup();
    if (!setup.has_mobile_network()) throw cRuntimeError("the controller's study does not describe a mobile network");
    return setup.mobile_network();
}

// Returns row i of the positions as [x, y, z] in metres.
static cValueArray *place(const std::string &x_mm, const std::string &y_mm, const std::string &z_mm, size_t i) {
    auto array = new cValueArray();
    for (const int32_t mm : {at<int32_t>(x_mm, i), at<int32_t>(y_mm, i), at_or_zero<int32_t>(z_mm, i)})
        array->add(cValue(mm / 1000.0));
    return array;
}

static cValue stations(cComponent *, cValue[], int) {
    auto rows = new cValueArray();
    const MobileNetwork &n = network();
    for (size_t i = 0; i < n.station_x_mm().size() / sizeof(int32_t); ++i)
        rows->add(cValue(place(n.station_x_mm(), n.station_y_mm(), n.station_z_mm(), i)));
    return cValue(rows);
}

static cValue wires(cComponent *, cValue[], int) {
    auto rows = new cValueArray();
    const auto from = numbers<int32_t>(network().wire_from()), to = numbers<int32_t>(network().wire_to());
    for (size_t i = 0; i < from.size(); ++i) {
        auto ends = new cValueArray();
        for (const int32_t station : {from[i], to[i]}) ends->add(cValue(static_cast<intval_t>(station)));
        rows->add(cValue(ends));
    }
    return cValue(rows);
}

// Returns the start of a host: [x, y, z] in metres; []: anywhere in the cells.
static cValue host(cComponent *, cValue args[], int) {
    const MobileNetwork &n = network();
    if (n.host_x_mm().empty()) return cValue(new cValueArray());
    return cValue(place(n.host_x_mm(), n.host_y_mm(), n.host_z_mm(), static_cast<size_t>(args[0].intValue())));
}

static cValue number(cComponent *, cValue args[], int) {
    const MobileNetwork &n = network();
    const std::string name = args[0].stringValue();
    if (name == "seed") return cValue(static_cast<intval_t>(Bridge::instance().setup().seed()));
    if (name == "hosts") return cValue(static_cast<intval_t>(n.hosts()));
    if (name == "cellRadius") return cValue(n.cell_radius_mm() / 1000.0, "m");
    if (name == "wireBitrate") return cValue(static_cast<double>(n.wire_bps()), "bps");
    if (name == "wireDelay") return cValue(instant_of(n.wire_delay_ps()).dbl(), "s");
    if (name == "speed") return cValue(n.speed_mm_s() / 1000.0, "mps");
    if (name == "coveredOnly") return cValue(n.covered_only());
    if (name == "positionEvery") return cValue(instant_of(n.position_every_ps()).dbl(), "s");
    if (name == "hostTcp") return cValue(n.host_tcp());
    throw cRuntimeError("causewayNetwork(): there is no '%s'", name.c_str());
}

// Returns the controller's bitrate of the radio; the argument if that is 0 (the default of the radio).
static cValue bitrate(cComponent *, cValue args[], int) {
    return network().radio_bps() > 0 ? cValue(static_cast<double>(network().radio_bps()), "bps") : args[0];
}

Define_NED_Function2(stations, "object causewayStations()", "causeway",
                     "Positions of the stations: [[x, y, z], ...] in metres.");
Define_NED_Function2(host, "object causewayHost(int index)", "causeway",
                     "Start of a host: [x, y, z] in metres; []: anywhere in the cells.");
Define_NED_Function2(wires, "object causewayWires()", "causeway", "Wires between stations: [[from, to], ...].");
Define_NED_Function2(number, "any causewayNetwork(string name)", "causeway",
                     "A number of the mobile network by its name.");
Define_NED_Function2(bitrate, "quantity causewayBitrate(quantity otherwise)", "causeway", "The radio's bitrate.");

}  // namespace causeway
