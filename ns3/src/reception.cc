#include "reception.h"

#include "ns3/simulator.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-ppdu.h"
#include "ns3/wifi-psdu.h"

namespace causeway {

using namespace ns3;

namespace {
// A copy that has not arrived this long after the end of its frame is lost. The time is longer than light takes for 120
// m (0.4 µs), and shorter than a sender waits before it repeats a frame.
constexpr int64_t SETTLED_NS = 5'000;

Ptr<const WifiMpdu> first(const Ptr<const WifiPsdu> &frame) { return *frame->begin(); }
}  // namespace

ReceptionMeter::ReceptionMeter(const NetDeviceContainer &devices, int stations,
                               std::function<const std::vector<int> &(int)> near, std::function<bool(int, int)> hears,
                               std::function<bool(int)> is_up, const Reports &reports)
    : stations_(stations),
      near_(std::move(near)),
      hears_(std::move(hears)),
      is_up_(std::move(is_up)),
      reports_(reports) {
    for (int node = 0; node < static_cast<int>(devices.GetN()); ++node) {
        auto phy = DynamicCast<WifiNetDevice>(devices.Get(node))->GetPhy();
        phy->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&ReceptionMeter::departed, this).Bind(node));
        phy->GetState()->TraceConnectWithoutContext("RxOutcome",
                                                    MakeCallback(&ReceptionMeter::received, this).Bind(node));
        owner_[Mac48Address::ConvertFrom(devices.Get(node)->GetAddress())] = node;
        radios_.push_back(phy);
    }
}

void ReceptionMeter::departed(int sender, WifiConstPsduMap frames, WifiTxVector how, double) {
    const auto frame = frames.begin()->second;
    const auto mpdu = first(frame);
    if (!mpdu->GetHeader().IsData()) return;
    const bool is_station = sender < stations_;
    ++(is_station ? counts_.station_frames : counts_.host_frames);
    (is_station ? counts_.station_bytes : counts_.host_bytes) += frame->GetSize();
    Frame &entry = on_air_[mpdu->GetPacket()->GetUid()];
    entry.label.read(mpdu->GetPacket());
    const Mac48Address to = mpdu->GetHeader().GetAddr1();
    const int addressee = to.IsGroup() ? -1 : owner_.at(to);
    for (const int node : near_(sender)) {
        const bool meant = addressee < 0 ? node != sender : node == addressee;
        if (meant && hears_(sender, node)) entry.awaiting.push_back(node);
    }
    const Time duration = WifiPhy::CalculateTxDuration(frames, how, radios_[sender]->GetPhyBand());
    Simulator::Schedule(duration + NanoSeconds(SETTLED_NS), &ReceptionMeter::over, this, mpdu->GetPacket()->GetUid());
}

void ReceptionMeter::received(int node, Ptr<const WifiPpdu> frame, RxSignalInfo, const WifiTxVector &,
                              const std::vector<bool> &good) {
    if (good.empty() || !good.front()) return;
    const auto entry = on_air_.find(first(frame->GetPsdu())->GetPacket()->GetUid());
    if (entry != on_air_.end()) counts_.copies_received += std::erase(entry->second.awaiting, node);
}

/// Reports the copies that were lost, after the end of a frame. A unicast may be repeated, so its MAC reports its loss.
void ReceptionMeter::over(uint64_t frame) {
    const auto found = on_air_.find(frame);
    for (const int node : found->second.awaiting) {
        if (!is_up_(node)) continue;
        ++counts_.copies_lost;
        const Label &label = found->second.label;
        if (label.packet < 0 || label.peer >= 0) continue;
        if (label.in_one_frame || reported_.emplace(label.serial, node).second) {
            reports_.lost(node, label.packet, Interface::WIRELESS);
        }
    }
    on_air_.erase(found);
}

}  // namespace causeway
