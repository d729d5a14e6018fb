// campaign: runs random programs through mc and compares what different searches say of them.
//
//   campaign [options] convergence   final states and bugs of source, dpor, portfolio, odpor and
//                                    iterative deepening equal those of a search without reduction;
//                                    so do the Mazurkiewicz traces, of which odpor runs each once
//                                    (so it does where only shared accesses are preemption points)
//   campaign [options] refinements   final states and bugs of odpor are the same without each of
//   the
//                                    refinements of dependence, in at least as many executions
//   campaign [options] laws          the events of every program obey the laws of the event model
//   campaign [options] coverage      the operations executed so far (see --coverage), by variant
//
//   --mc=FILE --harness=FILE         the programs mc and random_program
//   --profile=P[,P...] --first=SEED --count=N     which programs (profiles: program.h)
//   --executions=N                   programs with more executions without reduction are left out
//   --pairs=N                        laws: pairs of events looked at in each program
//   --mutate=NAME --library=DIR      a deliberate mistake, with the runtime of DIR that can make
//   it:
//                                    the first program that shows it ends the campaign
//   --coverage=FILE                  counts what was executed there
//   --work=DIR                       for its files
//
// Prints each failure with its program, shrunk, and the commands that show it; at the end counters.
// Exit status: 0 nothing failed, 1 something failed, 2 it could not be run.
#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/campaign/coverage.h"
#include "tests/campaign/program.h"

