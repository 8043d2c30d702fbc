// The two radios of ns-3's networks.
//
// wifi: IEEE 802.11g ad hoc, 6 Mb/s. Free-space loss, scaled so that frames are received up to the range of a cell and
// not beyond; weaker signals still interfere. The stronger of two frames may survive (ns-3's own error model decides).
//
// unitdisk: all nodes within the range receive a frame with the same strength, two frames that overlap at a receiver
// are both lost there, nothing is received or interferes beyond the range. The MAC is 802.11's, but sends every frame
// once: a unicast that is not acknowledged is not repeated. 2 Mb/s.
#pragma once

#include "wireless_channel.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "plan.h"

namespace causeway {

struct Radios {
    ns3::NetDeviceContainer devices;  // in the order of the nodes, as in `air`
    ns3::Ptr<WirelessChannel> air;
};

/// Gives every node a radio on one shared channel. The nodes must already have their mobility. If the plan is
/// impossible for the radios, throws with a line for the user.
Radios install_radio(const Plan &plan, const ns3::NodeContainer &nodes);

}  // namespace causeway
