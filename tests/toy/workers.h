// Workers: several searches that share one state space through a Frontier, in one process, whose
// turns and late messages come from a random number.
#ifndef MC_TESTS_TOY_WORKERS_H_
#define MC_TESTS_TOY_WORKERS_H_

#include <cstdint>
#include <string>

#include "dpor/frontier.h"
#include "dpor/search.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/program.h"

namespace mc::toy {

struct WorkersOptions {
  uint32_t workers = 2;
  dpor::Policy policy = dpor::Policy::kStay;
  uint64_t seed = 1;
  bool leave = false;  // workers other than the first leave, and others take their places
  // Now and then all workers are gone, and one begins again with what had been written down.
  bool resume = false;
  bool spill = false;            // all requests, after each execution
  bool store_is_broken = false;  // none can be had back
  uint64_t limit = 0;            // of executions
  dpor::FrontierMutation mutation = dpor::FrontierMutation::kNone;
};

struct Shared {
  Exploration found;
  uint64_t counted = 0;  // executions that the first worker's search has counted in the end
  uint64_t items = 0;    // taken by others
  uint64_t resumed = 0;
  std::string error;
};

Shared ExploreTogether(const Program& program, const WorkersOptions& options);

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_WORKERS_H_
