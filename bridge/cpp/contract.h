// The options in proto/causeway.proto: texts, big constants, and columns.
#pragma once

#include <cstdint>
#include <string>

#include "causeway.pb.h"

namespace causeway {

// Returns a constant with more bits than an enum's value.
int64_t exactly_of(Constant::Value constant);

// Returns the text for the end of a run.
const std::string &words_of(End::Value end);

// Returns the fault in the columns of a message and of the messages in it, or "". A column must hold whole elements,
// and as many as the first column of its table.
std::string damage(const google::protobuf::Message &message);

}  // namespace causeway
