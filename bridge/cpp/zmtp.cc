// The socket on a Unix domain socket, speaking ZMTP 3.0 (rfc.zeromq.org/spec/23): the peer is an ordinary ZeroMQ PAIR.
//
// libzmq moves every message through a thread of its own, which must wake up twice for each window. An edge has one
// peer and one thread, and waits for each answer: blocking reads and writes are all it needs, and lockstep windows
// come 1.4 times as fast (docs/lab/bridge.md).
//
//   greeting   64 bytes: signature, version 3.0, mechanism NULL
//   READY      a command that names the socket's type
//   messages   flags (1: more parts, 2: long, 4: command), size (1 byte, or 8 if long; big-endian), body
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "bridge/cpp/socket.h"

namespace causeway {
namespace {

constexpr uint8_t kMore = 1, kLong = 2, kCommand = 4;
constexpr size_t kGreeting = 64;
constexpr int kHandshakeSlices = 50;  // that the peer has for its handshake

std::string greeting() {
    std::string bytes(kGreeting, '\0');
    bytes[0] = '\xff';
    bytes[9] = '\x7f';
    bytes[10] = 3;
    bytes.replace(12, 4, "NULL");
    return bytes;
}

const std::string kReady("\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PAIR", 28);

std::string head_of(size_t size) {
    if (size < 256) return {'\0', static_cast<char>(size)};
    std::string head(9, '\0');
    head[0] = kLong;
    for (int i = 0; i < 8; ++i) head[1 + i] = static_cast<char>(static_cast<uint64_t>(size) >> (8 * (7 - i)));
    return head;
}

// How long to spin for the next frame; not at all while somebody else wants the core. The twin of bridge/spin.py.
class Spin {
  public:
    explicit Spin(int usual_us) : usual_us_(usual_us), now_us_(usual_us), seen_(interruptions()) {}

    int next_us() {
        if (left_ > 0)
            --left_;
        else
            look();
        return now_us_;
    }

  private:
    static constexpr int kLook = 128, kRest = 4096;  // frames
    static constexpr long kMostInterruptions = 4;    // in kLook frames

    int usual_us_, now_us_;
    long seen_;
    int left_ = kLook;

    static long interruptions() {
        rusage used{};
        getrusage(RUSAGE_SELF, &used);
        return used.ru_nivcsw;
    }

