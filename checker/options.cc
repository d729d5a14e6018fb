#include "checker/options.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "checker/message.h"
#include "checker/picture.h"
#include "checker/text.h"
#include "dpor/order_costs.h"
#include "dpor/search.h"

namespace mc::checker {
namespace {

enum class Value { kNone, kRequired };

constexpr uint64_t kLeastMemory = uint64_t{32} << 20;
// With more, handing out work would take longer than the work.
constexpr uint64_t kMostWorkers = 64;

// One option: `apply` gets the value ("" for an option without).
struct OptionEntry {
  std::string name;  // without the dashes
  Value value = Value::kNone;
  std::string value_name;  // for the help
  std::string help;        // "" hides it
  std::function<absl::Status(Options&, const std::string&)> apply;
};

absl::Status Bad(absl::string_view text) { return absl::InvalidArgumentError(text); }

OptionEntry Flag(std::string name, std::string help, bool Options::*member) {
  return {std::move(name), Value::kNone, "", std::move(help),
          [member](Options& options, const std::string&) {
            options.*member = true;
            return absl::OkStatus();
          }};
}

OptionEntry Text(std::string name, std::string value_name, std::string help,
                 std::string Options::*member) {
  return {name, Value::kRequired, std::move(value_name), std::move(help),
          [name, member](Options& options, const std::string& value) {
            if (value.empty()) return Bad(absl::StrCat("--", name, " needs a value"));
            options.*member = value;
            return absl::OkStatus();
          }};
}

// An option that is a setting of the search under the same name.
OptionEntry Setting(std::string name, std::string value_name, std::string help) {
  return {name, Value::kRequired, std::move(value_name), std::move(help),
          [name](Options& options, const std::string& value) {
            const absl::Status status = options.settings.Set(name, value);
            return status.ok() ? status : Bad(absl::StrCat("--", name, ": ", status.message()));
          }};
}

OptionEntry SettingFlag(std::string name, std::string help) {
  return {name, Value::kNone, "", std::move(help), [name](Options& options, const std::string&) {
            return options.settings.Set(name, "yes");
          }};
}

OptionEntry Action(std::string name, std::string value_name, std::string help,
                   std::function<absl::Status(Options&, const std::string&)> apply) {
  return {std::move(name), value_name.empty() ? Value::kNone : Value::kRequired,
          std::move(value_name), std::move(help), std::move(apply)};
}

absl::Status SetStrategy(Options& options, const std::string& value) {
  if (value == kBounded) return Bad("--strategy=bounded: write --preemptions=N or --icb");
  options.strategy_given = true;
  const absl::Status status = options.settings.Set("strategy", value);
  return status.ok() ? status : Bad(absl::StrCat("--strategy: ", status.message()));
}

absl::Status SetSmallNumber(std::string_view name, const std::string& value, uint32_t* out) {
  constexpr uint32_t kMost = 1000;
  const auto number = ParseNumber<uint32_t>(value);
  if (!number || *number == 0 || *number > kMost) {
    return Bad(
        absl::StrCat("--", View(name), "=", value, ": it must be a number from 1 to ", kMost));
  }
  *out = *number;
  return absl::OkStatus();
}

absl::Status SetPreemptions(Options& options, const std::string& value) {
  const auto number = ParseNumber<uint32_t>(value);
  if (!number || *number > dpor::OrderCosts::kMostPreemptions) {
    return Bad(absl::StrCat("--preemptions=", value, ": it must be a number from 0 to ",
                            dpor::OrderCosts::kMostPreemptions));
  }
  options.settings.preemptions = *number;
  return absl::OkStatus();
}

absl::Status SetPps(Options& options, const std::string& value) {
  absl::StatusOr<PpSet> pps = PpSet::Parse(value);
  if (!pps.ok()) return Bad(absl::StrCat("--pp: ", pps.status().message()));
  options.pps = *pps;
  options.pps_given = true;
  return absl::OkStatus();
}

absl::Status SetTime(Options& options, const std::string& value) {
  // A bare number means seconds.
  const bool bare = value.find_first_not_of("0123456789.") == std::string::npos;
  if (!absl::ParseDuration(bare ? value + "s" : value, &options.time) ||
      options.time <= absl::ZeroDuration()) {
    return Bad(absl::StrCat("--time=", value, " is no time: write 30s, 10m or 2h"));
  }
  return absl::OkStatus();
}

absl::Status SetExecutions(Options& options, const std::string& value) {
  const auto number = ParseNumber<uint64_t>(value);
  if (!number || *number == 0) {
    return Bad(absl::StrCat("--executions=", value, ": it must be a number above 0"));
  }
  options.executions = *number;
  return absl::OkStatus();
}

absl::Status SetMaxSteps(Options& options, const std::string& value) {
  const auto number = ParseNumber<uint64_t>(value);
  if (!number || *number == 0) {
    return Bad(absl::StrCat("--max-steps=", value, ": it must be a number above 0"));
  }
  options.settings.max_steps = *number;
  return absl::OkStatus();
}

absl::Status SetMemory(Options& options, const std::string& value) {
  std::string_view number = value;
  int shift = 0;
  if (!number.empty()) {
    const size_t unit = std::string_view("KMGT").find(number.back());
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      number.remove_suffix(1);
    }
  }
  const auto size = ParseNumber<uint64_t>(number);
  if (!size || *size > std::numeric_limits<uint64_t>::max() >> shift) {
    return Bad(absl::StrCat("--memory=", value, " is no size: write 512M or 2G"));
  }
  // With less, what a worker takes by itself would pass for the program's.
  if ((*size << shift) < kLeastMemory) {
    return Bad(
        absl::StrCat("--memory=", value, ": a worker needs at least ", kLeastMemory >> 20, "M"));
  }
  options.memory = *size << shift;
  return absl::OkStatus();
}

absl::Status SetJobs(Options& options, const std::string& value) {
  const auto number = ParseNumber<uint64_t>(value);
  if (!number || *number == 0) {
    return Bad(absl::StrCat("--jobs=", value, ": it must be a number above 0"));
  }
  if (*number > kMostWorkers) {
    return Bad(absl::StrCat("--jobs=", value, ": at most ", kMostWorkers));
  }
  options.workers = static_cast<uint32_t>(*number);
  return absl::OkStatus();
}

absl::Status SetFailOnRace(Options& options, const std::string& value) {
  if (value == "confirmed") {
    options.fail_on_race = FailOnRace::kConfirmed;
  } else if (value == "suspected") {
    options.fail_on_race = FailOnRace::kSuspected;
  } else if (value == "never") {
    options.fail_on_race = FailOnRace::kNever;
  } else {
    return Bad(absl::StrCat("--fail-on-race=", value, ": it can be confirmed, suspected or never"));
  }
  return absl::OkStatus();
}

absl::Status SetColor(Options& options, const std::string& value) {
  if (value != "auto" && value != "always" && value != "never") {
    return Bad(absl::StrCat("--color=", value, ": it can be auto, always or never"));
  }
  options.color = value;
  return absl::OkStatus();
}

absl::Status SetVisualize(Options& options, const std::string& value) {
  const absl::StatusOr<PictureFormat> format = PictureFormatOf(value);
  if (!format.ok()) return Bad(absl::StrCat("--visualize: ", format.status().message()));
  options.visualize = value;
  return absl::OkStatus();
}

absl::Status SetOutput(Options& options, const std::string& value) {
  if (value.empty()) return Bad("--output needs a value");
  options.output = value;
  options.output_given = true;
  return absl::OkStatus();
}

absl::Status SetAttach(Options& options, const std::string& value) {
  const std::vector<std::string_view> parts = Split(value, ',');
  const auto control = parts.empty() ? std::nullopt : ParseNumber<int>(parts[0]);
  const auto shared = parts.size() < 2 ? std::optional(-1) : ParseNumber<int>(parts[1]);
  if (!control || !shared) return Bad("--internal-attach needs CONTROL_FD,SHARED_FD");
  options.attach_control_fd = *control;
  options.attach_shared_fd = *shared;
  return absl::OkStatus();
}

OptionEntry SetVerbosity(std::string name, std::string help, Verbosity verbosity) {
  return Action(std::move(name), "", std::move(help),
                [verbosity](Options& options, const std::string&) {
                  options.verbosity = verbosity;
                  return absl::OkStatus();
                });
}

OptionEntry NotAvailable(std::string name, std::string value_name) {
  return Action(name, value_name, "", [name](Options&, const std::string&) {
    return Bad(absl::StrCat("--", name, " is not available in this version"));
  });
}

std::vector<OptionEntry> MakeTable() {
  std::vector<OptionEntry> table = {
      Flag("iterative", "iterative deepening over sets of preemption points (the default)",
           &Options::iterative),
      Action("strategy", "S",
             "search one state space: odpor, source, dpor, dfs, delay (few delays of\n"
             "a fixed scheduler); or take a sample of 1000 executions, or as many as\n"
             "--executions says: random, pct (random priorities of threads), pos (of\n"
             "events); or both by turns: portfolio (odpor, delay, pos, pct and random)\n"
             "(with --iterative: the strategy of every job)",
             SetStrategy),
      Action("pp", "SET",
             "its preemption points, comma-separated: lock, unlock, cond, thread,\n"
             "yield, atomic, dma, access:FILE:LINE, sync, all (the default), none",
             SetPps),
      Action("depth", "D",
             "of the bugs that pct looks for: how many orderings between events\n"
             "they need (default 3)",
             [](Options& options, const std::string& value) {
               return SetSmallNumber("depth", value, &options.settings.depth);
             }),
      Action("delays", "N", "most delays of an execution, with --strategy=delay (default 2)",
             [](Options& options, const std::string& value) {
               return SetSmallNumber("delays", value, &options.settings.delays);
             }),
      Action("preemptions", "N",
             "only what can happen with at most N preemptions (0 to 254; exact); the\n"
             "result says so. Pays where few threads run, and not too long; with\n"
             "--pp=all it takes one search, without it one of each set of points",
             SetPreemptions),
      Flag("icb",
           "search with at most 0, 1, 2, ... preemptions in turn until that leaves\n"
           "nothing out (one state space, unless --iterative)",
           &Options::icb),
      Text("replay", "FILE", "run exactly one recorded schedule, narrated", &Options::replay),
      Flag("gdb", "with --replay: stop at the failure under gdb", &Options::gdb),
      Action("visualize", "FILE",
             "draw to a .dot, .svg or .html file: the explored interleavings as a\n"
             "tree; with --replay, the one trace as a swim-lane diagram",
             SetVisualize),
      Text("test", "NAME", "the registered test to check (default: each in turn)", &Options::test),
      Flag("list", "list the registered tests", &Options::list),
      Action("time", "T", "budget: 30s, 10m, 2h (default 1h)", SetTime),
      Action("executions", "N", "budget in executions, of each test", SetExecutions),
      Text("checkpoint", "DIR",
           "save the search in this folder, every few seconds and at its end (odpor\n"
           "only)",
           &Options::checkpoint),
      Flag("resume",
           "go on with the search in --checkpoint=DIR, wherever it was stopped: with\n"
           "the same options, but for budgets and reports",
           &Options::resume),
      Action("memory", "SIZE",
             "what a worker may use, as in 512M or 2G (default: half of the machine's):\n"
             "a program that takes more in one execution has a bug; when searches\n"
             "do, suspended ones are given up, and what one has still to do goes to a\n"
             "file in TMPDIR (or /var/tmp)",
             SetMemory),
      Action("jobs", "N", "processes that share a search (default 1; odpor only)", SetJobs),
      Setting("seed", "N", "for random choices and for the program's random numbers"),
      Setting("race", "R",
              "candidate rule: limited-hb (the default), or hb: no false\n"
              "candidates, but misses some"),
      Action("fail-on-race", "S",
             "which data races are bugs: confirmed (default: those happens-before\n"
             "leaves unordered), suspected (every candidate), never",
             SetFailOnRace),
      Flag("keep-going",
           "go on after the first bug and report every distinct one (with\n"
           "--iterative, the default: but for sets of preemption points that include\n"
           "one that has shown a bug)",
           &Options::keep_going),
      Setting("exit", "E",
              "when main returns while threads run: wait for them (the default) or\n"
              "immediate"),
      Setting("heap", "H",
              "allocator: thread (the default: freed blocks go to the freeing\n"
              "thread), recycle (one list for all), fresh (no reuse)"),
      SettingFlag("heap-overruns", "cover overruns from one heap block into its neighbour"),
      SettingFlag("spurious", "condition variable waits may wake up spuriously"),
      Action("fair", "",
             "a loop that yields, sleeps or tries again, and changes something each\n"
             "time round, lets the other threads go first after few rounds (else only\n"
             "if it seems endless)",
             [](Options& options, const std::string&) {
               options.settings.fair = true;
               return absl::OkStatus();
             }),
      Action("no-checkpoints", "",
             "run every execution from its beginning, not from a saved state in\n"
             "the middle (for comparison: nothing but time depends on it)",
             [](Options& options, const std::string&) {
               options.settings.checkpoints = false;
               return absl::OkStatus();
             }),
      Action("max-steps", "N", "longest execution, in transitions", SetMaxSteps),
      Action("output", "DIR", "where schedules of bugs go (default mc-out)", SetOutput),
      Text("json", "FILE", "write the report as JSON", &Options::json),
      Text("junit", "FILE", "write the report as JUnit XML", &Options::junit),
      Text("sarif", "FILE", "write the bugs as SARIF", &Options::sarif),
      Text("final-states", "FILE", "write the distinct final states and bugs, sorted",
           &Options::final_states),
      Text("certificate", "FILE",
           "write what --strategy=odpor or source runs, for --check-certificate",
           &Options::certificate),
      Text("check-certificate", "FILE",
           "run a certificate's executions again, and check, without the search,\n"
           "that none is missing",
           &Options::check_certificate),
      Flag("require-complete", "exit with status 3 if the search, within its bound, did not finish",
           &Options::require_complete),
      SetVerbosity("quiet", "only bugs and the verdict", Verbosity::kQuiet),
      SetVerbosity("verbose", "more detail", Verbosity::kVerbose),
      Action("color", "WHEN", "auto (the default), always, never", SetColor),
      Flag("help", "show this", &Options::help),
      Flag("version", "show the version", &Options::version),
      Action("internal-attach", "FDS", "", SetAttach),
      Flag("internal-saturate", "", &Options::saturate),
      Action("internal-law-check", "PAIRS", "",
             [](Options& options, const std::string& value) {
               const auto pairs = ParseNumber<uint64_t>(value);
               if (!pairs || *pairs == 0) return Bad("--internal-law-check needs a number above 0");
               options.strategy_given = true;
               options.settings.strategy = "law-check";
               options.settings.samples = *pairs;
               return absl::OkStatus();
             }),
      Flag("internal-eager-jobs", "", &Options::eager_workers),
      Flag("internal-traces", "", &Options::traces),
      Action("internal-no-detection", "", "",
             [](Options& options, const std::string&) {
               options.settings.detection = false;
               return absl::OkStatus();
             }),
      Action("internal-policy", "NAME", "",
             [](Options& options, const std::string& value) {
               if (!dpor::PolicyFromName(value)) return Bad("--internal-policy: no such policy");
               options.settings.policy = value;
               return absl::OkStatus();
             }),
      Action("internal-request-memory", "BYTES", "",
             [](Options& options, const std::string& value) {
               const auto number = ParseNumber<uint64_t>(value);
               if (!number) return Bad("--internal-request-memory needs a number");
               options.request_memory = *number;
               return absl::OkStatus();
             }),
      Action("internal-mutate", "NAME", "",
             [](Options& options, const std::string& value) {
               return options.settings.Set("mutate", value);
             }),
      Action("internal-checkpoint-every", "TIME", "",
             [](Options& options, const std::string& value) {
               return absl::ParseDuration(value, &options.checkpoint_every)
                          ? absl::OkStatus()
                          : Bad("--internal-checkpoint-every needs a time");
             }),
      NotAvailable("race-only", ""),
  };
  for (const RefinementName& refinement : Refinements()) {
    const std::string name(refinement.name);
    table.push_back(Action(absl::StrCat("no-", name), "",
                           absl::StrCat("without: ", View(refinement.help)),
                           [name](Options& options, const std::string&) {
                             options.settings.disabled.push_back(name);
                             return absl::OkStatus();
                           }));
  }
  return table;
}

const std::vector<OptionEntry>& Table() {
  static const std::vector<OptionEntry>& table = *new std::vector<OptionEntry>(MakeTable());
  return table;
}

absl::Status UnknownOption(const std::string& name) {
  std::vector<std::string> names;
  for (const OptionEntry& entry : Table()) {
    if (!entry.help.empty()) names.push_back(entry.name);
  }
  const std::string nearest = NearestOf(name, names);
  return Bad(absl::StrCat("unknown option --", name,
                          nearest.empty() ? "" : absl::StrCat(", did you mean --", nearest, "?"),
                          nearest.empty() ? ": mc --help lists them" : ""));
}

// Handles words[*i], an option, and moves *i past a value it took.
absl::Status ApplyOption(const std::vector<std::string>& words, size_t* i, Options* options) {
  const std::string word = words[*i].substr(2);
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  const auto entry = std::find_if(Table().begin(), Table().end(),
                                  [&](const OptionEntry& e) { return e.name == name; });
  if (entry == Table().end()) return UnknownOption(name);
  if (entry->value == Value::kNone) {
    if (equals != std::string::npos) return Bad(absl::StrCat("--", name, " takes no value"));
    return entry->apply(*options, "");
  }
  if (equals != std::string::npos) return entry->apply(*options, word.substr(equals + 1));
  if (*i + 1 >= words.size() || words[*i + 1].starts_with("--")) {
    return Bad(absl::StrCat("--", name, " needs a value: --", name, "=", entry->value_name));
  }
  return entry->apply(*options, words[++*i]);
}

}  // namespace

