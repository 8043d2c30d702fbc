// The adapter's end of the socket: PAIR, with a deadline for every operation, and a check that the controller lives.
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
    explicit Channel(const std::string &endpoint);  // "": the endpoint in the environment; `introduce` connects
    ~Channel();
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;

    // Connects, sends the first frame and receives its answer. Retries for some seconds without an answer.
    void introduce(const Frame &hello, Frame *answer);

    // Both end the process with one line if the controller has died, does not answer in time, or sends no valid Frame.
    void send(const Frame &frame);
    void receive(Frame *frame);

    // Prints one line and ends the process with status 3.
    [[noreturn]] void give_up(const std::string &why);
    // Makes `give_up` call a handler, which throws, if the process must not end (in a graphical environment).
    static void instead_of_exit(void (*handler)(const std::string &why));

    // Waits until all frames are sent, then closes. The destructor does it too.
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
