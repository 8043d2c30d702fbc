#include "bridge/cpp/channel.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <zmq.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace causeway {
namespace {

constexpr int kSliceMs = 100;     // how often a waiting edge looks whether the controller lives
constexpr int kHighWater = 64;    // never reached: see WindowBuilder::kMostUnanswered
constexpr int kLingerMs = 5000;   // how long a closing edge tries to get its last frame out
constexpr int kExitStatus = 3;

// For the signal handler, which may only use what is async-signal-safe.
char socket_path[512];
char private_dir[512];
pid_t watched_parent = 0;

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
    if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0) {}
    _exit(kExitStatus);
}

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Channel::Channel(const std::string &given) {
    const std::string endpoint = given.empty() ? environment("CAUSEWAY_ENDPOINT") : given;
    if (endpoint.empty()) give_up("CAUSEWAY_ENDPOINT is not set; start this simulation with `causeway run ... --engine ...`");
    const std::string deadline = environment("CAUSEWAY_DEADLINE_S");
    if (!deadline.empty()) deadline_s_ = std::atof(deadline.c_str());
    if (endpoint.compare(0, 6, "ipc://") == 0) std::snprintf(socket_path, sizeof socket_path, "%s", endpoint.c_str() + 6);
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

    context_ = zmq_ctx_new();
    socket_ = zmq_socket(context_, ZMQ_PAIR);
    zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &kSliceMs, sizeof(int));
    zmq_setsockopt(socket_, ZMQ_SNDTIMEO, &kSliceMs, sizeof(int));
    zmq_setsockopt(socket_, ZMQ_RCVHWM, &kHighWater, sizeof(int));
    zmq_setsockopt(socket_, ZMQ_SNDHWM, &kHighWater, sizeof(int));
    zmq_setsockopt(socket_, ZMQ_LINGER, &kLingerMs, sizeof(int));
    set_up_curve();
    if (zmq_connect(socket_, endpoint.c_str()) != 0) give_up("cannot connect to " + endpoint + ": " + zmq_strerror(errno));
}

Channel::~Channel() { close(); }

void Channel::close() {
    if (socket_) zmq_close(socket_);
    if (context_) zmq_ctx_term(context_);
    socket_ = context_ = nullptr;
}

void Channel::set_up_curve() {
    const std::string server = environment("CAUSEWAY_CURVE_SERVER_KEY");
    if (server.empty()) return;
    const std::string publicKey = environment("CAUSEWAY_CURVE_PUBLIC_KEY"), secretKey = environment("CAUSEWAY_CURVE_SECRET_KEY");
    if (zmq_setsockopt(socket_, ZMQ_CURVE_SERVERKEY, server.c_str(), server.size()) != 0 ||
        zmq_setsockopt(socket_, ZMQ_CURVE_PUBLICKEY, publicKey.c_str(), publicKey.size()) != 0 ||
        zmq_setsockopt(socket_, ZMQ_CURVE_SECRETKEY, secretKey.c_str(), secretKey.size()) != 0) {
        give_up(std::string("the CURVE keys of the environment are not usable: ") + zmq_strerror(errno));
    }
}

bool Channel::controller_lives() const {
    if (controller_ == 0) return true;  // not told whom to watch (another machine): only deadlines apply
    if (is_parent_) return getppid() == controller_;
    return kill(controller_, 0) == 0 || errno == EPERM;
}

void Channel::check_peer(double waited_s, const char *doing) {
    if (!controller_lives()) give_up("the controller died; the simulation ends here");
    if (waited_s >= deadline_s_) {
        char text[160];
        std::snprintf(text, sizeof text, "the controller was silent for %.3g s while the simulation waited to %s", waited_s, doing);
        give_up(text);
    }
}

void Channel::send(const Frame &frame) {
    const size_t size = frame.ByteSizeLong();
    zmq_msg_t message;
    zmq_msg_init_size(&message, size);
    frame.SerializeWithCachedSizesToArray(static_cast<uint8_t *>(zmq_msg_data(&message)));
    double began = 0;
    while (zmq_msg_send(&message, socket_, 0) < 0) {
        if (errno != EAGAIN && errno != EINTR) give_up(std::string("cannot send: ") + zmq_strerror(errno));
        if (began == 0) began = seconds() - kSliceMs / 1000.0;
        check_peer(seconds() - began, "send");
    }
}

void Channel::receive(Frame *frame) {
    zmq_msg_t message;
    zmq_msg_init(&message);
    double began = 0;
    while (zmq_msg_recv(&message, socket_, 0) < 0) {
        if (errno != EAGAIN && errno != EINTR) give_up(std::string("cannot receive: ") + zmq_strerror(errno));
        if (began == 0) began = seconds() - kSliceMs / 1000.0;
        check_peer(seconds() - began, "receive");
    }
    const bool good = frame->ParseFromArray(zmq_msg_data(&message), static_cast<int>(zmq_msg_size(&message)));
    zmq_msg_close(&message);
    if (!good) give_up("the controller sent what is no frame of this contract");
}

void Channel::give_up(const std::string &why) {
    if (!controller_lives()) remove_private_dir();
    std::fflush(stdout);
    std::fprintf(stderr, "causeway: %s\n", why.c_str());
    std::fflush(stderr);
    _exit(kExitStatus);
}

}  // namespace causeway
