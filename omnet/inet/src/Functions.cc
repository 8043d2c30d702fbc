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

static cValueArray *pair(double a, double b, bool whole) {
    auto array = new cValueArray();
    for (double value : {a, b}) array->add(whole ? cValue(static_cast<intval_t>(value)) : cValue(value));
    return array;
}

static cValue stations(cComponent *, cValue[], int) {
    auto rows = new cValueArray();
    const auto x_mm = numbers<int32_t>(network().station_x_mm()), y_mm = numbers<int32_t>(network().station_y_mm());
    for (size_t i = 0; i < x_mm.size(); ++i) rows->add(cValue(pair(x_mm[i] / 1000.0, y_mm[i] / 1000.0, false)));
    return cValue(rows);
}

static cValue wires(cComponent *, cValue[], int) {
    auto rows = new cValueArray();
    const auto from = numbers<int32_t>(network().wire_from()), to = numbers<int32_t>(network().wire_to());
    for (size_t i = 0; i < from.size(); ++i) rows->add(cValue(pair(from[i], to[i], true)));
    return cValue(rows);
}

// Returns the start of a host: [x, y] in metres; []: anywhere in the cells.
static cValue host(cComponent *, cValue args[], int) {
    const auto x_mm = numbers<int32_t>(network().host_x_mm()), y_mm = numbers<int32_t>(network().host_y_mm());
    const auto index = static_cast<size_t>(args[0].intValue());
    if (x_mm.size() == 0) return cValue(new cValueArray());
    return cValue(pair(x_mm[index] / 1000.0, y_mm[index] / 1000.0, false));
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
                     "Positions of the stations: [[x, y], ...] in metres.");
Define_NED_Function2(host, "object causewayHost(int index)", "causeway",
                     "Start of a host: [x, y] in metres; []: anywhere in the cells.");
Define_NED_Function2(wires, "object causewayWires()", "causeway", "Wires between stations: [[from, to], ...].");
Define_NED_Function2(number, "any causewayNetwork(string name)", "causeway",
                     "A number of the mobile network by its name.");
Define_NED_Function2(bitrate, "quantity causewayBitrate(quantity otherwise)", "causeway", "The radio's bitrate.");

}  // namespace causeway
