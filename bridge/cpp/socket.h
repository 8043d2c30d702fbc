// A ZeroMQ PAIR socket for one thread: messages of one part, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace causeway {

class Socket {
  public:
    virtual ~Socket() {}

    // Sends a message. Returns false if libzmq did not accept it within `kSliceMs`; then call again with the same
    // message.
    virtual bool send(const std::string &message) = 0;

    // Receives the next message, valid until the next call. Returns false if none arrived within `kSliceMs`.
    virtual bool receive(const uint8_t **data, size_t *size) = 0;

    static constexpr int kSliceMs = 100;
};

struct CurveKeys {
    std::string server, own_public, own_secret;  // Z85
};

// Tries once to connect to the controller. The destructor waits some seconds until all messages are sent.
std::unique_ptr<Socket> connect_pair(const std::string &endpoint, const CurveKeys *keys);

// Thrown if the peer has gone or was never there. Other failures throw std::runtime_error with a message.
struct ConnectionOver : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace causeway
