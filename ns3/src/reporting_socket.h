// ns-3's TCP socket, extended: it shows resets and the room in its window.
#pragma once

#include <functional>

#include "ns3/node.h"
#include "ns3/tcp-socket-base.h"

namespace causeway {

class ReportingSocket : public ns3::TcpSocketBase {
  public:
    /// Makes a socket of a node, with the algorithms of all its TCP sockets.
    static ns3::Ptr<ReportingSocket> make(const ns3::Ptr<ns3::Node> &node);
    static ns3::TypeId GetTypeId();

    /// Returns whether the other end reset or refused the connection.
    bool was_reset() const { return was_reset_; }
    /// Called after a reset has ended the connection.
    std::function<void()> on_reset;

    /// Returns the number of bytes sent and not yet acknowledged.
    uint32_t unacknowledged() const;
    /// Returns whether the window has room for less than two segments.
    bool is_shut() const;
    /// Sends the other end the present size of the window.
    void report_window();

    /// Closes the sending direction: a FIN follows the data.
    void end_sending();
    /// Removes all callbacks.
    void be_silent();
    /// Resets the connection.
    void abort();
    /// Drops the connection as in a failure of the host: the other end gets no segment.
    void forget();

  private:
    bool was_reset_ = false;

    ns3::Ptr<ns3::TcpSocketBase> Fork() override;
    void DoForwardUp(ns3::Ptr<ns3::Packet> packet, const ns3::Address &from, const ns3::Address &to) override;
};

}  // namespace causeway
