// The label of a simulated packet: the id of the protocol's packet. It adds no bytes on the channel.
#pragma once

#include "ns3/packet.h"
#include "ns3/tag.h"

namespace causeway {

class Label : public ns3::Tag {
  public:
    int64_t packet = -1;
    int64_t serial = -1;  // the number of the transmission: a protocol may send one packet many times
    int32_t peer = -1;    // -1: all nodes in range
    bool in_one_frame = true;

    Label() = default;
    Label(int64_t packet, int64_t serial, int32_t peer, bool in_one_frame)
        : packet(packet), serial(serial), peer(peer), in_one_frame(in_one_frame) {}

    /// Reads the label of a packet; false if it has none (ARP, TCP, acknowledgements).
    bool read(ns3::Ptr<const ns3::Packet> from) { return from->FindFirstMatchingByteTag(*this); }

    static ns3::TypeId GetTypeId() {
        static ns3::TypeId id = ns3::TypeId("causeway::Label").SetParent<ns3::Tag>().AddConstructor<Label>();
        return id;
    }
    ns3::TypeId GetInstanceTypeId() const override { return GetTypeId(); }
    uint32_t GetSerializedSize() const override { return 21; }
    void Serialize(ns3::TagBuffer buffer) const override {
        buffer.WriteU64(static_cast<uint64_t>(packet));
        buffer.WriteU64(static_cast<uint64_t>(serial));
        buffer.WriteU32(static_cast<uint32_t>(peer));
        buffer.WriteU8(in_one_frame);
    }
    void Deserialize(ns3::TagBuffer buffer) override {
        packet = static_cast<int64_t>(buffer.ReadU64());
        serial = static_cast<int64_t>(buffer.ReadU64());
        peer = static_cast<int32_t>(buffer.ReadU32());
        in_one_frame = buffer.ReadU8() != 0;
    }
    void Print(std::ostream &out) const override { out << "packet " << packet; }
};

}  // namespace causeway
