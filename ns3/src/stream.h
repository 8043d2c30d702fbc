// Interfaces 1 and 2: one TCP connection between two nodes, kept open, that carries packets of the protocol both ways.
//
// TCP carries bytes; both ends know the lengths of the packets in flight, so that a packet arrives with its last byte.
// The stream adds no headers: a packet of 100 bytes is 100 bytes of TCP payload.
#pragma once

#include <cstdint>
#include <deque>

#include "ns3/ipv4-address.h"
#include "ns3/node.h"
#include "ns3/socket.h"
#include "plan.h"

namespace causeway {

/// Sets the parameters of TCP, for all sockets made from now on.
void configure_tcp();

class Stream {
  public:
    struct End {
        int number = 0;  // the node's id
        ns3::Ptr<ns3::Node> node;
        ns3::Ipv4Address address;
    };

    static constexpr uint16_t PORTS[] = {0, 4001, 4002};  // by interface

    Stream(End first, End second, Interface::Value interface, const Reports &reports);

    /// Sends a packet to the other end, as soon as TCP allows. The first packet opens the connection.
    void send(int from, int64_t packet, int size_bytes);
    /// Uses the socket of a connection that the other end's listener has accepted.
    void accepted(int at, ns3::Ptr<ns3::Socket> socket);

    uint64_t opened() const { return opened_; }
    uint64_t broken() const { return broken_; }

  private:
    struct Parcel {
        int64_t packet;
        uint32_t bytes;
    };
    struct Side {
        End end;
        ns3::Ptr<ns3::Socket> socket;
        std::deque<Parcel> leaving;  // not yet passed to TCP; the first one may be passed in part
        std::deque<Parcel> coming;   // in flight to this side
        uint64_t got = 0;            // bytes received of the first one in flight
    };

    int side_of(int node) const { return sides_[0].end.number == node ? 0 : 1; }
    bool is_open() const { return sides_[0].socket || sides_[1].socket; }
    void open(int side);
    void reopen(int side);
    void attach(int side, ns3::Ptr<ns3::Socket> socket);
    void push(int side);
    void on_room(int side, ns3::Ptr<ns3::Socket> socket, uint32_t bytes);
    void on_data(int side, ns3::Ptr<ns3::Socket> socket);
    void on_failed_to_open(int side, ns3::Ptr<ns3::Socket> socket);
    void on_broken(ns3::Ptr<ns3::Socket> socket);
    void forget_sockets();

    Side sides_[2];
    Interface::Value interface_;
    const Reports &reports_;
    uint64_t opened_ = 0;
    uint64_t broken_ = 0;
};

}  // namespace causeway
