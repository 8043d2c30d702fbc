// TCP connections that programs open and close themselves, over ns-3's TCP. Only the lengths of data are simulated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "bridge/cpp/client.h"
#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "plan.h"
#include "reporting_socket.h"

namespace causeway {

class Connections {
  public:
    /// Returns the address of `node` for its connection to `peer` over an interface.
    using AddressFor = std::function<ns3::Ipv4Address(int node, int peer, Interface::Value interface)>;

    Connections(const ns3::NodeContainer &nodes, AddressFor address_for, const Reports &reports);

    /// Carries out one of LISTEN to ABORT; does nothing if the connection is over.
    void act(const Action &action);
    /// Drops all connections of a node without a message to the other ends: the node fails.
    void forget(int node);

    uint64_t opened() const { return opened_; }
    uint64_t broken() const { return broken_; }

  private:
    using Key = std::pair<int64_t, int>;  // connection, node
    struct End {
        ns3::Ptr<ReportingSocket> socket;
        uint64_t written = 0, room_reported = 0;
        uint32_t unread = 0;  // bytes that were reported to the program but not read by it
        bool established = false, closed = false, other_is_done = false;
    };
    using From = std::pair<ns3::Ipv4Address, uint16_t>;

    void listen(int node, uint16_t port, bool begin);
    void connect(const Action &action);
    void accept(int node, ns3::Ptr<ns3::Socket> socket, const ns3::Address &from);
    void attach(const Key &key, ns3::Ptr<ReportingSocket> socket);
    void write(End &end, uint32_t bytes);
    void read(End &end, uint32_t bytes);
    void tell(Kind::Value kind, const Key &key, int64_t arg) const;

    void on_connected(Key key, ns3::Ptr<ns3::Socket>);
    void on_not_connected(Key key, ns3::Ptr<ns3::Socket>);
    void on_data(Key key, ns3::Ptr<ns3::Socket>);
    void on_room(Key key, ns3::Ptr<ns3::Socket>, uint32_t);
    void on_done(Key key, ns3::Ptr<ns3::Socket>);
    void on_broken(Key key, ns3::Ptr<ns3::Socket>);
    void fail(const Key &key, Ending::Value why);
    void drop(const Key &key);

    ns3::NodeContainer nodes_;
    AddressFor address_for_;
    const Reports &reports_;
    std::map<Key, End> ends_;
    std::map<From, int64_t> coming_;  // opened, not yet accepted
    std::map<std::pair<int, uint16_t>, ns3::Ptr<ns3::Socket>> listeners_;
    std::vector<ns3::Ptr<ReportingSocket>> over_;  // kept until none of their methods is running
    uint64_t opened_ = 0, broken_ = 0;
};

}  // namespace causeway
