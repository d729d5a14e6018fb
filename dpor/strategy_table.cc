#include "dpor/strategy_table.h"

#include "dpor/bounded.h"
#include "dpor/delay.h"
#include "dpor/dfs.h"
#include "dpor/iterative_bounding.h"
#include "dpor/odpor.h"
#include "dpor/pct.h"
#include "dpor/plain.h"
#include "dpor/portfolio.h"
#include "dpor/pos.h"
#include "dpor/random_walk.h"
#include "dpor/source.h"

namespace mc::dpor {
namespace {

constexpr StrategyEntry kStrategies[] = {
    {"odpor", "optimal dynamic partial-order reduction: one execution per trace", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       OptimalSearchOptions options;
       options.policy = o.policy;
       options.seed = o.seed;
       return std::make_unique<OptimalSearch<false>>(options);
     }},
    {"source", "dynamic partial-order reduction with source sets and sleep sets", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<SourceSearch>(o.policy, o.seed);
     }},
    {"dpor", "dynamic partial-order reduction with persistent sets and sleep sets", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<PlainSearch>(o.policy, o.seed);
     }},
    {"dfs", "every interleaving, no reduction", true,
     [](const SearchOptions&) -> std::unique_ptr<Search> {
       return std::make_unique<DepthFirstSearch>();
     }},
    {"bounded", "one execution per trace that needs few preemptions", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       if (!o.preemptions) return std::make_unique<IterativeBounding>();
       return std::make_unique<BoundedSearch>(*o.preemptions);
     }},
    {"delay", "schedules that differ from a fixed one by few delays", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<DelaySearch>(o.delays);
     }},
    {"pct", "random priorities, with a known chance to find a bug", false,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<ProbabilisticConcurrencyTesting>(o.depth, o.seed, o.executions);
     }},
    {"pos", "random priorities of events, drawn anew where they race", false,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<PartialOrderSampling>(o.seed, o.executions);
     }},
    {"random", "random walks", false,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<RandomWalk>(o.seed, o.executions);
     }},
    {"portfolio", "odpor and several that look for bugs, by turns", true,
     [](const SearchOptions& o) -> std::unique_ptr<Search> {
       return std::make_unique<Portfolio>(Portfolio::DefaultMembers(o.policy, o.seed));
     }},
};

}  // namespace

std::span<const StrategyEntry> Strategies() { return kStrategies; }

std::unique_ptr<Search> MakeSearch(std::string_view name, const SearchOptions& options) {
  for (const StrategyEntry& entry : kStrategies) {
    if (entry.name == name) return entry.make(options);
  }
  return nullptr;
}

}  // namespace mc::dpor
