// The tag of a packet of the bridge inside the simulator: its id, on every byte of its payload.
#pragma once

#include <functional>

#include "causeway.pb.h"
#include "inet/common/TagBase.h"
#include "inet/common/packet/chunk/Chunk.h"

namespace causeway {

class PacketTag : public inet::TagBase {
  public:
    int64_t packet = -1;
    int32_t source = -1;  // node ids
    int32_t peer = Constant::BROADCAST_PEER;
    int32_t size = 0;  // of the whole packet; a TCP segment may hold a part of it
    int32_t interface = Interface::WIRELESS;

    PacketTag *dup() const override { return new PacketTag(*this); }
};

// Returns a payload of `tag.size` bytes, all of them tagged.
inet::Ptr<inet::Chunk> tagged_payload(const PacketTag &tag);

// Calls `tell(bytes, tag)` for every tagged stretch of the chunk, in order.
void each_tag(const inet::Chunk *chunk, const std::function<void(int64_t, const PacketTag &)> &tell);

// Returns the tag of the first tagged byte of the chunk, null if there is none.
const PacketTag *find_tag(const inet::Chunk *chunk);

}  // namespace causeway
