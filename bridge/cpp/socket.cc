#include "bridge/cpp/socket.h"

#include <zmq.h>

#include <cerrno>
#include <cstring>

namespace causeway {
namespace {

constexpr int kHighWater = 64;   // never reached: see WindowBuilder::kMostUnanswered
constexpr int kLingerMs = 5000;  // the time to send the last frame when the socket is closed
constexpr int kTrySeconds = 5;   // the time for one try to connect
constexpr const char *kMonitor = "inproc://monitor";
constexpr int kGone = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CLOSED;

using Closing = std::unique_ptr<void, int (*)(void *)>;

class PairSocket : public Socket {
  public:
    PairSocket(const std::string &endpoint, const CurveKeys *keys)
        : context_(zmq_ctx_new(), zmq_ctx_term),
          socket_(zmq_socket(context_.get(), ZMQ_PAIR), zmq_close),
          monitor_(zmq_socket(context_.get(), ZMQ_PAIR), zmq_close) {
        set(socket_.get(), ZMQ_RCVTIMEO, kSliceMs);
        set(socket_.get(), ZMQ_SNDTIMEO, kSliceMs);
        set(socket_.get(), ZMQ_RCVHWM, kHighWater);
        set(socket_.get(), ZMQ_SNDHWM, kHighWater);
        set(socket_.get(), ZMQ_LINGER, 0);
        set(socket_.get(), ZMQ_RECONNECT_IVL, -1);  // a second connection would lack the frames of the first one
        if (keys) use(*keys);
        zmq_socket_monitor(socket_.get(), kMonitor, ZMQ_EVENT_HANDSHAKE_SUCCEEDED | kGone);
        set(monitor_.get(), ZMQ_RCVTIMEO, kTrySeconds * 1000);
        if (zmq_connect(monitor_.get(), kMonitor) != 0 || zmq_connect(socket_.get(), endpoint.c_str()) != 0) {
            throw std::runtime_error("cannot connect to " + endpoint + ": " + zmq_strerror(errno));
        }
        if (next_event(0) != ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            throw ConnectionOver("cannot connect to " + endpoint + ": no process answers there");
        }
        set(socket_.get(), ZMQ_LINGER, kLingerMs);
        zmq_msg_init(&in_);
    }

    ~PairSocket() override { zmq_msg_close(&in_); }

    bool send(const std::string &message) override {
        if (zmq_send(socket_.get(), message.data(), message.size(), 0) >= 0) return true;
        expect_timeout("send");
        if (is_over()) hang_up();
        return false;
    }

    bool receive(const uint8_t **data, size_t *size) override {
        if (zmq_msg_recv(&in_, socket_.get(), 0) < 0) {
            expect_timeout("receive");
            if (!is_over()) return false;
            if (zmq_msg_recv(&in_, socket_.get(), ZMQ_DONTWAIT) < 0) hang_up();  // else this is the peer's last frame
        }
        if (zmq_msg_more(&in_)) throw std::runtime_error("the controller sent a message in parts");
        *data = static_cast<const uint8_t *>(zmq_msg_data(&in_));
        *size = zmq_msg_size(&in_);
        return true;
    }

  private:
    Closing context_, socket_, monitor_;  // destroyed in the opposite order, as libzmq requires
    zmq_msg_t in_;
    bool is_over_ = false;

    static void set(void *socket, int option, int value) { zmq_setsockopt(socket, option, &value, sizeof value); }

    void use(const CurveKeys &keys) {
        const auto key = [this](int option, const std::string &z85) {
            if (zmq_setsockopt(socket_.get(), option, z85.c_str(), z85.size()) == 0) return;
            throw std::runtime_error(std::string("the CURVE keys of the environment are not usable: ") +
                                     zmq_strerror(errno));
        };
        key(ZMQ_CURVE_SERVERKEY, keys.server);
        key(ZMQ_CURVE_PUBLICKEY, keys.own_public);
        key(ZMQ_CURVE_SECRETKEY, keys.own_secret);
    }

    // Returns the next event of the connection; 0 if there is none.
    int next_event(int flags) {
        uint8_t frame[6];  // the event's number, and a value
        uint16_t event = 0;
        if (zmq_recv(monitor_.get(), frame, sizeof frame, flags) < 0) return 0;
        zmq_recv(monitor_.get(), nullptr, 0, 0);  // the address
        std::memcpy(&event, frame, sizeof event);
        return event;
    }

    bool is_over() {
        is_over_ = is_over_ || next_event(ZMQ_DONTWAIT) & kGone;
        return is_over_;
    }

    [[noreturn]] void hang_up() {
        set(socket_.get(), ZMQ_LINGER, 0);
        throw ConnectionOver("the controller closed the connection; the simulation ends here");
    }

    static void expect_timeout(const char *doing) {
        if (errno == EAGAIN || errno == EINTR) return;
        throw std::runtime_error(std::string("cannot ") + doing + ": " + zmq_strerror(errno));
    }
};

}  // namespace

std::unique_ptr<Socket> connect_pair(const std::string &endpoint, const CurveKeys *keys) {
    return std::make_unique<PairSocket>(endpoint, keys);
}

}  // namespace causeway
