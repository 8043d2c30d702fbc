// ns-3's TCP socket, where it must say more than it does: whether it was reset, and what room its window has.
#pragma once

#include <functional>

#include "ns3/node.h"
#include "ns3/tcp-socket-base.h"

namespace causeway {

class TellingSocket : public ns3::TcpSocketBase {
  public:
    /// A socket of this node, with the algorithms that all its TCP sockets have.
    static ns3::Ptr<TellingSocket> make(const ns3::Ptr<ns3::Node> &node);
    static ns3::TypeId GetTypeId();
    ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }

    /// The other end reset the connection, or refused it.
    bool was_reset() const { return was_reset_; }
    /// Called once a reset has ended the connection.
    std::function<void()> on_reset;

    /// Bytes that were handed over and not yet acknowledged.
    uint32_t unacknowledged() const;
    /// The window has room for less than two segments.
    bool is_shut() const;
    /// Tells the other end how wide the window is now.
    void tell_window();

    /// Nobody is told of anything any more.
    void be_silent();
    /// Ends the connection at once, and tells the other end.
    void abort();
    /// Ends the connection as a failure of the host does: the other end hears nothing.
    void forget();

  private:
    bool was_reset_ = false;

    ns3::Ptr<ns3::TcpSocketBase> Fork() override;
    void DoForwardUp(ns3::Ptr<ns3::Packet> packet, const ns3::Address &from, const ns3::Address &to) override;
};

}  // namespace causeway
