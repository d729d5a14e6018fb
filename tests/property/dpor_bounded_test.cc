// Random programs: a search with a bound visits exactly the traces that have an execution with at
// most so many preemptions, and counts each once.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "dpor/bounded.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"
#include "tests/toy/random_programs.h"

namespace mc::toy {
namespace {

// "" if the search with this bound does what it should.
std::string CheckBound(const Program& program, const Exploration& expected, uint32_t bound) {
  dpor::BoundedSearch search(bound);
  const Exploration found = Explore(program, search, 50 * expected.traces.size() + 5000);
  const std::string name = "at most " + std::to_string(bound) + " preemptions: ";
  if (!search.error().empty()) return name + search.error();
  if (!search.complete()) return name + "not complete";
  uint64_t within = 0;
  for (const auto& [hash, preemptions] : expected.preemptions) {
    const bool is_within = preemptions <= bound;
    within += is_within ? 1 : 0;
    if (is_within && !found.traces.contains(hash)) return name + "a trace is missing";
    if (!is_within && found.traces.contains(hash)) return name + "a trace exceeds the bound";
  }
  if (search.executions() + search.assumption_failed() != within) {
    return name + "counted " + std::to_string(search.executions()) + " executions for " +
           std::to_string(within) + " traces";
  }
  if (!search.left_out() && within != expected.traces.size()) return name + "hides that it cut";
  return "";
}

TEST(BoundedSearch, EqualsBruteForce) {
  ForRandomPrograms(ProgramCount(3000), [](const Program& program, const Exploration& expected) {
    for (uint32_t bound = 0; bound <= 3; ++bound) {
      std::string wrong = CheckBound(program, expected, bound);
      if (!wrong.empty()) return wrong;
    }
    return std::string();
  });
}

TEST(BoundedSearch, LeavesNothingOutWhereTheBoundIsHigh) {
  ForRandomPrograms(ProgramCount(1000), [](const Program& program, const Exploration& expected) {
    dpor::BoundedSearch search(200);
    const Exploration found = Explore(program, search, 50 * expected.traces.size() + 5000);
    if (search.left_out()) return std::string("says that it left something out");
    return found.traces.size() == expected.traces.size() ? std::string()
                                                         : std::string("traces are missing");
  });
}

// The same with the search suspended before every execution.
TEST(BoundedSearch, SuspensionChangesNothing) {
  ForRandomPrograms(ProgramCount(500), [](const Program& program, const Exploration& expected) {
    Machine machine(program);
    sched::Trace trace;
    dpor::BoundedSearch searches[2] = {dpor::BoundedSearch(1), dpor::BoundedSearch(2)};
    Exploration found[2];
    for (bool running = true; running;) {
      running = false;
      for (int k = 0; k < 2; ++k) {
        searches[k].Resume();
        if (!RunOne(machine, searches[k], trace, false)) continue;
        found[k].Add(machine, trace);
        running = true;
      }
    }
    for (uint32_t k = 0; k < 2; ++k) {
      if (!searches[k].complete()) return "not complete: " + searches[k].error();
      const auto within = static_cast<size_t>(std::ranges::count_if(
          expected.preemptions, [&](const auto& p) { return p.second <= k + 1; }));
      if (found[k].traces.size() != within) return std::string("other traces");
    }
    return std::string();
  });
}

}  // namespace
}  // namespace mc::toy
