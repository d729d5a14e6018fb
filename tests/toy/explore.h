// Runs a search on a program of the tiny language and sums up what it found.
#ifndef MC_TESTS_TOY_EXPLORE_H_
#define MC_TESTS_TOY_EXPLORE_H_

#include <cstdint>
#include <string>

#include "dpor/odpor.h"
#include "dpor/search.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/machine.h"
#include "tests/toy/program.h"

namespace mc::toy {

// Runs the search to its end, at most `limit` executions (complete = false if that was too few, or
// if the search stopped with an error).
Exploration Explore(const Program& program, dpor::Search& search, uint64_t limit,
                    ModelMutation mutation = ModelMutation::kNone);

// "" if `found` is what an optimal search, `search`, should find.
std::string CompareOptimal(const dpor::Search& search, const Exploration& found,
                           const Exploration& expected);

// Runs one optimal search under each policy. Returns "" if each visits exactly the traces of
// `expected`, none twice and none given up; otherwise what was wrong.
std::string CheckOptimal(const Program& program, const Exploration& expected);

inline constexpr dpor::Policy kPolicies[] = {dpor::Policy::kStay, dpor::Policy::kLowest,
                                             dpor::Policy::kHighest, dpor::Policy::kRandom};

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_EXPLORE_H_
