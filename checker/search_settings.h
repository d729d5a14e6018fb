// SearchSettings: everything besides the PP set that decides what the executions of a job are.
//
// Sent to the worker with every job, and kept in every schedule file: a schedule only means
// something under the settings it was found with.
#ifndef MC_CHECKER_SEARCH_SETTINGS_H_
#define MC_CHECKER_SEARCH_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "checker/message.h"

namespace mc::checker {

// The strategy of --preemptions and --icb, which has no other name for the user.
inline constexpr std::string_view kBounded = "bounded";

struct SearchSettings {
  std::string strategy = "odpor";
  std::string race = "limited-hb";
  std::string heap = "thread";
  std::string exit = "wait";
  bool heap_overruns = false;
  bool spurious = false;
  uint64_t seed = 0;
  uint64_t max_steps = 0;             // longest execution, in transitions; 0: the runtime's default
  std::vector<std::string> disabled;  // refinements of the dependence relation that are off
  // The rest is of a search, not of a schedule.
  // Of a strategy that takes samples: how many executions, or (a check of the event model) pairs of
  // events; 0: its default.
  uint64_t samples = 0;
  uint32_t depth = 0, delays = 0;       // of the strategies pct and delay; 0: their defaults
  std::optional<uint32_t> preemptions;  // bounded: at most so many; without: 0, 1, 2, ... in turn
  bool fair = false;                    // loops that wait soon let the others go first
  std::string policy;                   // of free runs, for tests; "" is the default
  bool detection = true;                // of races; without, only to see what it costs
  bool checkpoints = true;              // executions go on from the middle of a common prefix
  std::string mutate;                   // a deliberate mistake; test builds only

  bool operator==(const SearchSettings&) const = default;

  void AddTo(Message* job) const;

  // The settings by name, as text, for schedule files. Set fails for a name or a value that there
  // is not.
  static std::span<const std::string_view> Names();
  std::string Get(std::string_view name) const;
  absl::Status Set(std::string_view name, std::string_view value);
};

// The refinements that can be switched off, and what each says.
struct RefinementName {
  std::string_view name;
  std::string_view help;
};
std::span<const RefinementName> Refinements();

// The values an enumerated setting can have; empty if it is not enumerated.
std::span<const std::string_view> ValuesOf(std::string_view setting);

}  // namespace mc::checker

#endif  // MC_CHECKER_SEARCH_SETTINGS_H_
