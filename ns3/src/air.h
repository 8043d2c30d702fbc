// The radio channel, where a frame concerns only the radios near its sender.
//
// ns-3's YansWifiChannel hands every frame to every radio of the network; a radio then ignores what is weaker than its
// sensitivity. Here those that must ignore it are not asked: the frames that radios see, and when, are the same.
#pragma once

#include <algorithm>
#include <vector>

#include "bridge/cpp/near.h"
#include "ns3/mobility-model.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/yans-wifi-phy.h"
#include "plan.h"

namespace causeway {

class AirPhy;

class Air : public ns3::SimpleRefCount<Air> {
  public:
    /// Nobody farther away than `range_m` gets a frame with his sensitivity; nobody is faster than `speed_m_s`.
    Air(ns3::Ptr<ns3::PropagationLossModel> loss, double range_m, double speed_m_s, const TroubleMap &trouble);
    /// Somebody is this fast from now on.
    void at_least_as_fast(double speed_m_s) { speed_m_s_ = std::max(speed_m_s_, speed_m_s); }

    /// Takes a radio; they are numbered as they come.
    void add(const ns3::Ptr<AirPhy> &phy);
    /// Sends a frame to all who can hear it.
    void send(const AirPhy &sender, const ns3::Ptr<const ns3::WifiPpdu> &frame, ns3::dBm_u power);
    /// Numbers, ascending, of all radios within a distance of one of them; of others only as far as somebody moves.
    const std::vector<int> &around(int sender, double radius_m);

  private:
    static void receive(ns3::Ptr<AirPhy> receiver, ns3::Ptr<const ns3::WifiPpdu> frame, ns3::dBm_u power,
                        bool understood);
    ns3::Vector place(int radio) const;
    void look();

    ns3::Ptr<ns3::PropagationLossModel> loss_;
    ns3::Ptr<ns3::PropagationDelayModel> delay_;
    double range_m_;
    double speed_m_s_;
    const TroubleMap trouble_;
    std::vector<ns3::Ptr<AirPhy>> phys_;
    Near grid_;
    int64_t looked_at_ps_ = -1;  // -1: never
};

/// A radio of ns-3 that sends into an Air.
class AirPhy : public ns3::YansWifiPhy {
  public:
    static ns3::TypeId GetTypeId();

    void join(const ns3::Ptr<Air> &air, int number) {
        air_ = air;
        number_ = number;
    }
    int number() const { return number_; }
    void StartTx(ns3::Ptr<const ns3::WifiPpdu> frame) override;
    /// A frame that nobody makes out here: it only keeps the air busy, and disturbs others.
    void disturb(const ns3::Ptr<const ns3::WifiPpdu> &frame, ns3::RxPowerWattPerChannelBand &watts);

  protected:
    void DoDispose() override;

  private:
    ns3::Ptr<Air> air_;
    int number_ = -1;
};

}  // namespace causeway
