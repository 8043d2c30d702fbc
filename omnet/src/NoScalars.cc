// A scalar manager that writes no file, not even an empty one: results go to the controller by default.
#include <omnetpp.h>
#include <omnetpp/envirext.h>

using namespace omnetpp;

namespace causeway {

class NoScalars : public cIOutputScalarManager {
  public:
    void startRun() override {}
    void endRun() override {}
    bool recordScalar(cComponent *, const char *, double, opp_string_map *) override { return false; }
    bool recordStatistic(cComponent *, const char *, cStatistic *, opp_string_map *) override { return false; }
    bool recordParameter(cPar *) override { return false; }
    bool recordComponentType(cComponent *) override { return false; }
    const char *getFileName() const override { return ""; }
    void flush() override {}
};

Register_Class(NoScalars);

}  // namespace causeway
