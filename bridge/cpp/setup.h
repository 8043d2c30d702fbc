// The one reader that believes nothing: what the controller says of a run, and what it wants done, before any edge sees
// it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bridge/cpp/validation.h"
#include "causeway.pb.h"

namespace causeway {

// What the controller sent cannot be done; the text is one line for the user.
class Refused : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// How many nodes the run has; 0 if its network is the simulator's own.
int32_t nodes_of(const Setup &setup);

// Throws Refused unless every number of the setup means something and every column can be read to its end.
void check_setup(const Setup &setup);

// Throws Refused if the workload or the failures name a node that is not among so many (0: nobody knows how many).
void check_nodes(const Setup &setup, int32_t nodes);

// Checks answers of the controller, row by row, by the rules of the contract.
class AnswerCheck {
  public:
    AnswerCheck();
    void expect_run(const Setup &setup);
    // The network has so many nodes; 0: nobody knows, so any up to the limit.
    void expect_nodes(int32_t nodes);

    // Throws Refused unless all that is in the answer can be done from `effect_ps` on. Columns first, then every row.
    void check(const Actions &answer, int64_t effect_ps);

  private:
    Held held_;

    void check_action(const Actions &answer, size_t row);
    void check_promise(const Actions &answer, size_t row);
};

}  // namespace causeway
