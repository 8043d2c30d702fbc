#include "ConnectionApp.h"

#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/common/packet/chunk/ByteCountChunk.h"
#include "inet/common/socket/SocketTag_m.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"
#include "inet/transportlayer/tcp/Tcp.h"
#include "inet/transportlayer/tcp/TcpConnection.h"

namespace causeway {

using namespace omnetpp;
using inet::TcpSocket;
using inet::tcp::TcpConnection;

Define_Module(ConnectionApp);

int ConnectionApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void ConnectionApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        node_ = par("nodeId");
        edge_ = Edge::find(this);
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER && edge_) {
        edge_->addConnections(node_, this);
    }
}

void ConnectionApp::act(const Action &action) {
    Enter_Method("act");
    if (!tcp_) {  // let TCP keep data until it is asked, so that its window is the program's
        tcp_ = check_and_cast<inet::tcp::Tcp *>(inet::getContainingNode(this)->getSubmodule("tcp"));
        tcp_->useDataNotification = true;
        tcp_->subscribe(TcpConnection::rcvAckSignal, this);
    }
    if (action.kind == Act::LISTEN) return listen(action.size_bytes, action.peer != 0);
    if (action.kind == Act::CONNECT) return connect(action);
    const auto found = ends_.find(action.ref);
    if (found == ends_.end()) return;
    End &end = *found->second;
    if (action.kind == Act::WRITE) return write(end, action.size_bytes);
    if (action.kind == Act::READ) return read(end, action.size_bytes);
    if (action.kind == Act::ABORT) {
        end.socket->abort();
        return drop(end);
    }
    if (end.closed) return;
    end.closed = true;
    end.socket->close();
    if (end.other_is_done) drop(end);
}

void ConnectionApp::forget() {
    Enter_Method("forget");
    while (!ends_.empty()) {
        ends_.begin()->second->socket->destroy();
        drop(*ends_.begin()->second);
    }
    for (auto &[port, listener] : listeners_) listener->destroy();
    listeners_.clear();
    over_.clear();
}

// ---- opening --------------------------------------------------------------------------------------------------------
void ConnectionApp::listen(int port, bool begin) {
    auto &listener = listeners_[port];
    if (listener) listener->destroy();
    if (!begin) {
        listeners_.erase(port);
        return;
    }
    listener = std::make_unique<TcpSocket>();
    listener->setOutputGate(gate("socketOut"));
    listener->setCallback(this);
    listener->bind(port);
    listener->listen();
}

void ConnectionApp::connect(const Action &action) {
    const inet::L3Address to = edge_->addressOf(action.peer, action.interface);
    if (to.isUnspecified()) {
        throw cRuntimeError("node %d cannot be reached over interface %d", action.peer, action.interface);
    }
    End *end = add(action.ref, new TcpSocket());
    end->socket->bind(edge_->opens(node_, action.ref));
    end->socket->connect(to, action.size_bytes);
}

ConnectionApp::End *ConnectionApp::add(int64_t connection, TcpSocket *socket) {
    socket->setOutputGate(gate("socketOut"));
    socket->setCallback(this);
    auto end = std::make_unique<End>();
    end->connection = connection;
    end->socket.reset(socket);
    socket->setUserData(end.get());
    by_socket_[socket->getSocketId()] = end.get();
    return (ends_[connection] = std::move(end)).get();
}

void ConnectionApp::socketAvailable(TcpSocket *socket, inet::TcpAvailableInfo *info) {
    const int64_t connection = edge_->accepts(edge_->nodeOf(info->getRemoteAddr()), info->getRemotePort());
    auto accepted = new TcpSocket(info);
    if (connection < 0) {  // given up meanwhile
        strangers_.emplace_back(accepted);
        accepted->setOutputGate(gate("socketOut"));
        accepted->abort();
        return;
    }
    End *end = add(connection, accepted);
    tell(Kind::ACCEPTED, *end, 0);
    end->established = true;
    socket->accept(info->getNewSocketId());
}

void ConnectionApp::socketEstablished(TcpSocket *socket) {
    End &end = *static_cast<End *>(socket->getUserData());
    const std::string name = "conn-" + std::to_string(socket->getSocketId());
    end.tcp = check_and_cast<TcpConnection *>(tcp_->getSubmodule(name.c_str()));
    edge_->tcpOpened();
    if (!end.established) tell(Kind::CONNECTED, end, 0);
    end.established = true;
}

