#include "stream.h"

#include <algorithm>

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"

namespace causeway {

using namespace ns3;

// Reno, with the sizes in the mobile study's paper (Section V-A): segments of 536 bytes, a window of 7504 bytes,
// retransmission from 0.2 s on. A connection outlives the failures of a host, since TCP continues its attempts.
void configure_tcp() {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(536));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(7504));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(15));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

Stream::Stream(End first, End second, Interface::Value interface, const Reports &reports)
    : interface_(interface), reports_(reports) {
    sides_[0].end = first;
    sides_[1].end = second;
}

void Stream::send(int from, int64_t packet, int size_bytes) {
    const int side = side_of(from);
    sides_[side].leaving.push_back({packet, static_cast<uint32_t>(std::max(1, size_bytes))});
    sides_[1 - side].coming.push_back(sides_[side].leaving.back());
    if (!is_open()) open(side);
    push(side);
}

void Stream::open(int side) {
    ++opened_;
    const End &here = sides_[side].end;
    auto socket = Socket::CreateSocket(here.node, TcpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(here.address, 0));
    socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                               MakeCallback(&Stream::on_failed_to_open, this).Bind(side));
    attach(side, socket);
    socket->Connect(InetSocketAddress(sides_[1 - side].end.address, PORTS[interface_]));
}

void Stream::accepted(int at, Ptr<Socket> socket) {
    attach(side_of(at), socket);
    push(side_of(at));
}

void Stream::attach(int side, Ptr<Socket> socket) {
    sides_[side].socket = socket;
    socket->SetRecvCallback(MakeCallback(&Stream::on_data, this).Bind(side));
    socket->SetSendCallback(MakeCallback(&Stream::on_room, this).Bind(side));
    socket->SetCloseCallbacks(MakeCallback(&Stream::on_broken, this), MakeCallback(&Stream::on_broken, this));
}

/// Passes as many bytes to TCP as it has room for.
void Stream::push(int side) {
    Side &s = sides_[side];
    while (s.socket && !s.leaving.empty()) {
        Parcel &first = s.leaving.front();
        const uint32_t bytes = std::min(first.bytes, s.socket->GetTxAvailable());
        if (bytes == 0 || s.socket->Send(Create<Packet>(bytes)) <= 0)
            return;  // not connected yet, or full: on_room follows
        first.bytes -= bytes;
        if (first.bytes == 0) s.leaving.pop_front();
    }
}

void Stream::on_room(int side, Ptr<Socket>, uint32_t) { push(side); }

void Stream::on_data(int side, Ptr<Socket> socket) {
    Side &s = sides_[side];
    if (socket != s.socket) return;
    while (auto bytes = socket->Recv()) s.got += bytes->GetSize();
    while (!s.coming.empty() && s.got >= s.coming.front().bytes) {
        const Parcel parcel = s.coming.front();
        s.got -= parcel.bytes;
        s.coming.pop_front();
        reports_.arrival(s.end.number, parcel.packet, interface_);
    }
}

/// TCP gave up opening the connection, and nothing has arrived: sends everything again over another connection.
void Stream::on_failed_to_open(int side, Ptr<Socket> socket) {
    if (socket != sides_[side].socket) return;
    ++broken_;
    forget_sockets();
    for (int from = 0; from < 2; ++from) sides_[from].leaving = sides_[1 - from].coming;
    Simulator::ScheduleNow(&Stream::reopen, this, side);
}

void Stream::reopen(int side) {
    if (is_open()) return;
    open(side);
    push(side);
}

/// The connection has ended: reports the packets in flight as lost. The next packet opens another connection.
void Stream::on_broken(Ptr<Socket> socket) {
    if (socket != sides_[0].socket && socket != sides_[1].socket) return;
    ++broken_;
    forget_sockets();
    for (Side &s : sides_) {
        for (const Parcel &parcel : s.coming) reports_.lost(s.end.number, parcel.packet, interface_);
        s.leaving.clear();
        s.coming.clear();
        s.got = 0;
    }
}

void Stream::forget_sockets() {
    for (Side &s : sides_) {
        if (!s.socket) continue;
        auto socket = s.socket;
        s.socket = nullptr;
        socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
        socket->SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(), MakeNullCallback<void, Ptr<Socket>>());
        socket->Close();
    }
}

}  // namespace causeway
