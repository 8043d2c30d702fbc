#include "mobile_network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "addresses.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/inet-socket-address.h"
#include "ns3/arp-cache.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "radio.h"

namespace causeway {

using namespace ns3;

namespace {
constexpr int MOST_NODES = 65'000;  // the addresses of the wireless network

/// Loses packets that arrive over a wire during a link failure or partition.
class WireFault : public ErrorModel {
  public:
    WireFault(const NetworkFaultMap &network_faults, int a, int b) : network_faults_(network_faults), a_(a), b_(b) {}

  private:
    bool DoCorrupt(Ptr<Packet>) override { return network_faults_.cut(a_, b_, Simulator::Now().GetTimeStep()); }
    void DoReset() override {}

    const NetworkFaultMap &network_faults_;
    int a_, b_;
};

/// Gives the device an address, without a queue in addition to the device's own.
void give_address(const Ptr<NetDevice> &device, Ipv4Address address, Ipv4Mask mask) {
    auto ip = device->GetNode()->GetObject<Ipv4>();
    const uint32_t interface = ip->AddInterface(device);
    ip->AddAddress(interface, Ipv4InterfaceAddress(address, mask));
    ip->SetMetric(interface, 1);
    ip->SetUp(interface);
}
}  // namespace

SimulatedNetwork::SimulatedNetwork(const Plan &plan, Reports reports)
    : plan_(plan), reports_(std::move(reports)), cells_(plan.stations, plan.reach_m) {
    if (plan_.nodes() > MOST_NODES)
        throw std::runtime_error("ns-3's wireless network can have 65,000 nodes at most; use fewer");
    configure_tcp();
    nodes_.Create(static_cast<uint32_t>(plan_.nodes()));
    place_nodes();
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes_);
    lay_radio();
    lay_wires();
    accept_streams(Interface::WIRE);
    if (plan_.host_tcp) accept_streams(Interface::WIRELESS_TCP);
    const auto address = [this](int node, int peer, Interface::Value interface) {
        if (interface != Interface::WIRE) introduce(node, peer);
        return address_for(node, peer, interface);
    };
    connections_ = std::make_unique<Connections>(nodes_, address, reports_);
    moving_ = plan_.most_speed_m_s() > 0;
    if (plan_.places_every_ps > 0) Simulator::ScheduleNow(&SimulatedNetwork::tell_places, this);
}

void SimulatedNetwork::tell_places() {
    for (int node = 0; node < plan_.nodes(); ++node) reports_.place(node, position(node));
    if (moving_) Simulator::Schedule(PicoSeconds(plan_.places_every_ps), &SimulatedNetwork::tell_places, this);
}

void SimulatedNetwork::move(const Action &action) {
    const auto [x_mm, y_mm] = unpack_position(action.ref);
    const auto &walk = walks_.at(action.node - plan_.station_count());
    if (is_up(action.node)) {
        walk->go(x_mm, y_mm, action.peer, action.size_bytes);
        air_->at_least_as_fast(action.size_bytes / 1000.0);
    } else {
        walk->put(x_mm, y_mm, action.peer);
        air_->look_again();
    }
    if (!moving_ && plan_.places_every_ps > 0) {
        const int64_t every = plan_.places_every_ps, now = Simulator::Now().GetTimeStep();
        Simulator::Schedule(PicoSeconds(every - now % every), &SimulatedNetwork::tell_places, this);
    }
    moving_ = true;
}

void SimulatedNetwork::place_nodes() {
    for (int s = 0; s < plan_.station_count(); ++s) {
        auto place = CreateObject<ConstantPositionMobilityModel>();
        place->SetPosition({plan_.stations[s].x, plan_.stations[s].y, plan_.stations[s].z});
        nodes_.Get(s)->AggregateObject(place);
    }
    for (int host = plan_.station_count(); host < plan_.nodes(); ++host) {
        auto walk = CreateObject<Walk>();
        walk->begin(plan_, cells_, host, reports_);
        nodes_.Get(host)->AggregateObject(walk);
        walks_.push_back(walk);
    }
}

