// Validation of the controller's frames: the setup of a run and every answer, before the adapter uses them.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "bridge/cpp/validation.h"
#include "causeway.pb.h"

namespace causeway {

// Thrown for a frame with a request that is impossible. The text is one line for the user.
class Refused : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Returns the number of nodes of the run; 0 if its network is the simulator's own.
int32_t nodes_of(const Setup &setup);

// Throws Refused unless every number of the setup is allowed and every column is whole.
void check_setup(const Setup &setup);

// Throws Refused if the workload or a scripted failure names a node that does not exist (nodes 0: number unknown).
void check_nodes(const Setup &setup, int32_t nodes);

// Checks answers of the controller, row by row, by the rules of the contract.
class AnswerCheck {
  public:
    AnswerCheck();
    void expect_run(const Setup &setup);
    // Sets the number of nodes; 0 means unknown, so that all numbers up to the limit are allowed.
    void expect_nodes(int32_t nodes);

    // Throws Refused unless all actions of the answer are possible from `effect_ps` on.
    void check(const Actions &answer, int64_t effect_ps);

  private:
    Held held_;

    void check_action(const Actions &answer, size_t row);
    void check_lookahead(const Actions &answer, size_t row);
};

}  // namespace causeway
