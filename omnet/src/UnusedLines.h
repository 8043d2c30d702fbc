// The lines of the ini file that match no parameter of the network. OMNeT++ reports none of them.
//
// A line is used if its pattern matches a parameter, or the type name of a submodule, of any module or channel that
// exists at any time of the run. It counts as used even if an earlier line or a NED file sets that parameter.
#pragma once

#include <omnetpp.h>

#include <map>
#include <string>
#include <vector>

namespace causeway {

class UnusedLines : public omnetpp::cListener {
  public:
    ~UnusedLines() override;
    // Compares the lines with the network, which has been built, and with all modules that are created later.
    void begin(omnetpp::cModule *network);
    // Ends the comparison. Returns the keys of the lines that have matched nothing, in the order of precedence.
    std::vector<std::string> end();
    void receiveSignal(omnetpp::cComponent *, omnetpp::simsignal_t, omnetpp::cObject *, omnetpp::cObject *) override;

  private:
    struct Line {
        std::string key;
        omnetpp::cPatternMatcher *pattern;
        bool is_used = false;
    };
    std::vector<Line> lines_;
    std::map<std::string, std::vector<size_t>> unused_;  // by the name of the parameter, or "" if it has wildcards
    omnetpp::cModule *network_ = nullptr;

    void lookBelow(omnetpp::cModule *module);
    void look(omnetpp::cModule *module);
    void lookAt(omnetpp::cComponent *component);
    void use(omnetpp::cComponent *component, const std::string &parameter, const std::string &bin);
};

}  // namespace causeway
