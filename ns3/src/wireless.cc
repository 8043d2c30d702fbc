#include "wireless.h"

#include <algorithm>
#include <stdexcept>

#include "addresses.h"
#include "ns3/inet-socket-address.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

namespace causeway {

using namespace ns3;

namespace {
constexpr uint16_t PORT = 4000;
constexpr int HEADERS_BYTES = 8 + 20;  // UDP, IPv4
}  // namespace

Wireless::Wireless(const NetDeviceContainer &devices, const Reports &reports)
    : devices_(devices.Begin(), devices.End()), up_(devices.GetN(), true), reports_(reports) {
    for (int node = 0; node < static_cast<int>(devices_.size()); ++node) {
        listen(node);
        DynamicCast<WifiNetDevice>(devices_[node])
            ->GetMac()
            ->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&Wireless::on_dropped, this));
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
    const bool in_one_frame = size_bytes + HEADERS_BYTES <= devices_[node]->GetMtu();
    const Label label(packet, next_serial_++, peer, in_one_frame);
    content->AddByteTag(label);
    if (peer >= 0) unicast_.insert(label.serial);
    const auto to = peer < 0 ? radio_broadcast() : radio_address(peer);
    if (sockets_[node]->SendTo(content, 0, InetSocketAddress(to, PORT)) < 0) {
        throw std::runtime_error("ns-3 refused a UDP packet of " + std::to_string(size_bytes) + " bytes of node " +
                                 std::to_string(node));
    }
}

void Wireless::set_up(int node, bool up) {
    if (up_[node] == up) return;
    up_[node] = up;
    auto phy = DynamicCast<WifiNetDevice>(devices_[node])->GetPhy();
    up ? phy->ResumeFromOff() : phy->SetOffMode();
}

void Wireless::receive(int node, Ptr<Socket> socket) {
    while (auto content = socket->Recv()) {
        Label label;
        if (!label.read(content)) continue;
        unicast_.erase(label.serial);
        reports_.arrival(node, label.packet, Interface::WIRELESS);
    }
}

/// Reports a frame that the MAC dropped: its queue was full, the frame waited too long there, or it was never
/// acknowledged.
void Wireless::on_dropped(WifiMacDropReason why, Ptr<const WifiMpdu> frame) {
    Label label;
    if (!label.read(frame->GetPacket())) return;
    if (why != WIFI_MAC_DROP_REACHED_RETRY_LIMIT) ++never_sent_;
    const bool unicast_arrived =
        label.peer >= 0 && unicast_.erase(label.serial) == 0;  // only the acknowledgement was lost
    if (!unicast_arrived) reports_.lost(label.peer, label.packet, Interface::WIRELESS);
}

}  // namespace causeway
