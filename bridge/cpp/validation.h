// The rules of actions, as the contract declares them. bridge/validation.py reads the same table.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "causeway.pb.h"

namespace causeway {

// The operands of rules: the columns of an action, and limits of the run.
struct Operand {
    // clang-format off
    enum Value : size_t {
        TIME_PS, NODE, REF, PEER, SIZE_BYTES, INTERFACE, TOPIC, PATIENT_NODE, PATIENT_TOPIC, PATIENCE_PS,
        NODES, INTERFACES, CHANNELS, FIRST_MOVER, MOVERS, TCP, CONNECTIONS, EARLIEST_PS, NONE, SIZE
    };
    // clang-format on
};
// The values of the operands; NONE holds 0.
using Held = std::array<int64_t, Operand::SIZE>;

// A rule, compiled.
class Check {
  public:
    Check(const Rule &rule, const std::string &of, const std::string &type);
    bool is_broken(const Held &held) const {
        const int64_t value = held[of_];
        return value < held[least_.base] + least_.plus || value > held[most_.base] + most_.plus ||
               (unlike_ != Operand::NONE && value == held[unlike_]);
    }
    // Returns the message with the wrong value and the allowed ones.
    std::string words(const Held &held) const;

  private:
    struct Bound {
        Operand::Value base;
        int64_t plus;
    };
    Operand::Value of_, unlike_;
    Bound least_, most_;
    std::string words_;

    static Bound bound(const std::string &text, int64_t unbounded);
};

// Returns the rules of a row of this kind, in the order in which they are checked; none for an unknown kind.
const std::vector<Check> &rules_of_action(uint8_t kind);

// Returns the rules of a declared lookahead.
const std::vector<Check> &rules_of_lookahead();

// Throws std::runtime_error, with a message, if a field or column of a message, or of the messages in it, breaks its
// rule in a network with this number of nodes. The columns must be whole.
void check_fields(const google::protobuf::Message &message, int32_t nodes);

// Returns a list of the kinds of actions.
std::string kinds_of_actions();

}  // namespace causeway
