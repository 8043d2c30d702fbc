#include "UnusedLines.h"

#include <algorithm>

using namespace omnetpp;

namespace causeway {

static const char *const kTypeName = "typename";

UnusedLines::~UnusedLines() {
    for (Line &line : lines_) delete line.pattern;
}

void UnusedLines::begin(cModule *network) {
    const std::vector<const char *> pairs = getEnvir()->getConfigEx()->getKeyValuePairs(cConfigurationEx::FILT_PARAM);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
        const std::string key = pairs[i];
        const std::string name = key.substr(key.rfind('.') + 1);
        if (name == kTypeName && std::string(pairs[i + 1]) == "\"\"") continue;  // it removes the submodule
        const bool wild = cPatternMatcher::containsWildcards(name.c_str());
        unused_[wild ? "" : name].push_back(lines_.size());
        lines_.push_back({key, new cPatternMatcher(key.c_str(), true, true, true)});
    }
    lookBelow(network);
    if (unused_.empty()) return;
    network_ = network;
    network_->subscribe(POST_MODEL_CHANGE, this);
}

std::vector<std::string> UnusedLines::end() {
    if (network_) network_->unsubscribe(POST_MODEL_CHANGE, this);
    network_ = nullptr;
    std::vector<std::string> keys;
    for (const Line &line : lines_)
        if (!line.is_used) keys.push_back(line.key);
    return keys;
}

void UnusedLines::receiveSignal(cComponent *, simsignal_t, cObject *change, cObject *) {
    if (auto added = dynamic_cast<cPostModuleAddNotification *>(change)) look(added->module);
    if (auto connected = dynamic_cast<cPostGateConnectNotification *>(change))
        if (cChannel *channel = connected->gate->getChannel()) lookAt(channel);
}

void UnusedLines::lookBelow(cModule *module) {
    look(module);
    for (cModule::SubmoduleIterator it(module); !it.end() && !unused_.empty(); ++it) lookBelow(*it);
}

void UnusedLines::look(cModule *module) {
    lookAt(module);
    for (cModule::GateIterator it(module); !it.end(); ++it)
        if (cChannel *channel = (*it)->getChannel()) lookAt(channel);
}

void UnusedLines::lookAt(cComponent *component) {
    const auto consider = [&](const std::string &parameter) {
        use(component, parameter, parameter);
        use(component, parameter, "");
    };
    for (int i = 0; i < component->getNumParams() && !unused_.empty(); ++i) consider(component->par(i).getName());
    consider(kTypeName);
}

// Marks the lines of a bin that match a parameter.
void UnusedLines::use(cComponent *component, const std::string &parameter, const std::string &bin) {
    const auto found = unused_.find(bin);
    if (found == unused_.end()) return;
    const std::string path = component->getFullPath() + "." + parameter;
    std::vector<size_t> &left = found->second;
    const auto is_used = [&](size_t i) { return lines_[i].is_used = lines_[i].pattern->matches(path.c_str()); };
    left.erase(std::remove_if(left.begin(), left.end(), is_used), left.end());
    if (left.empty()) unused_.erase(found);
}

}  // namespace causeway
