// Prevents loading into a simulation with libraries other than those for which this adapter was built. Without this
// check, such a simulation would crash without any message.
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

namespace causeway {

struct Search {
    std::string prefix;  // of the file's name: liboppsim
    std::set<std::string> found;
};

static int compare(dl_phdr_info *info, size_t, void *data) {
    auto search = static_cast<Search *>(data);
    const std::string path = info->dlpi_name ? info->dlpi_name : "";
    if (path.compare(path.rfind('/') + 1, search->prefix.size(), search->prefix) != 0) return 0;
    char *real = realpath(path.c_str(), nullptr);
    search->found.insert(real ? real : path);
    free(real);
    return 0;
}

// Returns the files of all libraries in this process whose names begin with a prefix.
static std::set<std::string> loaded(const std::string &prefix) {
    Search search{prefix, {}};
    dl_iterate_phdr(compare, &search);
    return search.found;
}

// Returns the folder of OMNeT++ or INET that has a library in its folder lib or src.
static std::string root_of(const std::string &library) {
    const std::string folder = library.substr(0, library.rfind('/'));
    return folder.substr(0, folder.rfind('/'));
}

static void refuse(const std::string &why, const std::string &remedy) {
    fprintf(stderr, "causeway: %s: %s\n", why.c_str(), remedy.c_str());
    _exit(1);
}

// Runs when the library is loaded, before the constructors of libraries that were named before it when it was linked.
__attribute__((constructor(101))) static void check_libraries() {
    char *real = realpath(CAUSEWAY_OMNETPP "/lib", nullptr);
    const std::string own = real ? real : CAUSEWAY_OMNETPP "/lib";
    free(real);
    for (const std::string &kernel : loaded("liboppsim")) {
        const std::string root = root_of(kernel);
        if (kernel.compare(0, own.size() + 1, own + "/") != 0)
            refuse("this adapter was built for the OMNeT++ in " CAUSEWAY_OMNETPP
                   ", and the simulation runs on that in " +
                       root,
                   "load the one that `causeway attach --omnetpp " + root + "` prints");
        if (kernel.find("_dbg") != std::string::npos)
            refuse("this adapter is built in release mode, and the simulation runs in debug mode (" + kernel + ")",
                   "start it with opp_run_release");
    }
    const std::set<std::string> inets = loaded("libINET");
    if (inets.size() > 1)
        refuse("this adapter was built for the INET in " + root_of(*inets.begin()) + " or " + root_of(*inets.rbegin()) +
                   ", and the simulation uses the other one",
               "load the one that `causeway attach --inet DIR` prints for yours");
}

}  // namespace causeway
