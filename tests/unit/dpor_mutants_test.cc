// Every mistake of the search (optimal-dpor 4, the rows that apply to request lists) is caught by
// the program that shows it: traces are lost or doubled, or the search reports an error.
#include <gtest/gtest.h>

#include <string>

#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"
#include "tests/toy/search_mutants.h"

namespace mc::toy {
namespace {

using dpor::Mutation;

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

INSTANTIATE_TEST_SUITE_P(All, SearchMutant, testing::ValuesIn(kSearchMutants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SearchMutants, AllHaveACase) {
  EXPECT_EQ(std::size(kSearchMutants), static_cast<size_t>(dpor::kMutations) - 1);
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
