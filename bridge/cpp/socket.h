// A ZeroMQ PAIR socket that one thread uses: messages of one part, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace causeway {

class Socket {
  public:
    virtual ~Socket() {}

    // Sends the message. Returns false if libzmq did not take it within `kSliceMs`: call again with the same one.
    virtual bool send(const std::string &message) = 0;

    // Returns the next message, good until the next call; false if none came within `kSliceMs`.
    virtual bool receive(const uint8_t **data, size_t *size) = 0;

    static constexpr int kSliceMs = 100;
};

struct CurveKeys {
    std::string server, own_public, own_secret;  // Z85
};

// Connects to the controller, with one try. What was sent gets some seconds to go out when the socket goes away.
std::unique_ptr<Socket> connect_pair(const std::string &endpoint, const CurveKeys *keys);

// The peer is gone, or was never there. For everything else that stops a socket it throws std::runtime_error, in words.
struct ConnectionOver : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace causeway