std::string SizeText(uint64_t bytes) {
  std::string_view unit;
  for (std::string_view larger : {"K", "M", "G"}) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = larger;
  }
  return absl::StrCat(bytes, View(unit));
}

uint64_t DefaultMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& words) {
  Options options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      options.arguments.assign(words.begin() + static_cast<ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word == "-h") {
      options.help = true;
    } else if (word.starts_with("--")) {
      if (absl::Status status = ApplyOption(words, &i, &options); !status.ok()) return status;
    } else if (word.starts_with("-") && word.size() > 1) {
      return Bad(absl::StrCat("unknown option ", word,
                              ": options of mc begin with --, arguments of the harness follow --"));
    } else if (options.harness.empty()) {
      options.harness = word;
    } else {
      return Bad(absl::StrCat("'", word, "' is one word too many: the harness is '",
                              options.harness, "'; its own arguments follow --"));
    }
  }
  if (options.help || options.version) return options;
  if (absl::Status status = CheckTogether(options); !status.ok()) return status;
  if (options.icb || options.settings.preemptions) options.settings.strategy = kBounded;
  // Never looked up in PATH: a test is a file.
  if (!options.harness.empty() && options.harness.find('/') == std::string::npos) {
    options.harness = "./" + options.harness;
  }
  return options;
}

