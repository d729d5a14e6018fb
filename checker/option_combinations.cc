// Options: which of them go together (options.h). The first that do not are told.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "checker/options.h"

namespace mc::checker {
namespace {

absl::Status Bad(absl::string_view text) { return absl::InvalidArgumentError(text); }

absl::Status CheckReplay(const Options& options) {
  if (options.gdb && options.replay.empty()) {
    return Bad("--gdb needs --replay=FILE: it stops at the failure of a recorded schedule");
  }
  if (!options.replay.empty() && (options.strategy_given || options.iterative || options.icb)) {
    return Bad("--replay runs one schedule: it goes with no --strategy, --iterative or --icb");
  }
  if (!options.replay.empty() && (options.pps_given || options.settings != SearchSettings())) {
    return Bad(
        "--replay runs a schedule as it was recorded: what the executions are (--pp, --seed, "
        "--heap, --max-steps, ...) stands in the file");
  }
  if (!options.replay.empty() && (options.list || !options.test.empty())) {
    return Bad(
        "--replay runs one schedule, of the test it names: it does not go with --test or "
        "--list");
  }
  return absl::OkStatus();
}

absl::Status CheckCertificate(const Options& options) {
  if (!options.check_certificate.empty()) {
    if (options.strategy_given || options.iterative || options.icb || options.pps_given ||
        options.settings != SearchSettings() || !options.replay.empty() || options.list ||
        !options.test.empty() || options.executions || options.workers != 1 ||
        !options.checkpoint.empty() || options.resume) {
      return Bad(
          "--check-certificate runs what the certificate says: what is searched, and how, stands "
          "in the file");
    }
    if (!options.json.empty() || !options.junit.empty() || !options.sarif.empty() ||
        !options.visualize.empty() || !options.final_states.empty() ||
        !options.certificate.empty()) {
      return Bad(
          "--check-certificate writes no reports: leave out --json, --junit, --sarif, "
          "--visualize, --final-states and --certificate");
    }
  }
  if (options.certificate.empty()) return absl::OkStatus();
  if (!options.replay.empty() || options.list) {
    return Bad("--certificate records a search: it does not go with --replay or --list");
  }
  if (options.icb || options.settings.preemptions) {
    return Bad(
        "--certificate is of a search without bound: it does not go with --preemptions or --icb");
  }
  if (options.SearchesIteratively()) {
    return Bad(
        "--certificate is of one state space, not of iterative deepening: give --strategy=odpor, "
        "and with --pp its preemption points");
  }
  if (options.settings.strategy != "odpor" && options.settings.strategy != "source") {
    return Bad(absl::StrCat(
        "--certificate needs a search that runs everything, once: --strategy=odpor or source, not ",
        options.settings.strategy));
  }
  if (options.workers != 1) {
    return Bad("--certificate is written by one process: it does not go with --jobs");
  }
  if (!options.checkpoint.empty()) {
    return Bad(
        "--certificate is of a search that one run of mc makes from its beginning: it does not go "
        "with --checkpoint");
  }
  return absl::OkStatus();
}

absl::Status CheckStrategy(const Options& options) {
  if (options.icb && options.settings.preemptions) {
    return Bad("--icb goes through all bounds, --preemptions sets one: give one of them");
  }
  if ((options.icb || options.settings.preemptions) && options.strategy_given) {
    return Bad(
        "--preemptions and --icb have a search of their own: they do not go with --strategy");
  }
  if (options.settings.depth != 0 && options.settings.strategy != "pct") {
    return Bad("--depth is of --strategy=pct");
  }
  if (options.settings.delays != 0 && options.settings.strategy != "delay") {
    return Bad("--delays is of --strategy=delay");
  }
  // Races tell which accesses are shared, and what iterative deepening looks at next.
  if (!options.settings.detection &&
      (options.SearchesIteratively() ||
       std::ranges::find(options.settings.disabled, "shared-sites") ==
           options.settings.disabled.end())) {
    return Bad("--internal-no-detection needs --strategy and --no-shared-sites");
  }
  return absl::OkStatus();
}

absl::Status CheckCheckpoint(const Options& options) {
  if (options.resume && options.checkpoint.empty()) {
    return Bad("--resume needs --checkpoint=DIR: the folder of the search to go on with");
  }
  if (!options.checkpoint.empty() && (options.list || !options.replay.empty())) {
    return Bad("--checkpoint is for a search: it does not go with --replay or --list");
  }
  if (!options.checkpoint.empty() &&
      (options.settings.strategy != "odpor" || options.icb || options.settings.preemptions)) {
    return Bad("--checkpoint: only searches by odpor, which is the default, can be saved");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTogether(const Options& options) {
  for (const auto check : {CheckReplay, CheckCertificate, CheckStrategy, CheckCheckpoint}) {
    if (absl::Status status = check(options); !status.ok()) return status;
  }
  if (options.iterative && options.pps_given) {
    return Bad("--pp is for a single state space: it does not go with --iterative");
  }
  if (options.harness.empty() && options.replay.empty() && options.check_certificate.empty() &&
      options.attach_control_fd < 0) {
    return Bad("no harness given: mc [options] HARNESS [-- arguments]; mc --help explains");
  }
  return absl::OkStatus();
}

}  // namespace mc::checker