void SimulatedNetwork::lay_radio() {
    const auto [devices, air] = install_radio(plan_, nodes_);
    devices_ = devices;
    air_ = air;
    for (int node = 0; node < plan_.nodes(); ++node) {
        give_address(devices.Get(node), radio_address(node), radio_mask());
        owner_[radio_address(node)] = node;
    }
    wireless_ = std::make_unique<Wireless>(devices, reports_);
    meter_ = std::make_unique<ReceptionMeter>(
        devices, plan_.station_count(), plan_.reach_m,
        [this, air](int from) -> const std::vector<int> & { return air->around(from, plan_.reach_m); },
        [this](int from, int to) { return hears(from, to); }, [this](int node) { return is_up(node); }, reports_);
}

void SimulatedNetwork::lay_wires() {
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(plan_.wire_bps))));
    helper.SetChannelAttribute("Delay", TimeValue(PicoSeconds(plan_.wire_delay_ps)));
    for (int wire = 0; wire < static_cast<int>(plan_.wires.size()); ++wire) {
        const auto [a, b] = plan_.wires[wire];
        const auto devices = helper.Install(nodes_.Get(a), nodes_.Get(b));
        for (int end = 0; end < 2; ++end) {
            give_address(devices.Get(end), wire_address(wire, end), wire_mask());
            if (!plan_.network_faults.empty()) {
                DynamicCast<PointToPointNetDevice>(devices.Get(end))
                    ->SetReceiveErrorModel(CreateObject<WireFault>(plan_.network_faults, a, b));
            }
            owner_[wire_address(wire, end)] = end == 0 ? a : b;
        }
        wires_[{a, b}] = wires_[{b, a}] = wire;
    }
}

void SimulatedNetwork::accept_streams(Interface::Value interface) {
    for (int node = 0; node < plan_.nodes(); ++node) {
        if (interface == Interface::WIRE && node >= plan_.station_count()) break;
        auto listener = ns3::Socket::CreateSocket(nodes_.Get(node), TcpSocketFactory::GetTypeId());
        listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), Stream::PORTS[interface]));
        listener->Listen();
        listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<ns3::Socket>, const Address &>(),
                                    MakeCallback(&SimulatedNetwork::accept, this).Bind(node, interface));
    }
}

void SimulatedNetwork::accept(int node, Interface::Value interface, Ptr<ns3::Socket> socket, const Address &from) {
    const int peer = owner_.at(InetSocketAddress::ConvertFrom(from).GetIpv4());
    stream(node, peer, interface).accepted(node, socket);
}

/// Gives two nodes each other's MAC address before the first packet between them, instead of ARP traffic. (Tables for
/// all pairs would have N entries in each of N nodes.)
void SimulatedNetwork::introduce(int a, int b) {
    if (a == b || !introduced_.insert(std::minmax(a, b)).second) return;
    for (const auto &[from, to] : {Pair{a, b}, Pair{b, a}}) {
        const auto ip = nodes_.Get(from)->GetObject<Ipv4L3Protocol>();
        const auto radio = ip->GetInterface(ip->GetInterfaceForAddress(radio_address(from)));
        auto entry = radio->GetArpCache()->Add(radio_address(to));
        entry->SetMacAddress(devices_.Get(to)->GetAddress());
        entry->MarkAutoGenerated();
    }
}

Stream &SimulatedNetwork::stream(int a, int b, Interface::Value interface) {
    auto &entry = streams_[{std::minmax(a, b), interface}];
    if (!entry) {
        if (interface == Interface::WIRELESS_TCP) introduce(a, b);
        const auto end = [&](int node, int peer) {
            return Stream::End{node, nodes_.Get(node), address_for(node, peer, interface)};
        };
        entry = std::make_unique<Stream>(end(a, b), end(b, a), interface, reports_);
    }
    return *entry;
}

