// A hook in the network layer of a node: while the node is down, it drops all packets, received or sent.
#pragma once

#include "inet/networklayer/contract/INetfilter.h"

namespace causeway {

class Gate : public inet::NetfilterBase::HookBase {
  public:
    bool isUp() const { return up_; }

  protected:
    bool up_ = true;

    Result pass() const { return up_ ? ACCEPT : DROP; }
    Result datagramPreRoutingHook(inet::Packet *) override { return pass(); }
    Result datagramForwardHook(inet::Packet *) override { return pass(); }
    Result datagramPostRoutingHook(inet::Packet *) override { return pass(); }
    Result datagramLocalInHook(inet::Packet *) override { return pass(); }
    Result datagramLocalOutHook(inet::Packet *) override { return pass(); }
};

}  // namespace causeway
