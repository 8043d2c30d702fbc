#include "connections.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ns3/inet-socket-address.h"

namespace causeway {

using namespace ns3;

Connections::Connections(const NodeContainer &nodes, AddressFor address_for, const Reports &reports)
    : nodes_(nodes), address_for_(std::move(address_for)), reports_(reports) {}

void Connections::act(const Action &action) {
    over_.clear();
    if (action.kind == Act::LISTEN) {
        return listen(action.node, static_cast<uint16_t>(action.size_bytes), action.peer != 0);
    }
    if (action.kind == Act::CONNECT) return connect(action);
    const Key key{action.ref, action.node};
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    End &end = found->second;
    if (action.kind == Act::WRITE) return write(end, static_cast<uint32_t>(action.size_bytes));
    if (action.kind == Act::READ) return read(end, static_cast<uint32_t>(action.size_bytes));
    if (action.kind == Act::ABORT) {
        const auto socket = end.socket;
        drop(key);
        return socket->abort();
    }
    end.closed = true;
    end.socket->end_sending();
    if (end.other_is_done) drop(key);
}

void Connections::forget(int node) {
    std::vector<Key> keys;
    for (const auto &[key, end] : ends_) {
        if (key.second == node) keys.push_back(key);
    }
    for (const Key &key : keys) {
        const auto socket = ends_.at(key).socket;
        drop(key);
        socket->forget();
    }
    for (auto it = listeners_.lower_bound({node, 0}); it != listeners_.end() && it->first.first == node;) {
        DynamicCast<ReportingSocket>(it->second)->forget();
        it = listeners_.erase(it);
    }
}

// ---- opening --------------------------------------------------------------------------------------------------------
void Connections::listen(int node, uint16_t port, bool begin) {
    auto &listener = listeners_[{node, port}];
    if (listener) DynamicCast<ReportingSocket>(listener)->forget();
    if (!begin) {
        listeners_.erase({node, port});
        return;
    }
    listener = ReportingSocket::make(nodes_.Get(node));
    if (listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), port)) < 0) {
        throw std::runtime_error("port " + std::to_string(port) + " of node " + std::to_string(node) +
                                 " is in use by the simulator itself; listen on another one");
    }
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<ns3::Socket>, const Address &>(),
                                MakeCallback(&Connections::accept, this).Bind(node));
}

void Connections::connect(const Action &action) {
    const auto interface = static_cast<Interface::Value>(action.interface);
    const Ipv4Address here = address_for_(action.node, action.peer, interface);
    const Ipv4Address there = address_for_(action.peer, action.node, interface);
    const Key key{action.ref, action.node};
    auto socket = ReportingSocket::make(nodes_.Get(action.node));
    if (socket->Bind(InetSocketAddress(here, 0)) < 0) return tell(Kind::ENDED, key, Ending::TIMED_OUT);
    Address name;
    socket->GetSockName(name);
    coming_[{here, InetSocketAddress::ConvertFrom(name).GetPort()}] = action.ref;
    attach(key, socket);
    socket->Connect(InetSocketAddress(there, static_cast<uint16_t>(action.size_bytes)));
}

void Connections::accept(int node, Ptr<ns3::Socket> socket, const Address &from) {
    const auto address = InetSocketAddress::ConvertFrom(from);
    const auto accepted = DynamicCast<ReportingSocket>(socket);
    const auto found = coming_.find({address.GetIpv4(), address.GetPort()});
    if (found == coming_.end()) {
        over_.push_back(accepted);
        return accepted->abort();
    }
    const Key key{found->second, node};
    coming_.erase(found);
    attach(key, accepted);
    ends_[key].established = true;
    tell(Kind::ACCEPTED, key, 0);
    on_data(key, socket);
}