Ipv4Address SimulatedNetwork::address_for(int node, int peer, Interface::Value interface) const {
    if (interface == Interface::WIRELESS_TCP) return radio_address(node);
    const int wire = wires_.at({node, peer});
    return wire_address(wire, plan_.wires[wire].first == node ? 0 : 1);
}

void SimulatedNetwork::send(int node, Interface::Value interface, int64_t packet, int peer, int size_bytes) {
    check_peer(node, interface, peer);
    if (!is_up(node)) return;
    if (interface == Interface::WIRELESS && peer >= 0) introduce(node, peer);
    if (interface == Interface::WIRELESS) return wireless_->send(node, packet, peer, size_bytes);
    stream(node, peer, interface).send(node, packet, size_bytes);
}

void SimulatedNetwork::connection(const Action &action) {
    if (action.kind == Act::CONNECT && action.interface == Interface::WIRE &&
        !wires_.contains({action.node, action.peer})) {
        throw std::runtime_error("the protocol connects node " + std::to_string(action.node) + " over a wire to node " +
                                 std::to_string(action.peer) + ", but there is none");
    }
    connections_->act(action);
}

void SimulatedNetwork::check_peer(int node, Interface::Value interface, int peer) const {
    const std::string from_to = "from node " + std::to_string(node) + " to node " + std::to_string(peer);
    if (peer >= plan_.nodes() || peer == node || (peer < 0 && interface != Interface::WIRELESS)) {
        throw std::runtime_error("the protocol sends " + from_to + " over interface " + std::to_string(interface) +
                                 ", where there is no such peer");
    }
    if (interface == Interface::WIRE && !wires_.contains({node, peer})) {
        throw std::runtime_error("the protocol sends over a wire " + from_to + ", but there is none");
    }
    if (interface == Interface::WIRELESS_TCP && !plan_.host_tcp) {
        throw std::runtime_error("the protocol uses TCP over the wireless channel; set host_tcp=True in its network");
    }
    if (interface > Interface::WIRELESS_TCP) {
        throw std::runtime_error("the protocol sends " + from_to + " over interface " + std::to_string(interface) +
                                 "; a mobile network has 0, 1 and 2");
    }
}

Point SimulatedNetwork::position(int node) const {
    return node < plan_.station_count() ? plan_.stations[node] : walks_[node - plan_.station_count()]->position();
}

bool SimulatedNetwork::hears(int from, int to) const {
    return is_up(to) && distance(position(from), position(to)) <= plan_.reach_m;
}

void SimulatedNetwork::set_up(int node, bool up) {
    wireless_->set_up(node, up);
    if (!up) connections_->forget(node);
    if (node >= plan_.station_count()) walks_[node - plan_.station_count()]->set_up(up);
}

std::vector<std::pair<std::string, double>> SimulatedNetwork::measured() const {
    const auto &c = meter_->counts();
    const auto received = static_cast<double>(c.copies_received), lost = static_cast<double>(c.copies_lost);
    auto opened = static_cast<double>(connections_->opened()), broken = static_cast<double>(connections_->broken());
    for (const auto &[key, stream] : streams_) {
        opened += static_cast<double>(stream->opened());
        broken += static_cast<double>(stream->broken());
    }
    return {{"station_frames", static_cast<double>(c.station_frames)},
            {"host_frames", static_cast<double>(c.host_frames)},
            {"station_bytes", static_cast<double>(c.station_bytes)},
            {"host_bytes", static_cast<double>(c.host_bytes)},
            {"copies_received", received},
            {"copies_lost", lost},
            {"loss_rate", received + lost > 0 ? lost / (received + lost) : 0},
            {"never_sent", static_cast<double>(wireless_->never_sent())},
            {"tcp_opened", opened},
            {"tcp_broken", broken}};
}

}  // namespace causeway
