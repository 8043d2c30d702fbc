// Counts the copies of frames that were received and lost. A frame has one copy for each receiver in range of a
// broadcast, or for the receiver of a unicast if in range, each time it is sent. The MAC's own acknowledgements do not
// count.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "label.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/phy-entity.h"
#include "ns3/wifi-phy.h"
#include "plan.h"

namespace causeway {

class ReceptionMeter {
  public:
    struct Counts {
        uint64_t station_frames = 0;
        uint64_t host_frames = 0;
        uint64_t station_bytes = 0;  // MAC header and checksum included
        uint64_t host_bytes = 0;
        uint64_t copies_received = 0;
        uint64_t copies_lost = 0;
    };

    /// `reach_m` is the radio's range; `near(a)` returns all nodes that may be in range of a, ascending; `hears(a, b)`
    /// whether b is up and in range of a now; `is_up(b)` whether b is up.
    ReceptionMeter(const ns3::NetDeviceContainer &devices, int stations, double reach_m,
                   std::function<const std::vector<int> &(int)> near, std::function<bool(int, int)> hears,
                   std::function<bool(int)> is_up, const Reports &reports);

    const Counts &counts() const { return counts_; }

  private:
    struct Frame {
        Label label;
        std::vector<int> awaiting;  // the nodes that have not received their copy yet
    };

    void departed(int node, ns3::WifiConstPsduMap frames, ns3::WifiTxVector how, double power);
    void received(int node, ns3::Ptr<const ns3::WifiPpdu> frame, ns3::RxSignalInfo signal, const ns3::WifiTxVector &how,
                  const std::vector<bool> &good);
    void over(uint64_t frame);

    std::vector<ns3::Ptr<ns3::WifiPhy>> radios_;
    std::map<ns3::Mac48Address, int> owner_;
    int stations_;
    ns3::Time settled_;
    std::function<const std::vector<int> &(int)> near_;
    std::function<bool(int, int)> hears_;
    std::function<bool(int)> is_up_;
    const Reports &reports_;
    // By the id of the packet. A MAC may repeat a frame while its first copy is on the way, if the way is long.
    std::unordered_map<uint64_t, std::deque<Frame>> on_air_;
    std::set<std::pair<int64_t, int>>
        reported_;  // (serial, node): the loss of a packet in several frames is reported once
    Counts counts_;
};

}  // namespace causeway