    void look() {
        const long before = seen_;
        seen_ = interruptions();
        const bool crowded = now_us_ > 0 && seen_ - before > kMostInterruptions;
        now_us_ = crowded ? 0 : usual_us_;
        left_ = crowded ? kRest : kLook;
    }
};

class ZmtpSocket : public Socket {
  public:
    ZmtpSocket(const std::string &path, int spin_us)
        : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)), spin_(spin_us) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        if (path.size() >= sizeof address.sun_path)
            throw std::runtime_error("cannot connect to " + path + ": the name is too long");
        std::memcpy(address.sun_path, path.data(), path.size());
        const timeval slice{0, kSliceMs * 1000};
        setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof slice);
        setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &slice, sizeof slice);
        if (fd_ < 0 || ::connect(fd_, reinterpret_cast<sockaddr *>(&address), sizeof address) != 0) {
            throw std::runtime_error("cannot connect to ipc://" + path + ": " + std::strerror(errno));
        }
        shake_hands();
    }

    ~ZmtpSocket() override { ::close(fd_); }  // what was written stays readable for the peer

    bool send(const std::string &message) override {
        if (out_.empty()) out_ = head_of(message.size()) + message;
        return write_out();
    }

    bool receive(const uint8_t **data, size_t *size) override {
        for (;;) {
            uint8_t flags = 0;
            while (!take_frame(&flags, data, size)) {
                if (!read_more()) return false;
            }
            if (flags & kMore) throw std::runtime_error("the controller sent a message in parts");
            if (!(flags & kCommand)) return true;
        }
    }

  private:
    int fd_;
    Spin spin_;
    std::string out_;  // on its way
    size_t out_done_ = 0;
    std::vector<uint8_t> in_ = std::vector<uint8_t>(1 << 16);
    size_t begin_ = 0, end_ = 0;  // of what was read and not taken yet

    void shake_hands() {
        const uint8_t *data;
        size_t size;
        uint8_t flags = 0;
        out_ = greeting();
        wait([&] { return write_out(); });
        wait([&] { return end_ - begin_ >= kGreeting || (read_more() && end_ - begin_ >= kGreeting); });
        if (in_[begin_] != 0xff || in_[begin_ + 10] < 3 || std::memcmp(&in_[begin_ + 12], "NULL", 5) != 0) {
            throw std::runtime_error("what listens at the endpoint is no ZeroMQ socket without encryption");
        }
        begin_ += kGreeting;
        out_ = kReady;
        wait([&] { return write_out(); });
        wait([&] { return take_frame(&flags, &data, &size) || (read_more() && take_frame(&flags, &data, &size)); });
        if (!(flags & kCommand) || size < 6 || std::memcmp(data, "\x05READY", 6) != 0) {
            throw std::runtime_error("the controller's socket refused this one");
        }
    }

    template <class Done>
    static void wait(Done done) {
        for (int i = 0; !done(); ++i) {
            if (i == kHandshakeSlices) throw std::runtime_error("the controller's socket does not answer");
        }
    }

    // All of out_; false after a slice without an end to it.
    bool write_out() {
        while (out_done_ < out_.size()) {
            const ssize_t n = ::send(fd_, out_.data() + out_done_, out_.size() - out_done_, MSG_NOSIGNAL);
            if (n < 0) return later("send");
            out_done_ += static_cast<size_t>(n);
        }
        out_.clear();
        out_done_ = 0;
        return true;
    }

    // Whether something came.
    bool read_more() {
        if (begin_ == end_) begin_ = end_ = 0;
        if (end_ == in_.size()) {
            if (begin_ > 0) {
                std::memmove(in_.data(), in_.data() + begin_, end_ - begin_);
                end_ -= begin_;
                begin_ = 0;
            } else {
                in_.resize(2 * in_.size());
            }
        }
        const ssize_t n = read(in_.data() + end_, in_.size() - end_);
        if (n == 0) throw ConnectionOver();
        if (n < 0) return later("receive");
        end_ += static_cast<size_t>(n);
        return true;
    }

    // Looks again and again for a while before it sleeps: to be woken up takes longer than most answers.
    ssize_t read(void *to, size_t size) {
        using Clock = std::chrono::steady_clock;
        const int spin_us = spin_.next_us();
        const auto until = Clock::now() + std::chrono::microseconds(spin_us);
        for (bool again = spin_us > 0; again; again = Clock::now() < until) {
            const ssize_t n = ::recv(fd_, to, size, MSG_DONTWAIT);
            if (n >= 0 || errno != EAGAIN) return n;
        }
        return ::recv(fd_, to, size, 0);
    }

    // The next frame, if it is all there.
    bool take_frame(uint8_t *flags, const uint8_t **data, size_t *size) {
        const size_t there = end_ - begin_;
        const uint8_t *at = in_.data() + begin_;
        if (there < 2) return false;
        const size_t head = at[0] & kLong ? 9 : 2;
        if (there < head) return false;
        uint64_t length = 0;
        for (size_t i = 1; i < head; ++i) length = length << 8 | at[i];
        if (there - head < length) return false;
        *flags = at[0];
        *data = at + head;
        *size = length;
        begin_ += head + length;
        return true;
    }

    static bool later(const char *what) {
        if (errno == EAGAIN || errno == EINTR) return false;
        if (errno == EPIPE || errno == ECONNRESET) throw ConnectionOver();
        throw std::runtime_error(std::string("cannot ") + what + ": " + std::strerror(errno));
    }
};

}  // namespace

std::unique_ptr<Socket> connect_zmtp(const std::string &path, int spin_us) {
    return std::make_unique<ZmtpSocket>(path, spin_us);
}

}  // namespace causeway
