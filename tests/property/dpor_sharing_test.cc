// Random programs searched by several workers together: the traces that brute force finds, each
// once, whoever runs when, however late messages come, whoever leaves.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/toy/explore.h"
#include "tests/toy/random_programs.h"
#include "tests/toy/workers.h"

namespace mc::toy {
namespace {

std::string WhatIsWrong(const Program& program, const Exploration& expected,
                        const WorkersOptions& options, uint64_t* items = nullptr,
                        uint64_t* resumed = nullptr) {
  const Shared shared = ExploreTogether(program, options);
  const std::string name = std::to_string(options.workers) + " workers, policy " +
                           std::to_string(static_cast<int>(options.policy)) + ", turns " +
                           std::to_string(options.seed) + ": ";
  if (!shared.error.empty()) return name + shared.error;
  for (const auto& [hash, times] : shared.found.traces) {
    if (times > 1) return name + "a trace was visited " + std::to_string(times) + " times";
    if (!expected.traces.contains(hash)) return name + "a trace that does not exist";
  }
  if (shared.found.traces.size() != expected.traces.size()) {
    return name + "found " + std::to_string(shared.found.traces.size()) + " traces of " +
           std::to_string(expected.traces.size());
  }
  if (shared.counted != expected.traces.size()) {
    return name + "counted " + std::to_string(shared.counted) + " of " +
           std::to_string(expected.traces.size());
  }
  if (items != nullptr) *items += shared.items;
  if (resumed != nullptr) *resumed += shared.resumed;
  return "";
}

// `options` but for what is varied: policies, numbers of workers, turns.
std::string CheckAll(const Program& program, const Exploration& expected, WorkersOptions options,
                     std::initializer_list<uint32_t> workers, uint64_t* items,
                     uint64_t* resumed = nullptr) {
  options.limit = expected.traces.size();
  for (const dpor::Policy policy : kPolicies) {
    for (const uint32_t number : workers) {
      options.workers = number;
      options.policy = policy;
      options.seed = expected.executions + number;
      if (std::string wrong = WhatIsWrong(program, expected, options, items, resumed);
          !wrong.empty()) {
        return wrong;
      }
    }
  }
  return "";
}

TEST(Sharing, WorkersTogetherEqualBruteForce) {
  uint64_t items = 0;
  ForRandomPrograms(ProgramCount(2500), [&](const Program& program, const Exploration& expected) {
    return CheckAll(program, expected, {}, {2, 3, 5}, &items);
  });
  EXPECT_GT(items, ProgramCount(2500)) << "little was shared";
}

TEST(Sharing, WhoeverLeavesNothingIsLost) {
  uint64_t items = 0;
  ForRandomPrograms(ProgramCount(2500), [&](const Program& program, const Exploration& expected) {
    return CheckAll(program, expected, {.leave = true}, {2, 3, 5}, &items);
  });
  EXPECT_GT(items, ProgramCount(2500)) << "little was shared";
}

TEST(Sharing, WhatIsWrittenDownCanBeResumed) {
  uint64_t resumed = 0;
  ForRandomPrograms(ProgramCount(2500), [&](const Program& program, const Exploration& expected) {
    return CheckAll(program, expected, {.resume = true}, {1, 2, 4}, nullptr, &resumed);
  });
  EXPECT_GT(resumed, ProgramCount(2500)) << "little was resumed";
}

std::string FirstSeen(dpor::FrontierMutation mutation) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + 1000; ++seed) {
    Program program;
    std::string error;
    if (!Parse(Generate(seed).Text(), &program, &error)) return error;
    const Exploration expected = BruteForce(program, kMostInterleavings);
    if (!expected.complete) continue;
    for (uint64_t turns = 1; turns <= 4; ++turns) {
      WorkersOptions options;
      options.workers = 3;
      options.seed = turns;
      options.limit = expected.traces.size();
      options.mutation = mutation;
      if (std::string wrong = WhatIsWrong(program, expected, options); !wrong.empty()) return wrong;
    }
  }
  return "";
}

// Each mistake loses traces or finds some twice, or is noticed, on one of the first random
// programs.
class FrontierMutant : public testing::TestWithParam<dpor::FrontierMutation> {};

TEST_P(FrontierMutant, IsCaught) { EXPECT_NE(FirstSeen(GetParam()), ""); }

TEST(Sharing, NothingIsCaughtWhereThereIsNoMistake) {
  EXPECT_EQ(FirstSeen(dpor::FrontierMutation::kNone), "");
}

INSTANTIATE_TEST_SUITE_P(
    All, FrontierMutant,
    testing::Values(dpor::FrontierMutation::kAppendOnly, dpor::FrontierMutation::kForget,
                    dpor::FrontierMutation::kGiveUpEarly, dpor::FrontierMutation::kNoSift),
    [](const auto& mutant) { return std::string(dpor::NameOf(mutant.param)); });

}  // namespace
}  // namespace mc::toy
