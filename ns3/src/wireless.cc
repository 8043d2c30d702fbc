#include "wireless.h"

#include <algorithm>
#include <stdexcept>

#include "addresses.h"
#include "ns3/inet-socket-address.h"
#include "ns3/ipv4.h"
#include "ns3/simulator.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"

namespace causeway {

using namespace ns3;

namespace {
constexpr uint16_t PORT = 4000;
// A copy that is not there this long after its frame ended is lost: more than light needs for any reach in use.
constexpr int64_t SETTLED_NS = 10'000;

Ptr<WifiNetDevice> wifi(const Ptr<NetDevice> &device) { return DynamicCast<WifiNetDevice>(device); }
}  // namespace

Wireless::Wireless(const NetDeviceContainer &devices, std::function<bool(int, int)> reach, const Reports &reports)
    : devices_(devices.Begin(), devices.End()), up_(devices.GetN(), true), reach_(std::move(reach)), reports_(reports) {
    for (int node = 0; node < static_cast<int>(devices_.size()); ++node) {
        listen(node);
        wifi(devices_[node])
            ->GetPhy()
            ->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Wireless::on_air, this).Bind(node));
        wifi(devices_[node])
            ->GetMac()
            ->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Wireless::on_dropped, this).Bind(node));
    }
}

void Wireless::listen(int node) {
    auto socket = Socket::CreateSocket(devices_[node]->GetNode(), UdpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
    socket->BindToNetDevice(devices_[node]);
    socket->SetAllowBroadcast(true);
    socket->SetRecvCallback(MakeCallback(&Wireless::receive, this).Bind(node));
    sockets_.push_back(socket);
}

void Wireless::send(int node, int64_t packet, int peer, int size_bytes) {
    auto content = Create<Packet>(static_cast<uint32_t>(std::max(1, size_bytes)));
    const Label label(packet, next_serial_++, peer);
    content->AddByteTag(label);
    if (peer >= 0) {
        unicast_.insert(label.serial);
        ++counts_.copies;
    }
    const auto to = peer < 0 ? radio_broadcast() : radio_address(peer);
    if (sockets_[node]->SendTo(content, 0, InetSocketAddress(to, PORT)) < 0) {
        throw std::runtime_error("ns-3 refused a UDP packet of " + std::to_string(size_bytes) + " bytes of node " +
                                 std::to_string(node));
    }
}

void Wireless::set_up(int node, bool up) {
    if (up_[node] == up) return;
    up_[node] = up;
    auto phy = wifi(devices_[node])->GetPhy();
    up ? phy->ResumeFromOff() : phy->SetOffMode();
}

void Wireless::receive(int node, Ptr<Socket> socket) {
    while (auto content = socket->Recv()) {
        Label label;
        if (!label.read(content)) continue;
        unicast_.erase(label.serial);
        const auto awaited = awaited_.find(label.serial);
        if (awaited != awaited_.end()) std::erase(awaited->second, node);
        if (up_[node]) reports_.arrival(node, label.packet, WIRELESS);
    }
}

void Wireless::on_air(int node, WifiConstPsduMap frames, WifiTxVector how, double) {
    const auto phy = wifi(devices_[node])->GetPhy();
    for (const auto &[station, frame] : frames) {
        ++counts_.frames;
        counts_.bytes += frame->GetSize();
        Label label;
        if (frame->GetNMpdus() == 0 || !label.read((*frame->begin())->GetPacket())) continue;
        ++counts_.messages;
        if (label.peer < 0) expect_copies(node, label, WifiPhy::CalculateTxDuration(frames, how, phy->GetPhyBand()));
    }
}

void Wireless::expect_copies(int sender, const Label &label, Time until_over) {
    auto &awaited = awaited_[label.serial];
    for (int node = 0; node < static_cast<int>(up_.size()); ++node) {
        if (node != sender && up_[node] && reach_(sender, node)) awaited.push_back(node);
    }
    counts_.copies += awaited.size();
    Simulator::Schedule(until_over + NanoSeconds(SETTLED_NS), &Wireless::count_losses, this, label);
}

void Wireless::count_losses(Label label) {
    const auto found = awaited_.find(label.serial);
    for (const int node : found->second) {
        if (!up_[node]) continue;
        ++counts_.lost;
        reports_.lost(node, label.packet, WIRELESS);
    }
    awaited_.erase(found);
}

/// The MAC gives a frame up: its queue is full, it waited too long there, or it was never acknowledged.
void Wireless::on_dropped(int, WifiMacDropReason why, Ptr<const WifiMpdu> frame) {
    Label label;
    if (!label.read(frame->GetPacket())) return;
    if (why != WIFI_MAC_DROP_REACHED_RETRY_LIMIT) ++counts_.never_sent;
    if (label.peer < 0) {
        reports_.lost(-1, label.packet, WIRELESS);
    } else if (unicast_.erase(label.serial) > 0) {
        ++counts_.lost;
        reports_.lost(label.peer, label.packet, WIRELESS);
    }
}

}  // namespace causeway
