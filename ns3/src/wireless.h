// Interface 0: UDP over the wireless channel.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "label.h"
#include "ns3/net-device-container.h"
#include "ns3/node.h"
#include "ns3/socket.h"
#include "ns3/wifi-mac.h"
#include "plan.h"

namespace causeway {

class Wireless {
  public:
    Wireless(const ns3::NetDeviceContainer &devices, const Reports &reports);

    void send(int node, int64_t packet, int peer, int size_bytes);
    /// Switches the radio of a node, which drops its queue when it goes down.
    void set_up(int node, bool up);
    bool is_up(int node) const { return up_[node]; }
    /// Returns the number of packets dropped from senders' queues, because they were too many or too old.
    uint64_t never_sent() const { return never_sent_; }

  private:
    void listen(int node);
    void receive(int node, ns3::Ptr<ns3::Socket> socket);
    void on_dropped(ns3::WifiMacDropReason why, ns3::Ptr<const ns3::WifiMpdu> frame);

    std::vector<ns3::Ptr<ns3::NetDevice>> devices_;
    std::vector<ns3::Ptr<ns3::Socket>> sockets_;
    std::vector<bool> up_;
    const Reports &reports_;
    int64_t next_serial_ = 0;
    std::unordered_set<int64_t> unicast_;  // unicasts in flight, by serial
    uint64_t never_sent_ = 0;
};

}  // namespace causeway