namespace mc::campaign {
namespace {

constexpr uint64_t kBatch = 64;

struct Settings {
  std::string mc = "build/tools/mc", harness = "build/tests/campaign/random_program";
  std::string property, mutate, library, coverage, work = "campaign-work";
  std::vector<int> profiles = {0};
  uint64_t first = 1, count = 200, executions = 4000, pairs = 60;
};
Settings settings;

// One program, or a batch of programs with consecutive seeds.
struct Range {
  int profile = 0;
  uint64_t first = 0, count = 1, mask = 0;
};

// What one search says of one program.
struct Answer {
  std::string error;
  bool complete = false, saturated = false;
  uint64_t executions = 0, blocked = 0;
  std::set<std::string> lines;   // final states and bugs
  std::set<std::string> traces;  // Mazurkiewicz traces, if they were asked for
};
using Answers = std::map<uint64_t, Answer>;  // by seed

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

// ------------------------------------------------------------------------------------ running mc

const char* OptionsOf(int profile) {
  static constexpr const char* kOptions[] = {"", " --exit=immediate", " --spurious", "",
                                             " --heap=recycle"};
  return kOptions[profile];
}

std::string Arguments(const Range& range) {
  return std::to_string(range.profile) + " " + std::to_string(range.first) + " " +
         std::to_string(range.count) + " " + std::to_string(range.mask);
}

// The budget is divided among the programs. It is there for none of them to run out of, however
// busy the machine.
std::string CommandOf(const Range& range, const std::string& search) {
  std::string command =
      settings.mc + " --keep-going --quiet --time=10h" + OptionsOf(range.profile) + " " + search;
  if (!settings.mutate.empty()) command += " --internal-mutate=" + settings.mutate;
  return command + " " + settings.harness + " -- " + Arguments(range);
}

std::string Environment() {
  std::string text;
  if (!settings.library.empty()) text += "LD_LIBRARY_PATH=" + settings.library + " ";
  if (!settings.coverage.empty()) text += "MC_CAMPAIGN_COVERAGE=" + settings.coverage + " ";
  return text;
}

void AddTest(const nlohmann::json& test, uint64_t seed, Answers* answers) {
  Answer& answer = (*answers)[seed];
  if (test.contains("error")) answer.error = test["error"];
  answer.saturated = test["saturated"];
  answer.complete = true;
  answer.executions = test["executions"];
  answer.blocked = test["executions_blocked"];
  for (const auto& job : test["jobs"]) answer.complete &= job["complete"].get<bool>();
}

// Every program of the range under one search.
Answers Search(const Range& range, const std::string& search, const std::string& name) {
  const std::string base = settings.work + "/" + name;
  const std::string json = base + ".json", states = base + ".states";
  std::filesystem::remove(json);
  std::filesystem::remove(states);
  const std::string command =
      Environment() +
      CommandOf(range, search + " --output=" + base + ".out --json=" + json +
                           " --final-states=" + states) +
      " >" + base + ".log 2>&1";
  const int status = system(command.c_str());
  Answers answers;
  nlohmann::json report = nlohmann::json::parse(ReadFile(json), nullptr, false);
  if (report.is_discarded()) {
    std::cerr << "no report, wait status " << status << ": " << command << "\n";
    exit(2);
  }
  if (report.contains("tests")) {
    for (const auto& test : report["tests"]) {
      AddTest(test, std::stoull(test["test"].get<std::string>().substr(1)), &answers);
    }
  } else {
    AddTest(report, range.first, &answers);
  }
  std::istringstream lines(ReadFile(states));
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (line.empty() || line[0] != 's' || space == std::string::npos) continue;
    Answer& answer = answers[std::stoull(line.substr(1, space - 1))];
    (line.ends_with(" trace") ? answer.traces : answer.lines).insert(line.substr(space + 1));
  }
  std::filesystem::remove_all(base + ".out");
  return answers;
}

// ------------------------------------------------------------------------------------ properties

struct Finding {
  std::string what;  // which comparison failed: shrinking keeps it
  std::string detail;
  std::vector<std::string> searches;  // those that show it
};

std::string Difference(const std::set<std::string>& expected, const std::set<std::string>& found,
                       bool bugs_only) {
  std::string text;
  auto add = [&](const char* what, const std::string& line) {
    if (!bugs_only || line.starts_with("bug ")) text += what + line + "\n";
  };
  for (const auto& line : expected) {
    if (!found.contains(line)) add("    missing: ", line);
  }
  for (const auto& line : found) {
    if (!expected.contains(line)) add("    extra:   ", line);
  }
  return text;
}

// What was done; without what shrinking does.
struct Counters {
  std::atomic<uint64_t> programs{0}, compared{0}, too_large{0}, failures{0};
  std::atomic<uint64_t> executions_dfs{0}, executions_odpor{0}, pairs{0}, states{0}, bugs{0};
  std::atomic<uint64_t> traces{0};
};
Counters counters, counters_of_shrinking;

const std::string kEvery = "--pp=all --no-shared-sites";
// Where every access is a PP, the traces of two searches are the same.
const std::string kTraces = kEvery + " --internal-traces";
// The same by three processes together.
const std::string kShared = "--strategy=odpor " + kTraces + " --jobs=3 --internal-eager-jobs";

std::string Print(const Range& range, uint64_t seed) {
  return Output(settings.harness + " --print " + std::to_string(range.profile) + " " +
                std::to_string(seed) + " " + std::to_string(range.mask));
}

// Whether a join in the middle of an atomic section had to wait is a difference that a search sees
// though nobody else does.
bool JoinsInOneBlock(const Range& range, uint64_t seed) {
  return Print(range, seed).find("joins them in one block") != std::string::npos;
}

// Calls report(seed, finding) for each program of the range that fails.
using Report = std::function<void(uint64_t, const Finding&)>;

void CheckConvergence(const Range& range, const std::string& name, Counters& counters,
                      const Report& report) {
  const std::string limit = " --executions=" + std::to_string(settings.executions);
  const std::string dfs = "--strategy=dfs " + kTraces + limit;
  struct Other {
    std::string search;
    bool iterative, optimal, bugs_only;
  };
  // With --exit=immediate, an end of the process between two accesses that nobody shares makes a
  // memory of its own, which nobody can see; with --heap=recycle, so do the addresses of blocks.
  // There the searches that preempt only where threads communicate are compared by the bugs alone.
  const bool bugs_only = range.profile == static_cast<int>(Profile::kExit) ||
                         range.profile == static_cast<int>(Profile::kHeap);
  // What preempts only at shared accesses has the same traces, with less in them.
  const std::string learned = "--strategy=odpor --pp=all";
  const Other others[] = {{"--strategy=source " + kTraces, false, false, false},
                          {"--strategy=dpor " + kTraces, false, false, false},
                          {"--strategy=portfolio " + kTraces, false, false, false},
                          {"--strategy=odpor " + kTraces, false, true, false},
                          {kShared, false, true, false},
                          {learned, false, true, bugs_only},
                          {"--iterative --internal-saturate", true, false, bugs_only}};
  const Answers expected = Search(range, dfs, name);
  std::map<uint64_t, const Answer*> whole;
  for (const auto& [seed, answer] : expected) {
    ++counters.programs;
    if (!answer.error.empty()) {
      report(seed, {"dfs: " + answer.error.substr(0, 24), answer.error, {dfs}});
    } else if (!answer.complete) {
      ++counters.too_large;
    } else {
      whole[seed] = &answer;
      ++counters.compared;
      counters.executions_dfs += answer.executions;
      counters.traces += answer.traces.size();
      for (const auto& line : answer.lines) {
        ++(line.starts_with("bug") ? counters.bugs : counters.states);
      }
    }
  }
  std::map<uint64_t, uint64_t> source_executions, optimal_executions;
  for (const Other& other : others) {
    // What takes a reduced search as long as that is not for comparing.
    const Answers found = Search(range, other.search + " --executions=200000", name);
    for (const auto& answer : whole) {
      const uint64_t seed = answer.first;
      const Answer* const want = answer.second;
      const auto at = found.find(seed);
      if (at == found.end()) {
        report(seed, {other.search + ": no answer", "", {other.search}});
        continue;
      }
      const Answer& have = at->second;
      auto fail = [&](const std::string& what, const std::string& detail) {
        report(seed, {other.search + ": " + what, detail, {dfs, other.search}});
      };
      if (!have.error.empty()) {
        fail(have.error.substr(0, 24), have.error);
      } else if (other.iterative ? !have.saturated : !have.complete) {
        fail("not finished", "");
      } else if (const std::string difference =
                     Difference(want->lines, have.lines, other.bugs_only);
                 !difference.empty()) {
        fail("differs", difference);
      } else if (!have.traces.empty() && have.traces != want->traces) {
        fail("other traces", Difference(want->traces, have.traces, false));
      } else if (other.optimal && !have.traces.empty() && have.executions != have.traces.size()) {
        fail("a trace twice", std::to_string(have.executions) + " executions of " +
                                  std::to_string(have.traces.size()) + " traces");
      }
      if (!other.optimal) {
        source_executions.try_emplace(seed, have.executions);
        continue;
      }
      counters.executions_odpor += have.executions;
      const uint64_t alone = optimal_executions.try_emplace(seed, have.executions).first->second;
      if (other.search == kShared && have.executions != alone) {
        fail("not as many as alone", std::to_string(have.executions));
      }
      if (other.search == learned && !bugs_only && have.executions != alone &&
          !JoinsInOneBlock(range, seed)) {
        fail("not as many as with every access",
             std::to_string(have.executions) + ", not " + std::to_string(alone));
      }
      if (have.executions > want->executions || have.executions > source_executions[seed]) {
        fail("more executions", std::to_string(have.executions));
      }
      // Failed assumptions count as blocked in every search.
      if (have.blocked > want->blocked) fail("blocked", std::to_string(have.blocked));
    }
  }
}

// As odpor finds all that there is without reduction, so it does with any refinement switched off.
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

void Check(const Range& range, const std::string& name, Counters& counters, const Report& report) {
  if (settings.property == "laws") {
    CheckLaws(range, name, counters, report);
  } else if (settings.property == "refinements") {
    CheckRefinements(range, name, counters, report);
  } else {
    CheckConvergence(range, name, counters, report);
  }
}

// The same failure with as few instructions as possible.
Range Shrink(Range range, Finding* finding, const std::string& name) {
  auto fails = [&](const Range& smaller) {
    bool same = false;
    Check(smaller, name, counters_of_shrinking, [&](uint64_t, const Finding& found) {
      if (same || found.what != finding->what) return;
      same = true;
      *finding = found;
    });
    return same;
  };
  const int instructions =
      atoi(Output(settings.harness + " --instructions " + std::to_string(range.profile) + " " +
                  std::to_string(range.first))
               .c_str());
  std::vector<int> bits = {62, 63};
  for (int k = 0; k < instructions && k < 60; ++k) bits.push_back(k);
  for (int bit : bits) {
    Range smaller = range;
    smaller.mask |= uint64_t{1} << bit;
    if (fails(smaller)) range = smaller;
  }
  return range;
}

std::mutex output_mutex;
std::atomic<bool> enough{false};

void Show(const Range& batch, uint64_t seed, Finding finding, const std::string& name) {
  Range range = batch;
  range.first = seed;
  range.count = 1;
  if (settings.mutate.empty()) range = Shrink(range, &finding, name + "-shrink");
  const std::lock_guard<std::mutex> lock(output_mutex);
  std::cout << "FAILED profile " << range.profile << " seed " << seed << " mask " << range.mask
            << ": " << finding.what << "\n"
            << finding.detail << "\n"
            << Print(range, seed);
  for (const std::string& search : finding.searches) {
    std::cout << "  " << CommandOf(range, search) << "\n";
  }
  std::cout << std::flush;
}

void Work(int worker, std::atomic<uint64_t>* next) {
  const std::string name = settings.property + std::to_string(worker);
  const uint64_t batches = (settings.count + kBatch - 1) / kBatch;
  while (!enough) {
    const uint64_t k = (*next)++;
    if (k >= batches * settings.profiles.size()) return;
    Range range;
    range.profile = settings.profiles[k / batches];
    range.first = settings.first + k % batches * kBatch;
    range.count = std::min(kBatch, settings.first + settings.count - range.first);
    std::set<uint64_t> shown;
    std::vector<std::pair<uint64_t, Finding>> findings;
    Check(range, name, counters, [&](uint64_t seed, const Finding& finding) {
      if (shown.insert(seed).second) findings.emplace_back(seed, finding);
    });
    for (const auto& [seed, finding] : findings) {
      if (enough) break;
      if (++counters.failures <= 12) Show(range, seed, finding, name);
      if (!settings.mutate.empty()) enough = true;
    }
  }
}

// -------------------------------------------------------------------------------------- coverage

int PrintCoverage() {
  std::ifstream file(settings.coverage, std::ios::binary);
  static Coverage coverage;
  file.read(reinterpret_cast<char*>(&coverage), sizeof coverage);
  if (!file) {
    std::cerr << "there is no coverage in " << settings.coverage << "\n";
    return 2;
  }
  std::istringstream names(Output(settings.harness + " --operations"));
  int number = 0;
  for (std::string line; std::getline(names, line); ++number) {
    std::cout << line;
    for (int v = 0; v < kVariants; ++v) {
      std::cout << '|' << coverage.programs[number][v];
    }
    std::cout << "\n";
  }
  return 0;
}

bool ParseOption(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return false;
  const std::string name = word.substr(2, equals - 2), value = word.substr(equals + 1);
  const std::map<std::string, std::string*> texts = {{"mc", &settings.mc},
                                                     {"harness", &settings.harness},
                                                     {"mutate", &settings.mutate},
                                                     {"library", &settings.library},
                                                     {"coverage", &settings.coverage},
                                                     {"work", &settings.work}};
  const std::map<std::string, uint64_t*> numbers = {{"first", &settings.first},
                                                    {"count", &settings.count},
                                                    {"executions", &settings.executions},
                                                    {"pairs", &settings.pairs}};
  if (texts.contains(name)) {
    *texts.at(name) = value;
  } else if (numbers.contains(name)) {
    *numbers.at(name) = std::stoull(value);
  } else if (name == "profile") {
    settings.profiles.clear();
    std::istringstream list(value);
    for (std::string p; std::getline(list, p, ',');) settings.profiles.push_back(std::stoi(p));
  } else {
    return false;
  }
  return true;
}

int Main(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (!word.starts_with("--")) {
      settings.property = word;
    } else if (!ParseOption(word)) {
      std::cerr << "unknown option " << word << "\n";
      return 2;
    }
  }
  if (settings.property == "coverage") return PrintCoverage();
  if (settings.property != "laws" && settings.property != "convergence" &&
      settings.property != "refinements") {
    std::cerr
        << "usage: campaign [options] convergence|refinements|laws|coverage; see campaign.cc\n";
    return 2;
  }
  std::filesystem::create_directories(settings.work);
  if (!settings.coverage.empty()) {
    settings.coverage = std::filesystem::absolute(settings.coverage).string();
    if (!std::filesystem::exists(settings.coverage)) std::ofstream(settings.coverage).flush();
    std::filesystem::resize_file(settings.coverage, sizeof(Coverage));
  }
  std::atomic<uint64_t> next{0};
  std::vector<std::thread> workers;
  for (int k = 0; k < 2; ++k) workers.emplace_back(Work, k, &next);
  for (std::thread& worker : workers) worker.join();
  std::cout << settings.property << ": programs " << counters.programs << ", compared "
            << counters.compared << ", too large " << counters.too_large << ", failures "
            << counters.failures << "; executions dfs " << counters.executions_dfs << ", odpor "
            << counters.executions_odpor << "; traces " << counters.traces << "; states "
            << counters.states << ", bugs " << counters.bugs << "; pairs " << counters.pairs
            << "\n";
  return counters.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace mc::campaign

int main(int argc, char** argv) { return mc::campaign::Main(argc, argv); }
