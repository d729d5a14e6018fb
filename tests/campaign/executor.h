// Runs a random program: the threads, one instruction after another. Not instrumented: mc sees the
// operations, and nothing of what chooses them.
#ifndef MC_TESTS_CAMPAIGN_EXECUTOR_H_
#define MC_TESTS_CAMPAIGN_EXECUTOR_H_

#include <cstdint>

#include "tests/campaign/program.h"

namespace mc::campaign {

// Called by main's thread. `number` names the program for the coverage.
void RunProgram(const Program& program, uint64_t number);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_EXECUTOR_H_
