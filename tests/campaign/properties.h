// The properties that a campaign looks for, each in a file of its own.
#ifndef MC_TESTS_CAMPAIGN_PROPERTIES_H_
#define MC_TESTS_CAMPAIGN_PROPERTIES_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/campaign/searches.h"

namespace mc::campaign {

struct Finding {
  std::string what;  // which comparison failed: shrinking keeps it
  std::string detail;
  std::vector<std::string> searches;  // those that show it
};

// What was done; without what shrinking does.
struct Counters {
  std::atomic<uint64_t> programs{0}, compared{0}, too_large{0}, failures{0};
  std::atomic<uint64_t> executions_dfs{0}, executions_odpor{0}, pairs{0}, states{0}, bugs{0};
  std::atomic<uint64_t> traces{0};
};

// To be called as report(seed, finding) for each program of a range that fails.
using Report = std::function<void(uint64_t, const Finding&)>;

// Checks all programs of a range; `name` is that of its files.
using Property = void(const Range& range, const std::string& name, Counters& counters,
                      const Report& report);
Property CheckConvergence, CheckRefinements, CheckLaws;

// By the names of the command line; nullptr if there is none.
Property* FindProperty(std::string_view name);

// Options of mc: every access is a preemption point.
inline const std::string kEvery = "--pp=all --no-shared-sites";

// What one set of final states and bugs lacks of another, and what it has besides; of the bugs
// alone, if so asked. Empty if they are equal.
std::string Difference(const std::set<std::string>& expected, const std::set<std::string>& found,
                       bool bugs_only);

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_PROPERTIES_H_