std::string HelpText() {
  std::string text =
      "mc: a model checker for multithreaded C and C++ programs\n\n"
      "usage: mc [options] HARNESS [-- arguments of the harness]\n\n"
      "HARNESS is a program built with mc-c++ or mc-cc. mc runs it under every interleaving\n"
      "of its threads that can matter, until a bug is found, all are explored or the budget\n"
      "ends.\n\n";
  for (const OptionEntry& entry : Table()) {
    if (entry.help.empty()) continue;
    const std::string name =
        entry.value == Value::kNone ? entry.name : absl::StrCat(entry.name, "=", entry.value_name);
    std::string padding = "\n" + std::string(24, ' ');
    std::string help;
    for (char c : entry.help) help += c == '\n' ? padding : std::string(1, c);
    absl::StrAppend(&text, absl::StrFormat("  --%-19s %s\n", name, help));
  }
  absl::StrAppend(&text,
                  "\nexit status: 0 no bug found, 1 bug found, 2 wrong usage or an error of the\n"
                  "harness, 3 not complete (with --require-complete). --replay: 1 reproduced,\n"
                  "0 ran without the failure, 2 diverged. --check-certificate: 0 accepted,\n"
                  "1 rejected, 2 cannot be read or checked.\n");
  return text;
}

}  // namespace mc::checker
