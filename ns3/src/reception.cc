#include "reception.h"

#include <algorithm>

#include "ns3/simulator.h"
#include "ns3/wifi-mpdu.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-ppdu.h"
#include "ns3/wifi-psdu.h"

namespace causeway {

using namespace ns3;

namespace {
// A copy that has not arrived this long after the end of its frame is lost, or after the time that light takes for the
// radio's range if that is longer.
constexpr double SETTLED_S = 5e-6;
constexpr double LIGHT_M_S = 299'792'458;
constexpr double ROUNDING_S = 1e-7;  // more than rounding errors of ranges and times

Ptr<const WifiMpdu> first(const Ptr<const WifiPsdu> &frame) { return *frame->begin(); }
}  // namespace

ReceptionMeter::ReceptionMeter(const NetDeviceContainer &devices, int stations, double reach_m,
                               std::function<const std::vector<int> &(int)> near, std::function<bool(int, int)> hears,
                               std::function<bool(int)> is_up, const Reports &reports)
    : stations_(stations),
      settled_(Seconds(std::max(SETTLED_S, reach_m / LIGHT_M_S + ROUNDING_S))),
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
    Frame &entry = on_air_[mpdu->GetPacket()->GetUid()].emplace_back();
    entry.label.read(mpdu->GetPacket());
    const Mac48Address to = mpdu->GetHeader().GetAddr1();
    const int addressee = to.IsGroup() ? -1 : owner_.at(to);
    for (const int node : near_(sender)) {
        const bool meant = addressee < 0 ? node != sender : node == addressee;
        if (meant && hears_(sender, node)) entry.awaiting.push_back(node);
    }
    const Time duration = WifiPhy::CalculateTxDuration(frames, how, radios_[sender]->GetPhyBand());
    Simulator::Schedule(duration + settled_, &ReceptionMeter::over, this, mpdu->GetPacket()->GetUid());
}

void ReceptionMeter::received(int node, Ptr<const WifiPpdu> frame, RxSignalInfo, const WifiTxVector &,
                              const std::vector<bool> &good) {
    if (good.empty() || !good.front()) return;
    const auto found = on_air_.find(first(frame->GetPsdu())->GetPacket()->GetUid());
    if (found == on_air_.end()) return;
    for (Frame &sent : found->second) {  // copies arrive in the order in which the frame was sent and repeated
        if (std::erase(sent.awaiting, node) == 0) continue;
        ++counts_.copies_received;
        return;
    }
}

/// Reports the copies that were lost, after the end of a frame. A unicast may be repeated, so its MAC reports its loss.
void ReceptionMeter::over(uint64_t frame) {
    const auto found = on_air_.find(frame);
    const Frame sent = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) on_air_.erase(found);
    for (const int node : sent.awaiting) {
        if (!is_up_(node)) continue;
        ++counts_.copies_lost;
        const Label &label = sent.label;
        if (label.packet < 0 || label.peer >= 0) continue;
        if (label.in_one_frame || reported_.emplace(label.serial, node).second) {
            reports_.lost(node, label.packet, Interface::WIRELESS);
        }
    }
}

}  // namespace causeway
