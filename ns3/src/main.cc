// causeway-ns3: simulates one mobile network for a controller at the other end of the bridge.
//
// Start reading at Adapter::run (adapter.cc), the loop. SimulatedNetwork (mobile_network.cc) is the network.

#include <cstdlib>
#include <exception>

#include "adapter.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "mobile_network.h"

namespace {

causeway::Plan plan_of(const causeway::Setup &setup) {
    using causeway::numbers;
    const causeway::MobileNetwork &network = setup.mobile_network();
    causeway::Plan plan;
    plan.seed = setup.seed();
    const auto x_mm = numbers<int32_t>(network.station_x_mm()), y_mm = numbers<int32_t>(network.station_y_mm());
    for (size_t i = 0; i < x_mm.size(); ++i) {
        const auto z_mm = causeway::at_or_zero<int32_t>(network.station_z_mm(), i);
        plan.stations.push_back({x_mm[i] / 1000.0, y_mm[i] / 1000.0, z_mm / 1000.0});
    }
    const auto from = numbers<int32_t>(network.wire_from()), to = numbers<int32_t>(network.wire_to());
    for (size_t i = 0; i < from.size(); ++i) plan.wires.emplace_back(from[i], to[i]);
    plan.hosts = network.hosts();
    const auto host_x_mm = numbers<int32_t>(network.host_x_mm()), host_y_mm = numbers<int32_t>(network.host_y_mm());
    for (size_t i = 0; i < host_x_mm.size(); ++i) {
        const auto z_mm = causeway::at_or_zero<int32_t>(network.host_z_mm(), i);
        plan.host_places.push_back({host_x_mm[i] / 1000.0, host_y_mm[i] / 1000.0, z_mm / 1000.0});
    }
    plan.reach_m = network.cell_radius_mm() / 1000.0;
    plan.wire_bps = network.wire_bps();
    plan.wire_delay_ps = network.wire_delay_ps();
    plan.radio = network.radio();
    plan.radio_bps = network.radio_bps();
    plan.speed_m_s = network.speed_mm_s() / 1000.0;
    plan.covered_only = network.covered_only();
    plan.position_every_ps = network.position_every_ps();
    for (const int32_t speed : numbers<int32_t>(network.host_speed_mm_s())) {
        plan.host_speeds_m_s.push_back(speed / 1000.0);
    }
    for (int host = 0; host < plan.hosts; ++host) plan.paths.push_back(causeway::path_of(network, host));
    const auto area_mm = numbers<int32_t>(network.area_mm());
    plan.has_area = !area_mm.empty();
    if (plan.has_area) {
        plan.area = {{area_mm[0] / 1000.0, area_mm[1] / 1000.0}, {area_mm[2] / 1000.0, area_mm[3] / 1000.0}};
    }
    plan.places_every_ps = network.places_every_ps();
    plan.network_faults = causeway::NetworkFaultMap(setup.troubles(), static_cast<size_t>(plan.nodes()));
    plan.host_tcp = network.host_tcp();
    return plan;
}

}  // namespace

int main() {
    causeway::Adapter adapter;
    const char *version = std::getenv("CAUSEWAY_ENGINE_VERSION");
    const causeway::Setup &setup = adapter.hello("ns3", version ? version : "ns-3");
    try {
        if (!setup.has_mobile_network()) throw std::runtime_error("the ns-3 adapter builds mobile networks only");
        const auto simulator = causeway::SteppedSimulator::install();
        ns3::RngSeedManager::SetSeed(1);
        ns3::RngSeedManager::SetRun(setup.seed());
        causeway::SimulatedNetwork world(plan_of(setup), adapter.reports());
        adapter.run(world, *simulator);
    } catch (const std::exception &error) {
        adapter.fail(error.what());
    }
    return 0;  // without Simulator::Destroy(), which would only take time
}
