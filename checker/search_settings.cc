#include "checker/search_settings.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checker/text.h"

namespace mc::checker {
namespace {

constexpr std::array<std::string_view, 10> kNames = {
    "strategy", "race", "heap",      "exit",     "heap-overruns",
    "spurious", "seed", "max-steps", "disabled", "mutate"};

constexpr RefinementName kRefinements[] = {
    {"read-locks", "read locks and unlocks of one lock commute"},
    {"posts", "posts of one semaphore commute"},
    {"barriers", "arrivals at one barrier commute"},
    {"empty-signal", "a signal nobody waits for only reads"},
    {"silent-rmw", "an exchange that changes nothing only reads"},
    {"shared-sites", "'all' preempts only at accesses seen to be shared"},
};

constexpr std::string_view kStrategies[] = {"odpor",  "source", "dpor", "dfs",      "delay",
                                            "random", "pct",    "pos",  "portfolio"};
constexpr std::string_view kRaces[] = {"limited-hb", "hb"};
constexpr std::string_view kHeaps[] = {"thread", "recycle", "fresh"};
constexpr std::string_view kExits[] = {"wait", "immediate"};

std::string YesNo(bool value) { return value ? "yes" : "no"; }

absl::Status Unknown(std::string_view name, std::string_view value) {
  std::string text = absl::StrCat("'", View(value), "' is no value of ", View(name));
  const std::span<const std::string_view> values = ValuesOf(name);
  if (!values.empty()) {
    absl::StrAppend(&text, ": it can be ");
    for (size_t i = 0; i < values.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : i + 1 == values.size() ? " or " : ", ", View(values[i]));
    }
  }
  return absl::InvalidArgumentError(text);
}

absl::Status SetYesNo(std::string_view name, std::string_view value, bool* out) {
  if (value != "yes" && value != "no") return Unknown(name, value);
  *out = value == "yes";
  return absl::OkStatus();
}

absl::Status SetNumber(std::string_view name, std::string_view value, uint64_t* out) {
  const auto number = ParseNumber<uint64_t>(value);
  if (!number) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", View(value), "' is no value of ", View(name), ": it must be a number"));
  }
  *out = *number;
  return absl::OkStatus();
}

absl::Status SetOneOf(std::string_view name, std::string_view value, std::string* out) {
  const std::span<const std::string_view> values = ValuesOf(name);
  if (std::find(values.begin(), values.end(), value) == values.end()) return Unknown(name, value);
  *out = value;
  return absl::OkStatus();
}

absl::Status SetDisabled(std::string_view value, std::vector<std::string>* out) {
  out->clear();
  for (std::string_view name : Split(value, ',')) {
    const std::span<const RefinementName> all = Refinements();
    if (std::none_of(all.begin(), all.end(), [&](const auto& r) { return r.name == name; })) {
      return absl::InvalidArgumentError(absl::StrCat("unknown refinement '", View(name), "'"));
    }
    out->emplace_back(name);
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const std::string_view> SearchSettings::Names() { return kNames; }
std::span<const RefinementName> Refinements() { return kRefinements; }

std::span<const std::string_view> ValuesOf(std::string_view setting) {
  if (setting == "strategy") return kStrategies;
  if (setting == "race") return kRaces;
  if (setting == "heap") return kHeaps;
  if (setting == "exit") return kExits;
  return {};
}

void SearchSettings::AddTo(Message* job) const {
  job->Set("strategy", strategy).Set("race", race).Set("heap", heap).Set("exit", exit);
  job->Set("overruns", uint64_t{heap_overruns}).Set("spurious", uint64_t{spurious});
  if (fair) job->Set("fair", uint64_t{1});
  job->Set("seed", seed);
  if (max_steps != 0) job->Set("max_steps", max_steps);
  if (!disabled.empty()) job->Set("disabled", absl::StrJoin(disabled, ";"));
  if (samples != 0) job->Set("executions", samples);
  if (depth != 0) job->Set("depth", uint64_t{depth});
  if (delays != 0) job->Set("delays", uint64_t{delays});
  if (preemptions) job->Set("preemptions", uint64_t{*preemptions});
  if (!checkpoints) job->Set("no_checkpoints", uint64_t{1});
  if (!policy.empty()) job->Set("policy", policy);
  if (!detection) job->Set("no_detection", uint64_t{1});
  if (!mutate.empty()) job->Set("mutate", mutate);
}

std::string SearchSettings::Get(std::string_view name) const {
  if (name == "strategy") return strategy;
  if (name == "race") return race;
  if (name == "heap") return heap;
  if (name == "exit") return exit;
  if (name == "heap-overruns") return YesNo(heap_overruns);
  if (name == "spurious") return YesNo(spurious);
  if (name == "seed") return absl::StrCat(seed);
  if (name == "max-steps") return absl::StrCat(max_steps);
  if (name == "disabled") return absl::StrJoin(disabled, ",");
  return mutate;
}

absl::Status SearchSettings::Set(std::string_view name, std::string_view value) {
  if (name == "strategy") {
    if (value != kBounded) return SetOneOf(name, value, &strategy);
    strategy = value;
    return absl::OkStatus();
  }
  if (name == "race") return SetOneOf(name, value, &race);
  if (name == "heap") return SetOneOf(name, value, &heap);
  if (name == "exit") return SetOneOf(name, value, &exit);
  if (name == "heap-overruns") return SetYesNo(name, value, &heap_overruns);
  if (name == "spurious") return SetYesNo(name, value, &spurious);
  if (name == "seed") return SetNumber(name, value, &seed);
  if (name == "max-steps") return SetNumber(name, value, &max_steps);
  if (name == "disabled") return SetDisabled(value, &disabled);
  if (name != "mutate") {
    return absl::InvalidArgumentError(absl::StrCat("unknown setting '", View(name), "'"));
  }
  mutate = value;
  return absl::OkStatus();
}

}  // namespace mc::checker
