#include "radio.h"

#include <cmath>
#include <map>
#include <stdexcept>

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/error-rate-model.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

namespace causeway {

using namespace ns3;

namespace {

constexpr int64_t WIFI_BPS = 6'000'000;        // the basic rate of 802.11g's OFDM, which all its nodes support
constexpr int64_t DISK_BPS = 2'000'000;        // calibrated on the paper's figures: docs/lab/radio.md
constexpr int64_t WIFI_MOST_BPS = 24'000'000;  // faster frames do not reach the border of the cell
constexpr uint32_t WIFI_TRIES = 7;             // transmissions of a unicast
constexpr uint32_t DISK_TRIES = 1;
constexpr double HEARD_DBM = -82;     // the minimum power at which a receiver detects a frame (802.11g, 20 MHz)
constexpr double NOISE_DBM = -94;     // thermal noise and 7 dB of noise figure: weaker signals do not interfere
constexpr double LOSS_AT_1M_DB = 40;  // free space at 2.4 GHz
constexpr double MARGIN_DB = 1e-6;    // so that rounding does not exclude a receiver exactly at the range

/// The rule of the unit disk: overlapping frames are all lost. Without overlap, a signal is 100 dB above the noise.
class AllOrNothing : public ErrorRateModel {
  public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("causeway::AllOrNothing").SetParent<ErrorRateModel>().AddConstructor<AllOrNothing>();
        return id;
    }

  private:
    double DoGetChunkSuccessRate(WifiMode, const WifiTxVector &, double snr, uint64_t, uint8_t, WifiPpduField,
                                 uint16_t) const override {
        constexpr double CLEAN = 1000;  // 30 dB
        return snr >= CLEAN ? 1 : 0;
    }
};
NS_OBJECT_ENSURE_REGISTERED(AllOrNothing);

std::string mode_for(int64_t bps) {
    static const std::map<int64_t, std::string> modes{
        {1'000'000, "DsssRate1Mbps"},      {2'000'000, "DsssRate2Mbps"},      {5'500'000, "DsssRate5_5Mbps"},
        {11'000'000, "DsssRate11Mbps"},    {6'000'000, "ErpOfdmRate6Mbps"},   {9'000'000, "ErpOfdmRate9Mbps"},
        {12'000'000, "ErpOfdmRate12Mbps"}, {18'000'000, "ErpOfdmRate18Mbps"}, {24'000'000, "ErpOfdmRate24Mbps"},
        {36'000'000, "ErpOfdmRate36Mbps"}, {48'000'000, "ErpOfdmRate48Mbps"}, {54'000'000, "ErpOfdmRate54Mbps"}};
    const auto found = modes.find(bps);
    if (found == modes.end()) {
        throw std::runtime_error("ns-3's radios send at 1, 2, 5.5, 6, 9, 11, 12, 18, 24, 36, 48 or 54 Mb/s, not at " +
                                 std::to_string(bps) + " b/s; choose another radio_bps (0: the radio's default)");
    }
    return found->second;
}

/// The path loss of signals, and the distance at which they disappear in the noise.
struct Loss {
    Ptr<PropagationLossModel> model;
    double range_m;
};

Loss lay_free_space(YansWifiPhyHelper &phy, double reach_m) {
    const double power_dbm = HEARD_DBM + LOSS_AT_1M_DB + 20 * std::log10(reach_m) + MARGIN_DB;
    phy.Set("TxPowerStart", DoubleValue(power_dbm));
    phy.Set("TxPowerEnd", DoubleValue(power_dbm));
    phy.Set("RxSensitivity", DoubleValue(NOISE_DBM));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi", DoubleValue(HEARD_DBM));
    auto loss = CreateObjectWithAttributes<LogDistancePropagationLossModel>(
        "Exponent", DoubleValue(2), "ReferenceDistance", DoubleValue(1), "ReferenceLoss", DoubleValue(LOSS_AT_1M_DB));
    return {loss, reach_m * std::pow(10, (HEARD_DBM + MARGIN_DB - NOISE_DBM) / 20)};
}

Loss lay_disk(YansWifiPhyHelper &phy, double reach_m) {
    phy.SetErrorRateModel("causeway::AllOrNothing");
    return {CreateObjectWithAttributes<RangePropagationLossModel>("MaxRange", DoubleValue(reach_m)), reach_m};
}

/// Makes radios that send into a WirelessChannel.
class WirelessPhyHelper : public YansWifiPhyHelper {
  public:
    WirelessPhyHelper() { m_phys.front().SetTypeId("causeway::WirelessPhy"); }
};

}  // namespace

Radios install_radio(const Plan &plan, const NodeContainer &nodes) {
    const bool disk = plan.radio == "unitdisk";
    if (!disk && plan.radio != "wifi") {
        throw std::runtime_error("the ns-3 adapter has the radios wifi and unitdisk, not '" + plan.radio + "'");
    }
    if (!disk && plan.radio_bps > WIFI_MOST_BPS) {
        throw std::runtime_error(
            "on wifi, frames at more than 24 Mb/s do not reach the border of the cell: choose a lower radio_bps");
    }
    const std::string mode = mode_for(plan.radio_bps > 0 ? plan.radio_bps : disk ? DISK_BPS : WIFI_BPS);
    WirelessPhyHelper phy;
    const Loss loss = disk ? lay_disk(phy, plan.reach_m) : lay_free_space(phy, plan.reach_m);
    phy.SetChannel(CreateObject<YansWifiChannel>());  // ns-3 requires one; no frame uses it
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false), "FrameRetryLimit",
                UintegerValue(disk ? DISK_TRIES : WIFI_TRIES));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211g);
    const std::string control = mode.starts_with("Dsss") ? "DsssRate1Mbps" : "ErpOfdmRate6Mbps";
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue(mode), "NonUnicastMode",
                                 StringValue(mode), "ControlMode", StringValue(control));
    Radios radios{wifi.Install(phy, mac, nodes),
                  Create<WirelessChannel>(loss.model, loss.range_m, plan.most_speed_m_s(), plan.network_faults)};
    for (uint32_t i = 0; i < radios.devices.GetN(); ++i) {
        radios.air->add(DynamicCast<WirelessPhy>(DynamicCast<WifiNetDevice>(radios.devices.Get(i))->GetPhy()));
    }
    return radios;
}

}  // namespace causeway
