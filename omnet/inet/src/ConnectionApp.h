// TCP connections that programs open and close themselves, over INET's TCP. Only the lengths of data are simulated.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "Adapter.h"
#include "inet/transportlayer/contract/tcp/TcpSocket.h"

namespace inet::tcp {
class Tcp;
class TcpConnection;
}  // namespace inet::tcp

namespace causeway {

class ConnectionApp : public omnetpp::cSimpleModule,
                      public ConnectionUser,
                      public omnetpp::cListener,
                      public inet::TcpSocket::ICallback {
  public:
    ~ConnectionApp() override { cancelAndDelete(look_); }
    void act(const Action &action) override;
    void forget() override;

  protected:
    // One end of a connection.
    struct End {
        int64_t connection = -1;
        std::unique_ptr<inet::TcpSocket> socket;
        inet::tcp::TcpConnection *tcp = nullptr;
        int64_t written = 0, room_reported = 0, arrived = 0, taken = 0;  // bytes
        bool established = false, closed = false, other_is_done = false;
    };

    int node_ = -1;
    Adapter *adapter_ = nullptr;
    inet::tcp::Tcp *tcp_ = nullptr;
    std::map<int64_t, std::unique_ptr<End>> ends_;               // by connection
    std::map<int, End *> by_socket_;                             // by socket id
    std::map<int, std::unique_ptr<inet::TcpSocket>> listeners_;  // by port
    std::vector<std::unique_ptr<End>> over_;                     // kept until the message is handled
    std::set<int64_t> got_data_;                                 // connections with a new segment
    omnetpp::cMessage *look_ = nullptr;                          // timer: report the bytes of these connections
    std::vector<std::unique_ptr<inet::TcpSocket>>
        abandoned_;  // sockets of connections already given up, which are being reset

    int numInitStages() const override;
    void initialize(int stage) override;
    void handleMessage(omnetpp::cMessage *message) override;

    void listen(int port, bool begin);
    void connect(const Action &action);
    End *add(int64_t connection, inet::TcpSocket *socket);
    void write(End &end, int64_t bytes);
    void read(End &end, int64_t bytes);
    omnetpp::cModule *tcpOf(const inet::TcpSocket &socket) const;
    void lookAt(const End &end);
    void arrivedMore(End &end);
    void otherIsDone(End &end);
    void fail(End &end, Ending::Value why);
    void drop(End &end);
    void tell(Kind::Value kind, const End &end, int64_t arg) { adapter_->connection(kind, node_, end.connection, arg); }

    // Handles an acknowledgement, and a segment, of one of this node's connections.
    using cListener::receiveSignal;
    void receiveSignal(omnetpp::cComponent *source, omnetpp::simsignal_t signal, omnetpp::uintval_t acknowledged,
                       omnetpp::cObject *details) override;
    void receiveSignal(omnetpp::cComponent *source, omnetpp::simsignal_t signal, omnetpp::intval_t payload,
                       omnetpp::cObject *details) override;
    End *endOf(omnetpp::cComponent *tcp_connection);

    void socketDataArrived(inet::TcpSocket *socket, inet::Packet *packet, bool) override;
    void socketAvailable(inet::TcpSocket *socket, inet::TcpAvailableInfo *info) override;
    void socketEstablished(inet::TcpSocket *socket) override;
    void socketPeerClosed(inet::TcpSocket *socket) override;
    void socketClosed(inet::TcpSocket *socket) override;
    void socketFailure(inet::TcpSocket *socket, int code) override;
    void socketStatusArrived(inet::TcpSocket *, inet::TcpStatusInfo *) override {}
    void socketDeleted(inet::TcpSocket *) override {}
};

}  // namespace causeway
