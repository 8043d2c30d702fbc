// Silences a host: while it is down its network layer drops everything both ways. Made at run time, for any host.
#pragma once

#include "inet/networklayer/contract/INetfilter.h"

namespace causeway {

class HostSwitch : public inet::NetfilterBase::HookBase {
  public:
    explicit HostSwitch(omnetpp::cModule *host) : host_(host) { hook(host); }
    void setUp(bool up);

  private:
    omnetpp::cModule *host_;
    bool up_ = true;

    void hook(omnetpp::cModule *module);

    Result gate() const { return up_ ? ACCEPT : DROP; }
    Result datagramPreRoutingHook(inet::Packet *) override { return gate(); }
    Result datagramForwardHook(inet::Packet *) override { return gate(); }
    Result datagramPostRoutingHook(inet::Packet *) override { return gate(); }
    Result datagramLocalInHook(inet::Packet *) override { return gate(); }
    Result datagramLocalOutHook(inet::Packet *) override { return gate(); }
};

}  // namespace causeway
