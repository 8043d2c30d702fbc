// The rules of actions, as the contract declares them: the same table as bridge/validation.py reads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "causeway.pb.h"

namespace causeway {

// What rules are about: the columns of an action, and limits of the run.
struct Operand {
    // clang-format off
    enum Value : size_t {
        TIME_PS, NODE, REF, PEER, SIZE_BYTES, INTERFACE, TOPIC, PATIENT_NODE, PATIENT_TOPIC, PATIENCE_PS,
        NODES, INTERFACES, CHANNELS, FIRST_MOVER, MOVERS, TCP, CONNECTIONS, EARLIEST_PS, NONE, SIZE
    };
    // clang-format on
};
// NONE holds 0.
using Held = std::array<int64_t, Operand::SIZE>;

class Check {
  public:
    Check(const Rule &rule, const std::string &of, const std::string &type);
    bool is_broken(const Held &held) const {
        const int64_t value = held[of_];
        return value < held[least_.base] + least_.plus || value > held[most_.base] + most_.plus ||
               (unlike_ != Operand::NONE && value == held[unlike_]);
    }
    // What is wrong, and what is allowed.
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

// The rules of a row of this kind, in the order in which they are looked at; of one that nobody knows: none.
const std::vector<Check> &rules_of_action(uint8_t kind);

// The rules of a promise of patience.
const std::vector<Check> &rules_of_promise();

// Throws std::runtime_error, in words, unless every field and column of the message, and of those in it, holds what its
// rule allows in a network of so many nodes. The columns are whole.
void check_fields(const google::protobuf::Message &message, int32_t nodes);

// Which kinds of actions there are, in words.
std::string kinds_of_actions();

}  // namespace causeway
