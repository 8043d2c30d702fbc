// NED functions with the controller's settings, for NED and ini files.
#include "Bridge.h"

using namespace omnetpp;

namespace causeway {

static cValue nodes_of_run(cComponent *, cValue[], int) {
    const Setup &setup = Bridge::instance().setup();
    if (setup.has_mobile_network()) {
        return cValue(
            static_cast<intval_t>(setup.mobile_network().station_x_mm().size() / 4 + setup.mobile_network().hosts()));
    }
    return cValue(static_cast<intval_t>(setup.abstract_network().nodes()));
}

Define_NED_Function2(nodes_of_run, "int causewayNodes()", "causeway",
                     "Number of nodes of the run, from the controller.");

}  // namespace causeway
