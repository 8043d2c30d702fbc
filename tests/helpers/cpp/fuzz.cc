// Mutated frames for the C++ client: every session, a tiny adapter is given a setup and answers some of which are
// damaged. It must end or refuse in words; a sanitizer sees what it reads and writes meanwhile.
//
//     fuzz SETUP ACTIONS SEED SESSIONS       serialized Frames; prints how many sessions, mutated frames and refusals
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>

struct Over {};
#define _exit(status) throw Over()  // a refusal ends the session instead of the process

#include "bridge/cpp/channel.cc"
#include "bridge/cpp/client.cc"
#include "bridge/cpp/contract.cc"
#include "bridge/cpp/adapter.cc"
#include "bridge/cpp/setup.cc"
#include "bridge/cpp/validation.cc"
#include "tests/helpers/cpp/tiny_adapter.h"

namespace {

using namespace causeway;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

std::mt19937_64 random_bits;
uint64_t mutated_frames = 0;

uint64_t any(uint64_t below) { return random_bits() % below; }

// Numbers at which things break.
int64_t odd_number() {
    static const int64_t odd[] = {0,
                                  1,
                                  -1,
                                  2,
                                  3,
                                  12,
                                  15,
                                  16,
                                  114,
                                  255,
                                  256,
                                  65535,
                                  1 << 20,
                                  INT32_MAX,
                                  INT32_MIN,
                                  int64_t{1} << 31,
                                  int64_t{1} << 32,
                                  int64_t{1} << 61,
                                  int64_t{1} << 62,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MIN + 1};
    return any(4) == 0 ? static_cast<int64_t>(random_bits()) : odd[any(std::size(odd))];
}

double odd_double() {
    static const double odd[] = {0, -0.0, 1, -1, 0.5, 2, 1e-300, 1e300, -1e300, 1e18, INFINITY, -INFINITY, NAN};
    return odd[any(std::size(odd))];
}

// Mostly one number of a column: what is damaged as a whole does not get past the first check.
void damage_bytes(std::string *bytes) {
    switch (any(16)) {
        case 0:
            bytes->resize(any(bytes->size() + 1));
            break;
        case 1:
            bytes->append(any(17), static_cast<char>(any(256)));
            break;
        case 2:
            bytes->clear();
            break;
        case 3:
            if (!bytes->empty()) (*bytes)[any(bytes->size())] = static_cast<char>(any(256));
            break;
        default: {
            const int64_t number = odd_number();
            const double real = odd_double();
            const size_t width = any(2) ? 8 : any(2) ? 4 : 1;
            if (bytes->size() < width) return;
            const void *value = width == 8 && any(2) ? static_cast<const void *>(&real) : &number;
            std::memcpy(&(*bytes)[any(bytes->size() / width) * width], value, width);
        }
    }
}

// Changes one field, somewhere in the message.
void damage_field(Message *message) {
    const auto *kind = message->GetDescriptor();
    const auto *fields = message->GetReflection();
    const FieldDescriptor *field = kind->field(any(kind->field_count()));
    if (field->is_repeated()) return;
    const std::string &name = field->name();  // a mismatch here ends the session before anything else is read
    if ((name == "contract" || name == "schema_sha256" || name == "number" || name == "stop") && any(16) > 0)
        return damage_field(message);
    switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
            if (field->containing_oneof() && !fields->HasField(*message, field)) return damage_field(message);
            return damage_field(fields->MutableMessage(message, field));
        case FieldDescriptor::CPPTYPE_INT32:
            return fields->SetInt32(message, field, static_cast<int32_t>(odd_number()));
        case FieldDescriptor::CPPTYPE_INT64:
            return fields->SetInt64(message, field, odd_number());
        case FieldDescriptor::CPPTYPE_UINT32:
            return fields->SetUInt32(message, field, static_cast<uint32_t>(odd_number()));
        case FieldDescriptor::CPPTYPE_UINT64:
            return fields->SetUInt64(message, field, static_cast<uint64_t>(odd_number()));
        case FieldDescriptor::CPPTYPE_DOUBLE:
            return fields->SetDouble(message, field, odd_double());
        case FieldDescriptor::CPPTYPE_BOOL:
            return fields->SetBool(message, field, any(2));
        case FieldDescriptor::CPPTYPE_STRING: {
            std::string value = fields->GetString(*message, field);
            damage_bytes(&value);
            return fields->SetString(message, field, value);
        }
        default:
            return;
    }
}

std::string mutated(Frame frame) {
    ++mutated_frames;
    for (uint64_t i = 1 + any(3); i > 0; --i) damage_field(&frame);
    std::string bytes = frame.SerializeAsString();
    if (any(32) == 0) damage_bytes(&bytes);
    return bytes;
}

// The controller: a setup, then an answer to every window that wants one. In place of the socket.
class Controller : public Socket {
  public:
    static inline Frame setup, actions;
    static inline bool damage_setup, damage_answers;

    bool send(const std::string &message) override {
        Frame frame;
        frame.ParseFromString(message);
        if (frame.has_hello()) next_ = damage_setup ? mutated(setup) : setup.SerializeAsString();
        if (frame.has_window() && frame.window().reply()) next_ = answer(frame.window());
        return true;
    }
    bool receive(const uint8_t **data, size_t *size) override {
        if (next_.empty() || ++answers_ > 50) throw ConnectionOver("no more frames");
        now_.swap(next_);
        next_.clear();
        *data = reinterpret_cast<const uint8_t *>(now_.data());
        *size = now_.size();
        return true;
    }

  private:
    std::string next_, now_;
    int answers_ = 0;

    // The rows of the answer that was given, from the end of this window on.
    static std::string answer(const Window &window) {
        Frame frame = actions;
        Actions *a = frame.mutable_actions();
        a->set_number(window.number());
        for (size_t i = 0; i < a->kind().size(); ++i) {
            int64_t ps;
            std::memcpy(&ps, a->time_ps().data() + 8 * i, 8);
            ps += window.end_ps();
            std::memcpy(&(*a->mutable_time_ps())[8 * i], &ps, 8);
        }
        return damage_answers && any(4) == 0 ? mutated(frame) : frame.SerializeAsString();
    }
};

Frame frame_in(const char *path) {
    std::ifstream file(path, std::ios::binary);
    Frame frame;
    if (!frame.ParseFromString({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()})) throw Over();
    return frame;
}

}  // namespace

namespace causeway {
std::unique_ptr<Socket> connect_pair(const std::string &, const CurveKeys *) { return std::make_unique<Controller>(); }
}  // namespace causeway

int main(int, char **argv) {
    setenv("CAUSEWAY_ENDPOINT", "none", 1);
    Controller::setup = frame_in(argv[1]);
    Controller::actions = frame_in(argv[2]);
    random_bits.seed(std::stoull(argv[3]));
    uint64_t sessions = std::stoull(argv[4]), refusals = 0;
    for (uint64_t i = 0; i < sessions; ++i) {
        Controller::damage_setup = any(2) == 0;
        Controller::damage_answers = !Controller::damage_setup || any(2) == 0;
        try {
            TinyAdapter().run(300);
        } catch (const Over &) {
            ++refusals;
        }
    }
    std::printf("%llu %llu %llu\n", (unsigned long long)sessions, (unsigned long long)mutated_frames,
                (unsigned long long)refusals);
}
