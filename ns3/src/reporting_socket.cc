#include "reporting_socket.h"

#include "ns3/object-factory.h"
#include "ns3/rtt-estimator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"
#include "ns3/type-id.h"

namespace causeway {

using namespace ns3;

namespace {
/// Makes an object of the type that is the value of an attribute of the node's TCP.
template <class T>
Ptr<T> made_as(const Ptr<TcpL4Protocol> &tcp, const std::string &attribute) {
    TypeIdValue type;
    tcp->GetAttribute(attribute, type);
    ObjectFactory factory;
    factory.SetTypeId(type.Get());
    return factory.Create<T>();
}
}  // namespace

TypeId ReportingSocket::GetTypeId() {
    static TypeId id = TypeId("causeway::ReportingSocket").SetParent<TcpSocketBase>().AddConstructor<ReportingSocket>();
    return id;
}

/// Does the same as TcpL4Protocol::CreateSocket, which cannot make a derived class.
Ptr<ReportingSocket> ReportingSocket::make(const Ptr<Node> &node) {
    auto tcp = node->GetObject<TcpL4Protocol>();
    auto socket = CreateObject<ReportingSocket>();
    socket->SetNode(node);
    socket->SetTcp(tcp);
    socket->SetRtt(made_as<RttEstimator>(tcp, "RttEstimatorType"));
    socket->SetCongestionControlAlgorithm(made_as<TcpCongestionOps>(tcp, "SocketType"));
    socket->SetRecoveryAlgorithm(made_as<TcpRecoveryOps>(tcp, "RecoveryType"));
    tcp->AddSocket(socket);
    return socket;
}

Ptr<TcpSocketBase> ReportingSocket::Fork() { return CopyObject<ReportingSocket>(this); }

void ReportingSocket::DoForwardUp(Ptr<Packet> packet, const Address &from, const Address &to) {
    TcpHeader header;
    packet->PeekHeader(header);
    const bool resets = (header.GetFlags() & TcpHeader::RST) != 0 && m_state != LISTEN;
    was_reset_ = was_reset_ || resets;
    const Ptr<ReportingSocket> alive(this);
    const auto call = on_reset;  // a copy, since the call may remove on_reset
    if (resets && m_state == SYN_SENT)
        forget();  // ns-3 ignores the RST of a host without a listener on the port
    else
        TcpSocketBase::DoForwardUp(packet, from, to);
    if (resets && m_state == CLOSED && call) call();
}

uint32_t ReportingSocket::unacknowledged() const { return m_txBuffer->Size(); }

bool ReportingSocket::is_shut() const {
    return m_tcb->m_rxBuffer->Size() + 2 * GetSegSize() > m_tcb->m_rxBuffer->MaxBufferSize();
}

void ReportingSocket::report_window() {
    if (m_state == ESTABLISHED || m_state == FIN_WAIT_1 || m_state == FIN_WAIT_2) SendEmptyPacket(TcpHeader::ACK);
}

/// ns-3's ShutdownSend alone sends no FIN if unacknowledged data remains.
void ReportingSocket::end_sending() {
    if (m_txBuffer->SizeFromSequence(m_tcb->m_nextTxSequence) > 0) {
        ShutdownSend();
    } else {
        m_shutdownSend = true;
        DoClose();
    }
}

void ReportingSocket::be_silent() {
    on_reset = nullptr;
    SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(), MakeNullCallback<void, Ptr<Socket>>());
    SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
    SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    SetCloseCallbacks(MakeNullCallback<void, Ptr<Socket>>(), MakeNullCallback<void, Ptr<Socket>>());
}

void ReportingSocket::abort() {
    be_silent();
    if (m_state != CLOSED) SendRST();
    forget();
}

void ReportingSocket::forget() {
    be_silent();
    CancelAllTimers();
    DeallocateEndPoint();
    m_state = CLOSED;
    m_tcp->RemoveSocket(this);
}

}  // namespace causeway
