#include "bridge/cpp/channel.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace causeway {
namespace {

constexpr int kExitStatus = 3;
constexpr double kRetrySeconds = 5;  // so that a controller between two runs is found
constexpr int kRetryPause_us = 20'000;
constexpr const char *kControllerDied = "the controller died; the simulation ends here";

void (*give_up_handler)(const std::string &) = nullptr;

std::string environment(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Channel::Channel(const std::string &endpoint)
    : endpoint_(endpoint.empty() ? environment("CAUSEWAY_ENDPOINT") : endpoint) {
    if (endpoint_.empty())
        give_up(
            "CAUSEWAY_ENDPOINT is not set; start this simulation with `causeway run ... --engine ...`, or set the "
            "variables that `causeway attach` printed");
    const std::string deadline = environment("CAUSEWAY_DEADLINE_S");
    if (!deadline.empty()) deadline_s_ = std::atof(deadline.c_str());
    controller_ = std::atoi(environment("CAUSEWAY_CONTROLLER_PID").c_str());
    signal(SIGPIPE, SIG_IGN);  // the output may go to a controller that has ended
    is_parent_ = controller_ != 0 && getppid() == controller_;
    if (is_parent_) prctl(PR_SET_PDEATHSIG, SIGKILL);  // the only signal that also ends a stopped process
    if (!controller_lives()) give_up("the controller died before the simulation began");
}

Channel::~Channel() { close(); }

void Channel::close() { socket_.reset(); }

void Channel::introduce(const Frame &hello, Frame *answer) {
    const CurveKeys keys{environment("CAUSEWAY_CURVE_SERVER_KEY"), environment("CAUSEWAY_CURVE_PUBLIC_KEY"),
                         environment("CAUSEWAY_CURVE_SECRET_KEY")};
    double end = seconds() + kRetrySeconds;
    while (!or_give_up([&] {
        try {
            socket_ = connect_pair(endpoint_, keys.server.empty() ? nullptr : &keys);
            put(hello);
            take(answer);
            return true;
        } catch (const ConnectionOver &) {
            if (socket_) end = seconds() + kRetrySeconds;  // it exists: busy with another simulation, perhaps
            if (seconds() >= end || !controller_lives()) throw;
            socket_.reset();
            usleep(kRetryPause_us);
            return false;
        }
    })) {
    }
}

void Channel::send(const Frame &frame) {
    or_give_up([&] { return put(frame), true; });
}

void Channel::receive(Frame *frame) {
    or_give_up([&] { return take(frame), true; });
}

bool Channel::controller_lives() const {
    if (controller_ == 0) return true;  // unknown, for example on another machine: only deadlines apply
    if (is_parent_) return getppid() == controller_;
    return kill(controller_, 0) == 0 || errno == EPERM;
}

void Channel::check_peer(double waited_s, const char *doing) {
    if (!controller_lives()) give_up(kControllerDied);
    if (waited_s >= deadline_s_) {
        char text[160];
        std::snprintf(text, sizeof text, "the controller was silent for %.3g s while the simulation waited to %s",
                      waited_s, doing);
        give_up(text);
    }
}

void Channel::put(const Frame &frame) {
    frame.SerializeToString(&out_);
    patiently("send", [&] { return socket_->send(out_); });
}

void Channel::take(Frame *frame) {
    const uint8_t *data = nullptr;
    size_t size = 0;
    patiently("receive", [&] { return socket_->receive(&data, &size); });
    if (!frame->ParseFromArray(data, static_cast<int>(size)))
        give_up("the controller sent a message that is not a frame of this contract");
}

template <class Attempt>
void Channel::patiently(const char *doing, Attempt attempt) {
    if (attempt()) return;
    const double began = seconds() - Socket::kSliceMs / 1000.0;
    do check_peer(seconds() - began, doing);
    while (!attempt());
}

template <class Doing>
bool Channel::or_give_up(Doing doing) {
    try {
        return doing();
    } catch (const ConnectionOver &over) {
        // A process that is killed first closes its files and ends a moment later.
        for (int i = 0; i < 20 && controller_lives(); ++i) usleep(10'000);
        give_up(controller_lives() ? over.what() : kControllerDied);
    } catch (const std::runtime_error &error) {
        give_up(error.what());
    }
}

void Channel::instead_of_exit(void (*handler)(const std::string &)) { give_up_handler = handler; }

void Channel::give_up(const std::string &why) {
    if (give_up_handler) give_up_handler(why);
    std::fflush(stdout);
    std::fprintf(stderr, "causeway: %s\n", why.c_str());
    std::fflush(stderr);
    _exit(kExitStatus);
}

}  // namespace causeway
