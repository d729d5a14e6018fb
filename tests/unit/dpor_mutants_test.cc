// Every mistake of the search (optimal-dpor 4, the rows that apply to request lists) is caught by
// the program that shows it: traces are lost or doubled, or the search reports an error.
#include <gtest/gtest.h>

#include <string>

#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"

namespace mc::toy {
namespace {

using dpor::Mutation;

struct MutantCase {
  const char* name;
  Mutation mutation;
  const char* text;
};

constexpr const char* kSemKeep = "P s0 ‖ P s0; V s0 [s0=1]";
constexpr const char* kExit1 = "– ‖ exit";
constexpr const char* kRwKeep = "rdlock w0 ‖ rdlock w0 ‖ wrlock w0";
constexpr const char* kTryKeep = "r2=trylock m0 ‖ r2=trylock m0";
constexpr const char* kChooseTwice = "r0=choose(3) ‖ r0=choose(2), r0=choose(2)";
constexpr const char* kChooseBranch = "x=1 ‖ r1=choose(3), if r1==1 {x=2}";

const MutantCase kCases[] = {
    {"lock_pair", Mutation::kLockPair, kSemKeep},
    {"end_blocked", Mutation::kEndBlocked, kExit1},
    {"co_enabled", Mutation::kCoEnabled, kSemKeep},
    {"co_disabler", Mutation::kCoDisabler, kRwKeep},
    {"pending_certain", Mutation::kPendingCertain,
     "lock m0; r3=timedwait c0,m0 ‖ lock m0; broadcast c0"},
    {"notdep_trunc", Mutation::kNotDepTruncated, "spin until x or y ‖ spin until cas(x,0,2) ‖ y=1"},
    {"only_new", Mutation::kOnlyNew, kChooseTwice},
    {"stale_full", Mutation::kStaleFull, kTryKeep},
    {"no_wi_insert", Mutation::kNoWiInsert, "r0=y ‖ x=2 ‖ r0=x ‖ y=2"},
    {"no_wi_sleep", Mutation::kNoWiSleep, kRwKeep},
    {"ignore_last", Mutation::kIgnoreLast, "x=1 ‖ r0=x ‖ r0=cas(x,0,2)"},
    {"no_sleep_test", Mutation::kNoSleepTest, kExit1},
    {"sleep_by_thread", Mutation::kSleepByThread, kChooseTwice},
    {"stale_same", Mutation::kStaleSame, "r0=choose(2); y=1 ‖ y=1"},
    {"keep_same", Mutation::kKeepSame, "r0=choose(2), x=r0+1 ‖ r3=x"},
    {"inner_wake", Mutation::kInnerWake, kExit1},
    {"no_choice", Mutation::kNoChoice, "r0=choose(2) ‖ r0=choose(3)"},
    {"choice_at_node", Mutation::kChoiceAtNode, kChooseBranch},
    {"choice_untested", Mutation::kChoiceUntested, kChooseBranch},
};

class SearchMutant : public testing::TestWithParam<MutantCase> {};

// What the search with the mistake does wrong on the program; "" if nothing.
std::string WhatIsWrong(const Program& program, const Exploration& expected, Mutation mutation,
                        dpor::Policy policy, bool oldest_first) {
  dpor::OptimalSearchOptions options;
  options.policy = policy;
  options.seed = 7;
  options.oldest_request_first = oldest_first;
  options.mutation = mutation;
  dpor::OptimalSearch<true> search(options);
  const Exploration found = Explore(program, search, 3 * expected.traces.size() + 3);
  if (!search.error().empty()) return search.error();
  if (!search.complete()) return "does not end";
  if (found.traces.size() != expected.traces.size()) {
    return "finds " + std::to_string(found.traces.size()) + " of " +
           std::to_string(expected.traces.size());
  }
  if (found.executions != expected.traces.size()) return "duplicates";
  return "";
}

TEST_P(SearchMutant, IsCaught) {
  const Program program = ParseOrDie(GetParam().text);
  const Exploration expected = BruteForce(program, 100'000);
  ASSERT_TRUE(expected.complete);
  std::string wrong;
  for (const dpor::Policy policy : kPolicies) {
    for (const bool oldest_first : {false, true}) {
      // The correct search passes the very same check.
      EXPECT_EQ(WhatIsWrong(program, expected, Mutation::kNone, policy, oldest_first), "");
      if (!wrong.empty()) continue;
      wrong = WhatIsWrong(program, expected, GetParam().mutation, policy, oldest_first);
    }
  }
  EXPECT_NE(wrong, "") << "no policy shows the mistake";
}

INSTANTIATE_TEST_SUITE_P(All, SearchMutant, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SearchMutants, AllHaveACase) {
  EXPECT_EQ(std::size(kCases), static_cast<size_t>(dpor::kMutations) - 1);
}

// Cutting the run at a failure is a mistake of whoever executes, not of the search.
TEST(ExecutionMutants, CuttingAtFailuresLosesTraces) {
  const struct {
    ModelMutation mutation;
    const char* text;
    size_t traces;
  } cases[] = {
      {ModelMutation::kAssumeCuts, "x=1 ‖ r3=x, assume r3==1", 2},
      {ModelMutation::kAssertCuts, "r3=x, assert r3==0 ‖ x=1; x=0", 3},
  };
  for (const auto& c : cases) {
    const Program program = ParseOrDie(c.text);
    size_t fewest = c.traces;
    for (const dpor::Policy policy : kPolicies) {
      dpor::OptimalSearchOptions options;
      options.policy = policy;
      dpor::OptimalSearch<false> search(options);
      const Exploration found = Explore(program, search, 100, c.mutation);
      fewest = std::min(fewest, found.traces.size());
    }
    EXPECT_LT(fewest, c.traces) << c.text;
  }
}

}  // namespace
}  // namespace mc::toy
