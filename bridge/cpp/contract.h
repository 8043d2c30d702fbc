// What proto/causeway.proto says beyond kinds and numbers: words, big constants, and which bytes are whose columns.
#pragma once

#include <cstdint>
#include <string>

#include "causeway.pb.h"

namespace causeway {

// A constant that has more bits than an enum's value.
int64_t exactly_of(Constant::Value constant);

// Why a run ended, in words.
const std::string &words_of(End::Value end);

// What is wrong with the columns of a message and of those in it: one that holds no whole elements, or has not as many
// rows as the first one of its table. Empty if nothing is.
std::string damage(const google::protobuf::Message &message);

}  // namespace causeway
