// The IPv4 addresses of nodes.
#pragma once

#include "ns3/ipv4-address.h"

namespace causeway {

constexpr uint32_t RADIO_NET = 0x0a010000;  // 10.1.0.0/16: all radios
constexpr uint32_t WIRE_NET = 0x0a020000;   // 10.2.0.0/16: one /30 a wire

inline ns3::Ipv4Address radio_address(int node) {
    return ns3::Ipv4Address(RADIO_NET + 1 + static_cast<uint32_t>(node));
}
inline ns3::Ipv4Address radio_broadcast() { return ns3::Ipv4Address(RADIO_NET | 0xffff); }
inline ns3::Ipv4Mask radio_mask() { return ns3::Ipv4Mask("/16"); }

/// Returns the address of a wire's first (end 0) or second (end 1) station.
inline ns3::Ipv4Address wire_address(int wire, int end) {
    return ns3::Ipv4Address(WIRE_NET + 4 * static_cast<uint32_t>(wire) + 1 + static_cast<uint32_t>(end));
}
inline ns3::Ipv4Mask wire_mask() { return ns3::Ipv4Mask("/30"); }

}  // namespace causeway
