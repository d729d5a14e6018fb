// The table of searches by name.
#ifndef MC_DPOR_STRATEGY_TABLE_H_
#define MC_DPOR_STRATEGY_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "dpor/search.h"

namespace mc::dpor {

inline constexpr uint32_t kDefaultDepth = 3, kDefaultDelays = 2;

struct SearchOptions {
  Policy policy = Policy::kStay;        // of free runs
  uint64_t seed = 0;                    // random, and Policy::kRandom
  uint64_t executions = 1000;           // of a sample: how many
  uint32_t depth = kDefaultDepth;       // pct: of the bugs it looks for, at least 1
  uint32_t delays = kDefaultDelays;     // delay: at most so many
  std::optional<uint32_t> preemptions;  // bounded: at most so many; without: 0, 1, 2, ... in turn
};

struct StrategyEntry {
  std::string_view name;
  std::string_view description;
  // Can it prove a state space explored (as opposed to sampling it)?
  bool exhaustive;
  std::unique_ptr<Search> (*make)(const SearchOptions& options);
};

// All of them, the default (odpor) first.
std::span<const StrategyEntry> Strategies();

// nullptr if there is no search of that name.
std::unique_ptr<Search> MakeSearch(std::string_view name, const SearchOptions& options);

}  // namespace mc::dpor

#endif  // MC_DPOR_STRATEGY_TABLE_H_
