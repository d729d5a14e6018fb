// Brute force: every interleaving, every choice. This is the definition of the set of traces.
#ifndef MC_TESTS_TOY_BRUTE_FORCE_H_
#define MC_TESTS_TOY_BRUTE_FORCE_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "sched/trace.h"
#include "tests/toy/machine.h"

namespace mc::toy {

// Order-free hash of a trace: two independent sums over its events of a mix of thread, index,
// choices and vector clock.
using TraceHash = std::pair<uint64_t, uint64_t>;
TraceHash HashTrace(const sched::Trace& trace);

// What a set of executions came to. A trace is counted once however often it was met.
struct Exploration {
  std::map<TraceHash, uint64_t> traces;  // how many executions each had
  uint64_t executions = 0;
  uint64_t deadlocks = 0, assumptions = 0, assertions = 0, exits = 0;  // traces
  uint64_t blocked = 0;                                                // executions given up
  std::set<uint64_t> final_states;
  // Of each trace, the least number of preemptions of its executions. Brute force only.
  std::map<TraceHash, uint32_t> preemptions;
  bool complete = true;

  void Add(const Machine& machine, const sched::Trace& trace);
};

// All interleavings; gives up (complete = false) after `limit` of them.
Exploration BruteForce(const Program& program, uint64_t limit,
                       ModelMutation mutation = ModelMutation::kNone);

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_BRUTE_FORCE_H_
