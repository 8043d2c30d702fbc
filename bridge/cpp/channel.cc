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
constexpr const char *kControllerDied = "the controller died; the simulation ends here";

// For the signal handler, which may only use what is async-signal-safe.
char socket_path[512];
char private_dir[512];
pid_t watched_parent = 0;
void (*give_up_handler)(const std::string &) = nullptr;

std::string environment(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

void remove_private_dir() {
    if (socket_path[0]) unlink(socket_path);
    if (private_dir[0]) rmdir(private_dir);
}

// The kernel sends this signal when the controller's thread that started us ends; the controller itself may live on.
void on_parent_death(int) {
    if (getppid() == watched_parent) return;
    remove_private_dir();
    static const char line[] = "causeway: the controller died; the simulation ends here\n";
    if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0) {
    }
    _exit(kExitStatus);
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

Channel::Channel(const std::string &given) {
    const std::string endpoint = given.empty() ? environment("CAUSEWAY_ENDPOINT") : given;
    if (endpoint.empty())
        give_up(
            "CAUSEWAY_ENDPOINT is not set; start this simulation with `causeway run ... --engine ...`, or say what "
            "`causeway attach` printed");
    const std::string deadline = environment("CAUSEWAY_DEADLINE_S");
    if (!deadline.empty()) deadline_s_ = std::atof(deadline.c_str());
    if (endpoint.compare(0, 6, "ipc://") == 0)
        std::snprintf(socket_path, sizeof socket_path, "%s", endpoint.c_str() + 6);
    std::snprintf(private_dir, sizeof private_dir, "%s", environment("CAUSEWAY_PRIVATE_DIR").c_str());
    controller_ = std::atoi(environment("CAUSEWAY_CONTROLLER_PID").c_str());
    signal(SIGPIPE, SIG_IGN);  // our output may go to a controller that is gone
    is_parent_ = controller_ != 0 && getppid() == controller_;
    if (is_parent_) {
        watched_parent = controller_;
        signal(SIGUSR2, on_parent_death);
        prctl(PR_SET_PDEATHSIG, SIGUSR2);
    }
    if (!controller_lives()) give_up("the controller died before the simulation began");

    connect(endpoint);
}

Channel::~Channel() { close(); }

void Channel::close() { socket_.reset(); }

void Channel::connect(const std::string &endpoint) {
    CurveKeys keys{environment("CAUSEWAY_CURVE_SERVER_KEY"), environment("CAUSEWAY_CURVE_PUBLIC_KEY"),
                   environment("CAUSEWAY_CURVE_SECRET_KEY")};
    try {
        if (endpoint.compare(0, 6, "ipc://") == 0)
            socket_ = connect_zmtp(endpoint.substr(6), std::atoi(environment("CAUSEWAY_SPIN_US").c_str()));
        else
            socket_ = connect_libzmq(endpoint, keys.server.empty() ? nullptr : &keys);
    } catch (const std::runtime_error &error) {
        give_up(error.what());
    }
}

bool Channel::controller_lives() const {
    if (controller_ == 0) return true;  // not told whom to watch (another machine): only deadlines apply
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

void Channel::send(const Frame &frame) {
    frame.SerializeToString(&out_);
    patiently("send", [&] { return socket_->send(out_); });
}

void Channel::receive(Frame *frame) {
    const uint8_t *data = nullptr;
    size_t size = 0;
    patiently("receive", [&] { return socket_->receive(&data, &size); });
    if (!frame->ParseFromArray(data, static_cast<int>(size)))
        give_up("the controller sent what is no frame of this contract");
}

template <class Attempt>
void Channel::patiently(const char *doing, Attempt attempt) {
    try {
        if (attempt()) return;
        const double began = seconds() - Socket::kSliceMs / 1000.0;
        do check_peer(seconds() - began, doing);
        while (!attempt());
    } catch (const ConnectionOver &over) {
        // A process that is killed closes its files first and is gone a moment later.
        for (int i = 0; i < 20 && controller_lives(); ++i) usleep(10'000);
        give_up(controller_lives() ? over.what() : kControllerDied);
    } catch (const std::runtime_error &error) {
        give_up(error.what());
    }
}

void Channel::instead_of_exit(void (*handler)(const std::string &)) { give_up_handler = handler; }

void Channel::give_up(const std::string &why) {
    if (!controller_lives()) remove_private_dir();
    if (give_up_handler) give_up_handler(why);
    std::fflush(stdout);
    std::fprintf(stderr, "causeway: %s\n", why.c_str());
    std::fflush(stderr);
    _exit(kExitStatus);
}

}  // namespace causeway
