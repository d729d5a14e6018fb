// Options: the command line of mc (DESIGN section 4).
#ifndef MC_CHECKER_OPTIONS_H_
#define MC_CHECKER_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "checker/findings.h"
#include "checker/pp_set.h"
#include "checker/search_settings.h"

namespace mc::checker {

enum class Verbosity { kQuiet, kNormal, kVerbose };

// Half of the machine's.
uint64_t DefaultMemory();
// A number of bytes as --memory takes it: "300M".
std::string SizeText(uint64_t bytes);

struct Options {
  // What to do.
  bool iterative = false;  // asked for by name
  bool strategy_given = false;
  bool icb = false;  // bounds of 0, 1, 2, ... preemptions in turn
  bool list = false;
  bool help = false;
  bool version = false;
  std::string replay;             // file; "" for none
  std::string check_certificate;  // likewise
  bool gdb = false;

  // What to run.
  std::string harness;
  std::vector<std::string> arguments;
  std::string test;

  // How.
  SearchSettings settings;
  PpSet pps{sched::kPpAll};
  bool pps_given = false;
  FailOnRace fail_on_race = FailOnRace::kConfirmed;
  bool keep_going = false;
  absl::Duration time = absl::Hours(1);
  uint64_t memory = DefaultMemory();       // bytes a worker may use
  uint32_t workers = 1;                    // processes that share a search
  std::optional<uint64_t> request_memory;  // bytes, instead of a part of `memory`: tests
  bool eager_workers = false;  // from the first execution on, whether that pays or not: tests
  std::optional<uint64_t> executions;
  bool require_complete = false;

  // Where to go on after the end of this process.
  std::string checkpoint;  // a folder; "" for none
  bool resume = false;
  absl::Duration checkpoint_every = absl::Seconds(2);

  // What to write.
  std::string output = "mc-out";
  bool output_given = false;
  std::string json, junit, sarif, visualize, final_states, certificate;
  Verbosity verbosity = Verbosity::kNormal;
  std::string color = "auto";

  // Internal: supervise a zygote that runs already (mc::Check).
  int attach_control_fd = -1;
  int attach_shared_fd = -1;
  // Internal: --final-states tells every Mazurkiewicz trace as well.
  bool traces = false;
  // Internal: iterative deepening goes on to the end, whatever bugs it finds on the way.
  bool saturate = false;

  // Iterative deepening, the default, or the search of one state space.
  bool SearchesIteratively() const { return iterative || !(strategy_given || pps_given || icb); }
};

// An error says which options do not go together, and why.
absl::Status CheckTogether(const Options& options);

// The words after the program's name. An error says what was wrong and what to do.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& words);

// The text of --help.
std::string HelpText();

}  // namespace mc::checker

#endif  // MC_CHECKER_OPTIONS_H_
