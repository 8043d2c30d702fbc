// Interface 0: UDP over the radio, and what becomes of every copy.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "label.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/socket.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-phy.h"
#include "plan.h"

namespace causeway {

class Wireless {
  public:
    struct Counts {
        uint64_t frames = 0;      // frames on the air, of every kind
        uint64_t bytes = 0;       // bytes of those frames, MAC header and checksum included
        uint64_t messages = 0;    // frames that carry a packet of interface 0
        uint64_t copies = 0;      // copies owed: one for every receiver in reach of a broadcast, one of a unicast
        uint64_t lost = 0;        // those that did not arrive
        uint64_t never_sent = 0;  // packets that left the sender's queue unsent (too many, or too old)
    };

    /// `reach(a, b)`: whether b hears a now.
    Wireless(const ns3::NetDeviceContainer &devices, std::function<bool(int, int)> reach, const Reports &reports);

    void send(int node, int64_t packet, int peer, int size_bytes);
    void set_up(int node, bool up);
    bool is_up(int node) const { return up_[node]; }
    const Counts &counts() const { return counts_; }

  private:
    void listen(int node);
    void receive(int node, ns3::Ptr<ns3::Socket> socket);
    void on_air(int node, ns3::WifiConstPsduMap frames, ns3::WifiTxVector how, double power);
    void expect_copies(int sender, const Label &label, ns3::Time until_over);
    void count_losses(Label label);
    void on_dropped(int node, ns3::WifiMacDropReason why, ns3::Ptr<const ns3::WifiMpdu> frame);

    std::vector<ns3::Ptr<ns3::NetDevice>> devices_;
    std::vector<ns3::Ptr<ns3::Socket>> sockets_;
    std::vector<bool> up_;
    std::function<bool(int, int)> reach_;
    const Reports &reports_;
    int64_t next_serial_ = 0;
    std::unordered_map<int64_t, std::vector<int>> awaited_;  // broadcasts on the air, by serial: who has no copy yet
    std::unordered_set<int64_t> unicast_;                    // unicasts under way, by serial
    Counts counts_;
};

}  // namespace causeway
