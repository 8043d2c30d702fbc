#include "PacketTag.h"

#include "inet/common/packet/chunk/ByteCountChunk.h"
#include "inet/common/packet/chunk/SequenceChunk.h"

namespace causeway {

inet::Ptr<inet::Chunk> tagged_payload(const PacketTag &tag) {
    auto payload = inet::makeShared<inet::ByteCountChunk>(inet::B(tag.size));
    *payload->addTag<PacketTag>() = tag;
    return payload;
}

void each_tag(const inet::Chunk *chunk, const std::function<void(int64_t, const PacketTag &)> &tell) {
    if (auto sequence = dynamic_cast<const inet::SequenceChunk *>(chunk)) {
        for (const auto &part : sequence->getChunks()) each_tag(part.get(), tell);
        return;
    }
    for (const auto &region : chunk->getAllTags<PacketTag>()) tell(inet::B(region.getLength()).get(), *region.getTag());
}

const PacketTag *find_tag(const inet::Chunk *chunk) {
    const PacketTag *first = nullptr;
    each_tag(chunk, [&](int64_t, const PacketTag &tag) {
        if (!first) first = &tag;
    });
    return first;
}

}  // namespace causeway
