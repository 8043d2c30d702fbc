#include "wireless_channel.h"

#include "ns3/interference-helper.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-ppdu.h"
#include "ns3/wifi-utils.h"

namespace causeway {

using namespace ns3;

namespace {
constexpr int64_t LOOK_EVERY_PS = 1'000'000'000'000;  // between updates of the grid; moved distances are added
constexpr double MARGIN_M = 1;                        // more than rounding errors
constexpr double SENSITIVITY_MHZ = 20;                // the channel width that sensitivities refer to

int64_t now_ps() { return Simulator::Now().GetTimeStep(); }
}  // namespace

WirelessChannel::WirelessChannel(Ptr<PropagationLossModel> loss, double range_m, double speed_m_s,
                                 const NetworkFaultMap &network_faults)
    : loss_(std::move(loss)),
      delay_(CreateObject<ConstantSpeedPropagationDelayModel>()),
      range_m_(range_m),
      speed_m_s_(speed_m_s),
      network_faults_(network_faults),
      grid_(range_m) {}

void WirelessChannel::add(const Ptr<WirelessPhy> &phy) {
    phy->join(this, static_cast<int>(phys_.size()));
    phys_.push_back(phy);
    looked_at_ps_ = -1;
}

Vector WirelessChannel::place(int radio) const { return phys_[radio]->GetMobility()->GetPosition(); }

void WirelessChannel::look() {
    for (int radio = 0; radio < static_cast<int>(phys_.size()); ++radio) {
        const Vector at = place(radio);
        grid_.put(radio, at.x, at.y);
    }
    looked_at_ps_ = now_ps();
}

const std::vector<int> &WirelessChannel::around(int sender, double radius_m) {
    const bool old = speed_m_s_ > 0 && now_ps() - looked_at_ps_ > LOOK_EVERY_PS;
    if (looked_at_ps_ < 0 || old) look();
    const double steps_m = speed_m_s_ * 1e-12 * static_cast<double>(now_ps() - looked_at_ps_);
    const Vector at = place(sender);
    return grid_.around(at.x, at.y, radius_m + steps_m + MARGIN_M);
}

// Does the same as YansWifiChannel::Send, for the radios in range.
void WirelessChannel::send(const WirelessPhy &sender, const Ptr<const WifiPpdu> &frame, dBm_u power) {
    const auto from = sender.GetMobility();
    for (const int i : around(sender.number(), range_m_)) {
        if (i == sender.number()) continue;
        const auto &receiver = phys_[i];
        const auto to = receiver->GetMobility();
        const Vector at = to->GetPosition();
        const bool understood =
            network_faults_.empty() || !network_faults_.deaf(sender.number(), i, now_ps(), at.x, at.y, at.z);
        Simulator::ScheduleWithContext(receiver->GetDevice()->GetNode()->GetId(), delay_->GetDelay(from, to),
                                       &WirelessChannel::receive, receiver, frame, loss_->CalcRxPower(power, from, to),
                                       understood);
    }
}

void WirelessChannel::receive(Ptr<WirelessPhy> receiver, Ptr<const WifiPpdu> frame, dBm_u power, bool understood) {
    const double wider_db = RatioToDb(frame->GetTxChannelWidth() / SENSITIVITY_MHZ);
    if (power + receiver->GetRxGain() < receiver->GetRxSensitivity() + wider_db) return;
    RxPowerWattPerChannelBand watts;
    watts.insert({{{{0, 0}}, {{0, 0}}}, DbmToW(power + receiver->GetRxGain())});
    if (!understood) return receiver->disturb(frame, watts);
    receiver->StartReceivePreamble(frame, watts, frame->GetTxDuration());
}

TypeId WirelessPhy::GetTypeId() {
    static TypeId id = TypeId("causeway::WirelessPhy").SetParent<YansWifiPhy>().AddConstructor<WirelessPhy>();
    return id;
}
NS_OBJECT_ENSURE_REGISTERED(WirelessPhy);

void WirelessPhy::StartTx(Ptr<const WifiPpdu> frame) {
    air_->send(*this, frame, GetTxPowerForTransmission(frame) + GetTxGain());
}

void WirelessPhy::disturb(const Ptr<const WifiPpdu> &frame, RxPowerWattPerChannelBand &watts) {
    m_interference->AddForeignSignal(frame->GetTxDuration(), watts, GetCurrentFrequencyRange());
    SwitchMaybeToCcaBusy();
}

void WirelessPhy::DoDispose() {
    air_ = nullptr;
    YansWifiPhy::DoDispose();
}

}  // namespace causeway
