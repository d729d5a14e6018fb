// Refinements of dependence (dpor/README.md): each may be switched off, and nothing is found then
// that odpor with all of them does not find.
#include <map>

#include "tests/campaign/properties.h"

namespace mc::campaign {

void CheckRefinements(const Range& range, const std::string& name, Counters& counters,
                      const Report& report) {
  const std::string dfs =
      "--strategy=dfs " + kEvery + " --executions=" + std::to_string(settings.executions);
  const Answers expected = Search(range, dfs, name);
  counters.programs += expected.size();
  std::map<uint64_t, uint64_t> with_all;
  for (const char* off : {"", " --no-read-locks", " --no-posts", " --no-barriers",
                          " --no-empty-signal", " --no-silent-rmw"}) {
    const std::string search = "--strategy=odpor " + kEvery + off;
    const Answers found = Search(range, search + " --executions=200000", name);
    for (const auto& [seed, want] : expected) {
      if (!want.complete || !want.error.empty()) continue;
      const auto at = found.find(seed);
      const Answer have = at == found.end() ? Answer() : at->second;
      const uint64_t least = with_all.try_emplace(seed, have.executions).first->second;
      const std::string difference = Difference(want.lines, have.lines, false);
      if (*off == 0) {
        ++counters.compared;
        counters.executions_dfs += want.executions;
      }
      counters.executions_odpor += have.executions;
      if (!have.complete || !difference.empty()) {
        report(seed, {search + ": differs", have.error + difference, {dfs, search}});
      } else if (have.executions < least) {
        report(seed, {search + ": fewer executions", std::to_string(have.executions), {search}});
      }
    }
  }
}

}  // namespace mc::campaign
