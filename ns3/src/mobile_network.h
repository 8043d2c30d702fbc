// The mobile network of a run: stations on wires, hosts that walk, one wireless channel.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "wireless_channel.h"
#include "connections.h"
#include "mobility.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "plan.h"
#include "reception.h"
#include "stream.h"
#include "wireless.h"

namespace causeway {

class SimulatedNetwork {
  public:
    /// Builds the network. If this is impossible, throws with a line for the user.
    SimulatedNetwork(const Plan &plan, Reports reports);

    void send(int node, Interface::Value interface, int64_t packet, int peer, int size_bytes);
    /// Carries out an action on a TCP connection (LISTEN to ABORT).
    void connection(const Action &action);
    /// Makes a host move to a position.
    void move(const Action &action);
    /// Records the positions of all nodes now and, if nodes move, periodically.
    void tell_places();
    /// Makes a node fail or recover. While it is down, its radio is off, and a walking host stands still.
    void set_up(int node, bool up);
    int nodes() const { return plan_.nodes(); }
    bool is_up(int node) const { return wireless_->is_up(node); }

    /// Returns the network's measurements: (name, value).
    std::vector<std::pair<std::string, double>> measured() const;

  private:
    using Pair = std::pair<int, int>;

    void check_peer(int node, Interface::Value interface, int peer) const;
    void place_nodes();
    void lay_radio();
    void lay_wires();
    void accept_streams(Interface::Value interface);
    void accept(int node, Interface::Value interface, ns3::Ptr<ns3::Socket> socket, const ns3::Address &from);
    void introduce(int a, int b);
    Stream &stream(int a, int b, Interface::Value interface);
    ns3::Ipv4Address address_for(int node, int peer, Interface::Value interface) const;
    Point position(int node) const;
    bool hears(int from, int to) const;

    const Plan plan_;
    const Reports reports_;
    const Cells cells_;
    ns3::NodeContainer nodes_;
    ns3::Ptr<WirelessChannel> air_;
    bool moving_ = false;                // true if any node moves, or will move
    ns3::NetDeviceContainer devices_;    // the radios
    std::set<Pair> introduced_;          // (lower, higher): nodes with each other's MAC address
    std::vector<ns3::Ptr<Walk>> walks_;  // the mobility of hosts
    std::unique_ptr<Wireless> wireless_;
    std::unique_ptr<ReceptionMeter> meter_;
    std::unique_ptr<Connections> connections_;
    std::map<Pair, int> wires_;  // both directions of a wire -> its number
    std::map<ns3::Ipv4Address, int> owner_;
    std::map<std::pair<Pair, Interface::Value>, std::unique_ptr<Stream>> streams_;
};

}  // namespace causeway
