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

    // Sends the message. False if it did not all go out within `kSliceMs`: call again with the same one.
    virtual bool send(const std::string &message) = 0;

    // The next message, good until the next call. False if none came within `kSliceMs`.
    virtual bool receive(const uint8_t **data, size_t *size) = 0;

    static constexpr int kSliceMs = 100;
};

struct CurveKeys {
    std::string server, own_public, own_secret;  // Z85
};

// Through libzmq: any transport. What was sent gets some seconds to go out when the socket goes away.
std::unique_ptr<Socket> connect_libzmq(const std::string &endpoint, const CurveKeys *keys);

// Without it, and without its thread: a Unix domain socket (ipc://), by its path. So long it looks for a message again
// and again before it sleeps. See zmtp.cc.
std::unique_ptr<Socket> connect_zmtp(const std::string &path, int spin_us);

// Sockets throw std::runtime_error, in words, when they cannot go on; ConnectionOver when the peer is gone, if they
// know it.
struct ConnectionOver : std::runtime_error {
    ConnectionOver() : std::runtime_error("the controller closed the connection; the simulation ends here") {}
};

}  // namespace causeway
