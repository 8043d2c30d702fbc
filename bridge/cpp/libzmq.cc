// The socket through libzmq.
#include <zmq.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bridge/cpp/socket.h"

namespace causeway {
namespace {

constexpr int kHighWater = 64;   // never reached: see WindowBuilder::kMostUnanswered
constexpr int kLingerMs = 5000;  // how long a closing edge tries to get its last frame out

class LibzmqSocket : public Socket {
  public:
    LibzmqSocket(const std::string &endpoint, const CurveKeys *keys)
        : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_PAIR)) {
        set(ZMQ_RCVTIMEO, kSliceMs);
        set(ZMQ_SNDTIMEO, kSliceMs);
        set(ZMQ_RCVHWM, kHighWater);
        set(ZMQ_SNDHWM, kHighWater);
        set(ZMQ_LINGER, kLingerMs);
        if (keys) use(*keys);
        if (zmq_connect(socket_, endpoint.c_str()) != 0) {
            throw std::runtime_error("cannot connect to " + endpoint + ": " + zmq_strerror(errno));
        }
        zmq_msg_init(&in_);
    }

    ~LibzmqSocket() override {
        zmq_msg_close(&in_);
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }

    bool send(const std::string &message) override {
        if (zmq_send(socket_, message.data(), message.size(), 0) >= 0) return true;
        return later("send");
    }

    bool receive(const uint8_t **data, size_t *size) override {
        if (zmq_msg_recv(&in_, socket_, 0) < 0) return later("receive");
        *data = static_cast<const uint8_t *>(zmq_msg_data(&in_));
        *size = zmq_msg_size(&in_);
        return true;
    }

  private:
    void *context_, *socket_;
    zmq_msg_t in_;

    void set(int option, int value) { zmq_setsockopt(socket_, option, &value, sizeof value); }

    void use(const CurveKeys &keys) {
        const auto key = [this](int option, const std::string &z85) {
            if (zmq_setsockopt(socket_, option, z85.c_str(), z85.size()) == 0) return;
            throw std::runtime_error(std::string("the CURVE keys of the environment are not usable: ") +
                                     zmq_strerror(errno));
        };
        key(ZMQ_CURVE_SERVERKEY, keys.server);
        key(ZMQ_CURVE_PUBLICKEY, keys.own_public);
        key(ZMQ_CURVE_SECRETKEY, keys.own_secret);
    }

    static bool later(const char *what) {
        if (errno == EAGAIN || errno == EINTR) return false;
        throw std::runtime_error(std::string("cannot ") + what + ": " + zmq_strerror(errno));
    }
};

}  // namespace

std::unique_ptr<Socket> connect_libzmq(const std::string &endpoint, const CurveKeys *keys) {
    return std::make_unique<LibzmqSocket>(endpoint, keys);
}

}  // namespace causeway