// ---- bytes ----------------------------------------------------------------------------------------------------------
void ConnectionApp::handleMessage(cMessage *message) {
    auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const int id = tags.getTag<inet::SocketInd>()->getSocketId();
    const auto found = by_socket_.find(id);
    if (found != by_socket_.end() && message->getKind() == inet::TCP_I_DATA_NOTIFICATION) {
        arrivedMore(*found->second);
        delete message;
    } else if (found != by_socket_.end()) {
        found->second->socket->processMessage(message);
    } else {
        TcpSocket *listener = nullptr;
        for (auto &[port, socket] : listeners_) {
            if (socket->getSocketId() == id) listener = socket.get();
        }
        if (listener)
            listener->processMessage(message);
        else
            delete message;  // of a connection that is over
    }
    over_.clear();
    strangers_.clear();
}

void ConnectionApp::write(End &end, int64_t bytes) {
    if (end.closed) return;
    auto packet = new inet::Packet("written");
    packet->insertAtBack(inet::makeShared<inet::ByteCountChunk>(inet::B(bytes)));
    end.written += bytes;
    end.socket->send(packet);
}

// Notes bytes that the program has read. INET's TCP passes on all its data or none: it is asked once all was read.
void ConnectionApp::read(End &end, int64_t bytes) {
    end.taken = std::min(end.taken + bytes, end.arrived);
    if (end.taken == end.arrived) ask_for_data(*end.socket);
}

// TCP has passed on its data: sends the other end an acknowledgement if it waits for the window to open.
void ConnectionApp::socketDataArrived(TcpSocket *socket, inet::Packet *packet, bool) {
    delete packet;
    End &end = *static_cast<End *>(socket->getUserData());
    const auto *state = end.tcp->getState();
    if (state->rcv_adv - state->rcv_nxt >= 2 * state->snd_mss) return;
    cContextSwitcher context(end.tcp);
    end.tcp->sendAck();
}

void ConnectionApp::arrivedMore(End &end) {
    const auto *state = end.tcp->getState();
    const bool past_the_end = state->fin_rcvd && state->rcv_nxt == state->rcv_fin_seq + 1;
    const uint32_t in_order = state->rcv_nxt - state->irs - 1 - (past_the_end ? 1 : 0);
    const uint32_t more = in_order - static_cast<uint32_t>(end.arrived);
    if (more == 0) return;
    end.arrived += more;
    tell(Kind::BYTES, end, more);
}

void ConnectionApp::receiveSignal(cComponent *source, simsignal_t, uintval_t acknowledged, cObject *) {
    const auto *connection = check_and_cast<TcpConnection *>(source);
    const auto found = by_socket_.find(connection->getSocketId());
    if (found == by_socket_.end() || !found->second->established) return;
    End &end = *found->second;
    const uint32_t position = static_cast<uint32_t>(acknowledged) - connection->getState()->iss - 1;
    const auto more = static_cast<int32_t>(position - static_cast<uint32_t>(end.room_reported));
    const int64_t room = std::min<int64_t>(more, end.written - end.room_reported);
    if (room < Constant::ROOM_BYTES) return;
    end.room_reported += room;
    tell(Kind::ROOM, end, room);
}

// ---- the end of a connection ----------------------------------------------------------------------------------------
void ConnectionApp::socketPeerClosed(TcpSocket *socket) { otherIsDone(*static_cast<End *>(socket->getUserData())); }

// Both ends have closed the connection, or TCP did so by itself and has deleted it.
void ConnectionApp::socketClosed(TcpSocket *socket) {
    End &end = *static_cast<End *>(socket->getUserData());
    const std::string name = "conn-" + std::to_string(socket->getSocketId());
    if (end.other_is_done)
        drop(end);
    else if (tcp_->getSubmodule(name.c_str()))
        otherIsDone(end);
    else
        fail(end, end.established ? Ending::TIMED_OUT : Ending::REFUSED);
}

void ConnectionApp::otherIsDone(End &end) {
    end.other_is_done = true;
    tell(Kind::ENDED, end, Ending::DONE);
    if (end.closed) drop(end);
}

void ConnectionApp::socketFailure(TcpSocket *socket, int code) {
    End &end = *static_cast<End *>(socket->getUserData());
    const bool reset = code != inet::TCP_I_TIMED_OUT;
    fail(end, !reset ? Ending::TIMED_OUT : end.established ? Ending::RESET : Ending::REFUSED);
}

void ConnectionApp::fail(End &end, Ending::Value why) {
    edge_->tcpBroken();
    tell(Kind::ENDED, end, why);
    drop(end);
}

void ConnectionApp::drop(End &end) {
    edge_->gaveUp(end.connection);
    by_socket_.erase(end.socket->getSocketId());
    const auto found = ends_.find(end.connection);
    over_.push_back(std::move(found->second));
    ends_.erase(found);
}

void ask_for_data(TcpSocket &socket) { socket.sendCommand(new inet::Request("READ", inet::TCP_C_READ)); }

}  // namespace causeway
