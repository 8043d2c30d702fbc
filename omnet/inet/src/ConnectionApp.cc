#include "ConnectionApp.h"

#include <algorithm>
#include <utility>

#include "inet/common/ModuleAccess.h"
#include "inet/common/packet/Packet.h"
#include "inet/common/packet/chunk/ByteCountChunk.h"
#include "inet/common/socket/SocketTag_m.h"
#include "inet/transportlayer/contract/tcp/TcpCommand_m.h"
#include "inet/transportlayer/tcp/Tcp.h"
#include "inet/transportlayer/tcp/TcpConnection.h"
#include "inet_version.h"

namespace causeway {

using namespace omnetpp;
using inet::TcpSocket;
using inet::tcp::TcpConnection;

Define_Module(ConnectionApp);

static const simsignal_t acknowledged_signal = cComponent::registerSignal("rcvAck");
static const simsignal_t segment_signal = cComponent::registerSignal("tcpRcvPayloadBytes");

int ConnectionApp::numInitStages() const { return inet::NUM_INIT_STAGES; }

void ConnectionApp::initialize(int stage) {
    if (stage == inet::INITSTAGE_LOCAL) {
        node_ = par("nodeId");
        adapter_ = Adapter::find(this);
        look_ = new cMessage("look for bytes");
    } else if (stage == inet::INITSTAGE_APPLICATION_LAYER && adapter_) {
        adapter_->addConnections(node_, this);
    }
}

void ConnectionApp::act(const Action &action) {
    Enter_Method("act");
    if (!tcp_) {
        tcp_ = check_and_cast<inet::tcp::Tcp *>(inet::getContainingNode(this)->getSubmodule("tcp"));
        tcp_->subscribe(acknowledged_signal, this);
        tcp_->subscribe(segment_signal, this);
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
    keep_data(*tcp_, *listener);
    listener->listen();
}

void ConnectionApp::connect(const Action &action) {
    const inet::L3Address to = adapter_->addressOf(action.peer, action.interface);
    if (to.isUnspecified()) {
        throw cRuntimeError("node %d cannot be reached over interface %d", action.peer, action.interface);
    }
    End *end = add(action.ref, new TcpSocket());
    end->socket->bind(adapter_->opens(node_, action.ref));
    keep_data(*tcp_, *end->socket);
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
    const int64_t connection = adapter_->accepts(adapter_->nodeOf(info->getRemoteAddr()), info->getRemotePort());
    auto accepted = new TcpSocket(info);
    if (connection < 0) {  // given up meanwhile
        abandoned_.emplace_back(accepted);
        accepted->setOutputGate(gate("socketOut"));
        accepted->abort();
        return;
    }
    End *end = add(connection, accepted);
    tell(Kind::ACCEPTED, *end, 0);
    end->established = true;
    socket->accept(info->getNewSocketId());
}

// Returns TCP's module for a socket's connection; null if the connection no longer exists.
cModule *ConnectionApp::tcpOf(const TcpSocket &socket) const {
    const std::string name = "conn-" + std::to_string(socket.getSocketId());
    return tcp_->getSubmodule(name.c_str());
}

void ConnectionApp::socketEstablished(TcpSocket *socket) {
    End &end = *static_cast<End *>(socket->getUserData());
    end.tcp = check_and_cast<TcpConnection *>(tcpOf(*socket));
    adapter_->tcpOpened();
    if (!end.established) tell(Kind::CONNECTED, end, 0);
    end.established = true;
    lookAt(end);
}

// ---- bytes ----------------------------------------------------------------------------------------------------------
void ConnectionApp::handleMessage(cMessage *message) {
    if (message == look_) {
        for (const int64_t connection : std::exchange(got_data_, {})) {
            const auto found = ends_.find(connection);
            if (found != ends_.end()) arrivedMore(*found->second);
        }
        return;
    }
    auto &tags = check_and_cast<inet::ITaggedObject *>(message)->getTags();
    const int id = tags.getTag<inet::SocketInd>()->getSocketId();
    const auto found = by_socket_.find(id);
    if (found != by_socket_.end() && tells_of_data(message)) {
        delete message;  // its signal has already been handled
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
    abandoned_.clear();
}

void ConnectionApp::write(End &end, int64_t bytes) {
    if (end.closed) return;
    auto packet = new inet::Packet("written");
    packet->insertAtBack(inet::makeShared<inet::ByteCountChunk>(inet::B(bytes)));
    end.written += bytes;
    end.socket->send(packet);
}

// Reads bytes from TCP that the program has read.
void ConnectionApp::read(End &end, int64_t bytes) {
    bytes = std::min(bytes, end.arrived - end.taken);
    end.taken += bytes;
    take_read(*end.socket, bytes, end.taken == end.arrived);
}

// TCP has passed its data on: sends an acknowledgement to the other end if that waits for the window to open.
void ConnectionApp::socketDataArrived(TcpSocket *socket, inet::Packet *packet, bool) {
    delete packet;
    End &end = *static_cast<End *>(socket->getUserData());
    const auto *state = end.tcp->getState();
    if (state->rcv_adv - state->rcv_nxt >= 2 * state->snd_mss) return;
    cContextSwitcher context(end.tcp);
    end.tcp->sendAck();
}

// Returns whether the other end's FIN has arrived in order. It has a sequence number like a byte.
static bool other_end_closed(const TcpConnection &tcp) {
    const int state = tcp.getFsmState();
    return state == inet::tcp::TCP_S_CLOSE_WAIT || state == inet::tcp::TCP_S_LAST_ACK ||
           state == inet::tcp::TCP_S_CLOSING || state == inet::tcp::TCP_S_TIME_WAIT;
}

// Reports new bytes of a connection once TCP has handled its segment.
void ConnectionApp::lookAt(const End &end) {
    got_data_.insert(end.connection);
    if (!look_->isScheduled()) scheduleAt(simTime(), look_);
}

void ConnectionApp::arrivedMore(End &end) {
    if (tcpOf(*end.socket) != end.tcp) return;  // TCP has deleted it, and its end is being reported
    const auto *state = end.tcp->getState();
    const uint32_t in_order = state->rcv_nxt - state->irs - 1 - (other_end_closed(*end.tcp) ? 1 : 0);
    const uint32_t more = in_order - static_cast<uint32_t>(end.arrived);
    if (more == 0) return;
    end.arrived += more;
    tell(Kind::BYTES, end, more);
}

// Returns the established end of a connection of TCP; null if it does not belong to the program.
ConnectionApp::End *ConnectionApp::endOf(cComponent *tcp_connection) {
    const auto found = by_socket_.find(check_and_cast<TcpConnection *>(tcp_connection)->getSocketId());
    return found != by_socket_.end() && found->second->tcp ? found->second : nullptr;
}

void ConnectionApp::receiveSignal(cComponent *source, simsignal_t, intval_t payload, cObject *) {
    const End *end = payload > 0 ? endOf(source) : nullptr;
    if (!end) return;
    Enter_Method("segment");
    lookAt(*end);
}

void ConnectionApp::receiveSignal(cComponent *source, simsignal_t, uintval_t acknowledged, cObject *) {
    End *found = endOf(source);
    if (!found) return;
    End &end = *found;
    const TcpConnection *connection = end.tcp;
    const uint32_t position = static_cast<uint32_t>(acknowledged) - connection->getState()->iss - 1;
    const auto more = static_cast<int32_t>(position - static_cast<uint32_t>(end.room_reported));
    const int64_t room = std::min<int64_t>(more, end.written - end.room_reported);
    if (room < Constant::ROOM_BYTES) return;
    end.room_reported += room;
    tell(Kind::ROOM, end, room);
}

// ---- the end of a connection ----------------------------------------------------------------------------------------
void ConnectionApp::socketPeerClosed(TcpSocket *socket) { otherIsDone(*static_cast<End *>(socket->getUserData())); }

// Both ends have closed the connection, or TCP has closed it by itself and deleted it.
void ConnectionApp::socketClosed(TcpSocket *socket) {
    End &end = *static_cast<End *>(socket->getUserData());
    if (end.other_is_done)
        drop(end);
    else if (tcpOf(*socket))
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
    adapter_->tcpBroken();
    tell(Kind::ENDED, end, why);
    drop(end);
}

void ConnectionApp::drop(End &end) {
    adapter_->gaveUp(end.connection);
    by_socket_.erase(end.socket->getSocketId());
    const auto found = ends_.find(end.connection);
    over_.push_back(std::move(found->second));
    ends_.erase(found);
}

}  // namespace causeway
