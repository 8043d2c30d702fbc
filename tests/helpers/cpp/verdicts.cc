// Reads frames, each after its length: a setup, then answers. Of each answer it prints why it is refused, or nothing,
// on a line of its own; none has to do with the others.
#include <cstdint>
#include <iostream>
#include <string>

#include "bridge/cpp/setup.h"

using namespace causeway;

namespace {

bool next(Frame *frame) {
    uint32_t size = 0;
    if (!std::cin.read(reinterpret_cast<char *>(&size), sizeof size)) return false;
    std::string bytes(size, '\0');
    return std::cin.read(&bytes[0], size) && frame->ParseFromString(bytes);
}

}  // namespace

int main(int, char **argv) {
    const int64_t effect_ps = std::stoll(argv[1]);
    Frame setup, answer;
    next(&setup);
    while (next(&answer)) {
        AnswerCheck check;
        check.expect_run(setup.setup());
        try {
            if (answer.has_setup()) check_setup(answer.setup());
            if (answer.has_actions()) check.check(answer.actions(), effect_ps);
            std::cout << "\n";
        } catch (const Refused &refused) {
            std::cout << refused.what() << "\n";
        }
    }
}
