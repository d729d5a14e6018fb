// The events of every program obey the laws of the event model (dpor/law_check.h).
#include "tests/campaign/properties.h"

namespace mc::campaign {

void CheckLaws(const Range& range, const std::string& name, Counters& counters,
               const Report& report) {
  const std::string laws =
      " --fail-on-race=never --internal-law-check=" + std::to_string(settings.pairs);
  // Every other batch with blocks that end at synchronisation only.
  for (const std::string& points : {kEvery, std::string("--pp=sync")}) {
    const std::string search = points + laws + " --seed=" + std::to_string(range.first / kBatch);
    for (const auto& [seed, answer] : Search(range, search, name)) {
      ++counters.programs;
      counters.pairs += answer.executions;
      counters.compared += answer.executions > 0 ? 1 : 0;
      if (!answer.error.empty()) report(seed, {"laws", answer.error, {search}});
    }
  }
}

}  // namespace mc::campaign
