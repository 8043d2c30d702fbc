// The edge's end of the socket: PAIR, with a deadline on everything, and an eye on the controller's life.
//
// Environment: CAUSEWAY_ENDPOINT (ipc:// or tcp://), CAUSEWAY_CONTROLLER_PID, CAUSEWAY_DEADLINE_S (default 60), and,
// for CURVE, CAUSEWAY_CURVE_SERVER_KEY, CAUSEWAY_CURVE_PUBLIC_KEY, CAUSEWAY_CURVE_SECRET_KEY (Z85).
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "bridge/cpp/socket.h"
#include "causeway.pb.h"

namespace causeway {

class Channel {
  public:
    explicit Channel(const std::string &endpoint);  // "": from the environment; `introduce` connects
    ~Channel();
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;

    // Connects, sends the first frame and receives its answer; tries again for a moment where nobody answers.
    void introduce(const Frame &hello, Frame *answer);

    // All of them end the process with one line if the controller died, is silent for too long, or sends what is no
    // Frame.
    void send(const Frame &frame);
    void receive(Frame *frame);

    // Prints one line, leaves nothing behind, ends the process with status 3.
    [[noreturn]] void give_up(const std::string &why);
    // Where the process must live on (somebody is looking at it): `handler` is called instead, and throws.
    static void instead_of_exit(void (*handler)(const std::string &why));

    // Lets what was sent go out, then closes. The destructor does it too.
    void close();

  private:
    std::string endpoint_;
    std::unique_ptr<Socket> socket_;
    std::string out_;
    double deadline_s_ = 60;
    pid_t controller_ = 0;
    bool is_parent_ = false;

    bool controller_lives() const;
    void check_peer(double waited_s, const char *doing);
    void put(const Frame &frame);
    void take(Frame *frame);
    template <class Attempt>
    void patiently(const char *doing, Attempt attempt);
    template <class Doing>
    bool or_give_up(Doing doing);
};

}  // namespace causeway
