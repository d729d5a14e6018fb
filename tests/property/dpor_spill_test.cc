// Searches whose waiting requests go to a store (spec optimal-dpor 3.5) find what brute force
// finds, each trace once: however little may stay in memory, with several workers, after a resume,
// and when the store is full.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "dpor/odpor.h"
#include "tests/toy/explore.h"
#include "tests/toy/memory_store.h"
#include "tests/toy/random_programs.h"
#include "tests/toy/workers.h"

namespace mc::toy {
namespace {

struct Limits {
  uint64_t memory = 0;           // bytes
  uint64_t room = ~uint64_t{0};  // words
};

// Under each policy; `written` is how many requests went to the store in all.
std::string CheckSpilling(const Program& program, const Exploration& expected, const Limits& limits,
                          uint64_t* written) {
  for (const dpor::Policy policy : kPolicies) {
    for (const bool oldest_first : {false, true}) {
      MemoryStore store;
      store.room = limits.room;
      dpor::SpillBudget budget{.limit = limits.memory};
      dpor::OptimalSearchOptions options;
      options.policy = policy;
      options.seed = expected.executions;
      options.oldest_request_first = oldest_first;
      dpor::OptimalSearch<false> search(options);
      search.LimitMemory(&store, &budget);
      const Exploration found = Explore(program, search, 2 * expected.traces.size() + 2);
      const std::string wrong = CompareOptimal(search, found, expected);
      if (!wrong.empty()) {
        return "policy " + std::to_string(static_cast<int>(policy)) + ": " + wrong;
      }
      *written += budget.spilled_requests;
    }
  }
  return "";
}

void CheckPrograms(const Limits& limits) {
  uint64_t written = 0;
  ForRandomPrograms(ProgramCount(2500), [&](const Program& program, const Exploration& expected) {
    return CheckSpilling(program, expected, limits, &written);
  });
  EXPECT_GT(written, ProgramCount(2500)) << "little was spilled";
}

TEST(Spilling, AllOfThem) { CheckPrograms({}); }

TEST(Spilling, SomeOfThem) { CheckPrograms({.memory = 1500}); }

TEST(Spilling, AsLongAsThereIsRoom) { CheckPrograms({.room = 120}); }

TEST(Spilling, SeveralWorkers) {
  ForRandomPrograms(ProgramCount(1500), [&](const Program& program, const Exploration& expected) {
    for (const dpor::Policy policy : kPolicies) {
      for (const bool resume : {false, true}) {
        WorkersOptions options;
        options.workers = 3;
        options.policy = policy;
        options.seed = expected.executions;
        options.leave = true;
        options.resume = resume;
        options.spill = true;
        options.limit = expected.traces.size();
        const Shared shared = ExploreTogether(program, options);
        if (!shared.error.empty()) return shared.error;
        if (shared.found.traces.size() != expected.traces.size() ||
            shared.counted != expected.traces.size()) {
          return "found " + std::to_string(shared.found.traces.size()) + " traces, counted " +
                 std::to_string(shared.counted) + ", of " + std::to_string(expected.traces.size());
        }
      }
    }
    return std::string();
  });
}

// Some requests are lost: the search must not say that it is complete.
TEST(Spilling, AStoreThatFailsIsAnError) {
  uint64_t failed = 0;
  ForRandomPrograms(ProgramCount(300), [&](const Program& program, const Exploration& expected) {
    MemoryStore store;
    store.is_broken = true;
    dpor::SpillBudget budget{.limit = 0};
    dpor::OptimalSearch<false> search({});
    search.LimitMemory(&store, &budget);
    const Exploration found = Explore(program, search, expected.traces.size() + 1);
    failed += search.complete() ? 0 : 1;
    const bool is_whole = found.traces.size() == expected.traces.size();
    return search.complete() && !is_whole ? "traces are missing" : std::string();
  });
  EXPECT_GT(failed, 0u);
}

TEST(Spilling, NorOneOfSeveralWorkers) {
  uint64_t failed = 0;
  ForRandomPrograms(ProgramCount(1000), [&](const Program& program, const Exploration& expected) {
    for (const bool resume : {false, true}) {
      WorkersOptions options;
      options.workers = 3;
      options.seed = expected.executions;
      options.leave = true;
      options.resume = resume;
      options.spill = true;
      options.store_is_broken = true;
      options.limit = expected.traces.size();
      const Shared shared = ExploreTogether(program, options);
      failed += shared.error.empty() ? 0 : 1;
      if (shared.error.empty() && shared.found.traces.size() != expected.traces.size()) {
        return "traces are missing";
      }
    }
    return "";
  });
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace mc::toy