void Connections::attach(const Key &key, Ptr<ReportingSocket> socket) {
    ends_[key].socket = socket;
    socket->SetConnectCallback(MakeCallback(&Connections::on_connected, this).Bind(key),
                               MakeCallback(&Connections::on_not_connected, this).Bind(key));
    socket->SetRecvCallback(MakeCallback(&Connections::on_data, this).Bind(key));
    socket->SetSendCallback(MakeCallback(&Connections::on_room, this).Bind(key));
    socket->SetCloseCallbacks(MakeCallback(&Connections::on_done, this).Bind(key),
                              MakeCallback(&Connections::on_broken, this).Bind(key));
    socket->on_reset = [this, key] { fail(key, Ending::RESET); };
}

// ---- bytes ----------------------------------------------------------------------------------------------------------
void Connections::write(End &end, uint32_t bytes) {
    const int sent = end.socket->Send(Create<Packet>(bytes), 0);
    if (sent > 0) end.written += static_cast<uint64_t>(sent);
}

void Connections::read(End &end, uint32_t bytes) {
    uint32_t left = std::min(bytes, end.unread);
    const bool was_shut = end.socket->is_shut();
    while (left > 0) {
        const auto taken = end.socket->Recv(left, 0);
        if (!taken || taken->GetSize() == 0) break;
        left -= taken->GetSize();
        end.unread -= taken->GetSize();
    }
    if (was_shut && !end.socket->is_shut()) end.socket->report_window();
}

void Connections::on_data(Key key, Ptr<ns3::Socket>) {
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    End &end = found->second;
    const uint32_t there = end.socket->GetRxAvailable();
    if (there <= end.unread) return;
    const uint32_t fresh = there - end.unread;
    end.unread = there;
    tell(Kind::BYTES, key, fresh);
}

void Connections::on_room(Key key, Ptr<ns3::Socket>, uint32_t) {
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    End &end = found->second;
    const uint64_t room = end.written - end.socket->unacknowledged() - end.room_reported;
    if (room < Constant::ROOM_BYTES) return;
    end.room_reported += room;
    tell(Kind::ROOM, key, static_cast<int64_t>(room));
}

void Connections::tell(Kind::Value kind, const Key &key, int64_t arg) const {
    reports_.connection(kind, key.second, key.first, static_cast<int32_t>(arg));
}

// ---- the end of a connection ----------------------------------------------------------------------------------------
void Connections::on_connected(Key key, Ptr<ns3::Socket>) {
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    ++opened_;
    found->second.established = true;
    tell(Kind::CONNECTED, key, 0);
}

void Connections::on_not_connected(Key key, Ptr<ns3::Socket>) { fail(key, Ending::TIMED_OUT); }

/// Called by ns-3 for a FIN, and for a RST in some states.
void Connections::on_done(Key key, Ptr<ns3::Socket> socket) {
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    if (found->second.socket->was_reset()) return fail(key, Ending::RESET);
    on_data(key, socket);
    if (found->second.other_is_done) return;
    found->second.other_is_done = true;
    tell(Kind::ENDED, key, Ending::DONE);
    if (found->second.closed) drop(key);
}

void Connections::on_broken(Key key, Ptr<ns3::Socket>) {
    const auto found = ends_.find(key);
    if (found != ends_.end()) fail(key, found->second.socket->was_reset() ? Ending::RESET : Ending::TIMED_OUT);
}

/// Ends a connection with an error. A reset before it is established is a refusal.
void Connections::fail(const Key &key, Ending::Value why) {
    const auto found = ends_.find(key);
    if (found == ends_.end()) return;
    ++broken_;
    tell(Kind::ENDED, key, why == Ending::RESET && !found->second.established ? Ending::REFUSED : why);
    drop(key);
}

void Connections::drop(const Key &key) {
    const auto found = ends_.find(key);
    std::erase_if(coming_, [&](const auto &entry) { return entry.second == key.first; });
    found->second.socket->be_silent();
    over_.push_back(found->second.socket);
    ends_.erase(found);
}

}  // namespace causeway
