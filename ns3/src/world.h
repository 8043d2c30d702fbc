// The mobile network of a run, built: stations on wires, hosts that walk, one radio channel.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "air.h"
#include "connections.h"
#include "mobility.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "plan.h"
#include "reception.h"
#include "stream.h"
#include "wireless.h"

namespace causeway {

class World {
  public:
    /// Throws with a line for the user if the plan cannot be built.
    World(const Plan &plan, Reports reports);

    void send(int node, Interface::Value interface, int64_t packet, int peer, int size_bytes);
    /// One of LISTEN to ABORT.
    void connection(const Action &action);
    /// A host sets out for a place.
    void move(const Action &action);
    /// Tells for the record where everybody is, now and from now on.
    void tell_places();
    /// A node that is down has a silent radio, sends nothing and tells of no arrival.
    /// A host that is down stands still, too.
    void set_up(int node, bool up);
    int nodes() const { return plan_.nodes(); }
    bool is_up(int node) const { return wireless_->is_up(node); }

    /// What the network measured itself: (name, value).
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
    ns3::Ptr<Air> air_;
    bool moving_ = false;                // somebody does, or will
    ns3::NetDeviceContainer devices_;    // their radios
    std::set<Pair> introduced_;          // (lower, higher): they know each other's radio
    std::vector<ns3::Ptr<Walk>> walks_;  // of the hosts
    std::unique_ptr<Wireless> wireless_;
    std::unique_ptr<ReceptionMeter> meter_;
    std::unique_ptr<Connections> connections_;
    std::map<Pair, int> wires_;  // both directions of a wire -> its number
    std::map<ns3::Ipv4Address, int> owner_;
    std::map<std::pair<Pair, Interface::Value>, std::unique_ptr<Stream>> streams_;
};

}  // namespace causeway
