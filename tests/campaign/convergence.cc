// Convergence: source, dpor, portfolio, odpor and iterative deepening find the final states and
// bugs of a search without reduction. Where every access is a preemption point they also have its
// Mazurkiewicz traces, of which odpor runs each once.
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/campaign/program.h"
#include "tests/campaign/properties.h"

namespace mc::campaign {
namespace {

// Where every access is a PP, the traces of two searches are the same.
const std::string kTraces = kEvery + " --internal-traces";
// The same by three processes together.
const std::string kShared = "--strategy=odpor " + kTraces + " --jobs=3 --internal-eager-jobs";

// Is there something in the program that the search tells apart though nobody else does? Longer
// blocks then make fewer executions. It is: whether a join in the middle of an atomic section had
// to wait; and whether a thread took a lock before or after another one's announcement that its
// attempts to take locks were no loop (sched/lock_attempts.h): that is one that tries to, or does
// so more than once.
bool SearchSeesMore(const Range& range, uint64_t seed) {
  const std::string text = Print(range, seed);
  if (text.find("joins them in one block") != std::string::npos) return true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    bool in_section = false;
    int locks = 0;
    for (std::string word; words >> word;) {
      if (word == "{" || word == "}") in_section = word == "{";
      if (word == "join" && in_section) return true;
      const bool tries = word.starts_with("r=t") && word.ends_with("lock");
      if (tries || word == "lock" || word == "rdlock" || word == "wrlock") locks += tries ? 2 : 1;
    }
    if (locks >= 2) return true;
  }
  return false;
}

// A search that is compared with one without reduction.
struct Other {
  std::string search;
  bool iterative = false, optimal = false, bugs_only = false;
};

// What preempts only at shared accesses has the same traces, with less in them.
const std::string kLearned = "--strategy=odpor --pp=all";

std::vector<Other> OthersFor(bool bugs_only) {
  return {{"--strategy=source " + kTraces},
          {"--strategy=dpor " + kTraces},
          {"--strategy=portfolio " + kTraces},
          {"--strategy=odpor " + kTraces, false, true},
          {kShared, false, true},
          {kLearned, false, true, bugs_only},
          {"--iterative --internal-saturate", true, false, bugs_only}};
}

// The comparison of the other searches with one without reduction, over a range of programs.
class Comparison {
 public:
  Comparison(const Range& range, std::string name, Counters& counters, const Report& report)
      : range_(range),
        name_(std::move(name)),
        counters_(counters),
        report_(report),
        // With --exit=immediate, an end of the process between two accesses that nobody shares
        // makes a memory of its own, which nobody can see; with --heap=recycle, so do the addresses
        // of blocks. There the searches that preempt only where threads communicate are compared by
        // the bugs alone.
        bugs_only_(range.profile == static_cast<int>(Profile::kExit) ||
                   range.profile == static_cast<int>(Profile::kHeap)),
        dfs_("--strategy=dfs " + kTraces + " --executions=" + std::to_string(settings.executions)) {
  }

  void Run() {
    expected_ = Search(range_, dfs_, name_);
    for (const auto& [seed, answer] : expected_) NoteExpected(seed, answer);
    for (const Other& other : OthersFor(bugs_only_)) {
      // What takes a reduced search as long as that is not for comparing.
      const Answers found = Search(range_, other.search + " --executions=200000", name_);
      for (const uint64_t seed : whole_) {
        const auto at = found.find(seed);
        if (at == found.end()) {
          report_(seed, {other.search + ": no answer", "", {other.search}});
          continue;
        }
        CompareFindings(seed, other, at->second);
        CompareExecutions(seed, other, at->second);
      }
    }
  }

 private:
  void NoteExpected(uint64_t seed, const Answer& answer) {
    ++counters_.programs;
    if (!answer.error.empty()) {
      report_(seed, {"dfs: " + answer.error.substr(0, 24), answer.error, {dfs_}});
    } else if (!answer.complete) {
      ++counters_.too_large;
    } else {
      whole_.push_back(seed);
      ++counters_.compared;
      counters_.executions_dfs += answer.executions;
      counters_.traces += answer.traces.size();
      for (const auto& line : answer.lines) {
        ++(line.starts_with("bug") ? counters_.bugs : counters_.states);
      }
    }
  }

  void Fail(uint64_t seed, const Other& other, const std::string& what, const std::string& detail) {
    report_(seed, {other.search + ": " + what, detail, {dfs_, other.search}});
  }

  void CompareFindings(uint64_t seed, const Other& other, const Answer& have) {
    const Answer& want = expected_.at(seed);
    const std::string difference = Difference(want.lines, have.lines, other.bugs_only);
    if (!have.error.empty()) {
      Fail(seed, other, have.error.substr(0, 24), have.error);
    } else if (other.iterative ? !have.saturated : !have.complete) {
      Fail(seed, other, "not finished", "");
    } else if (!difference.empty()) {
      Fail(seed, other, "differs", difference);
    } else if (!have.traces.empty() && have.traces != want.traces) {
      Fail(seed, other, "other traces", Difference(want.traces, have.traces, false));
    } else if (other.optimal && !have.traces.empty() && have.executions != have.traces.size()) {
      Fail(seed, other, "a trace twice",
           std::to_string(have.executions) + " executions of " +
               std::to_string(have.traces.size()) + " traces");
    }
  }

  void CompareExecutions(uint64_t seed, const Other& other, const Answer& have) {
    const Answer& want = expected_.at(seed);
    const std::string executions = std::to_string(have.executions);
    if (!other.optimal) {
      source_executions_.try_emplace(seed, have.executions);
      return;
    }
    counters_.executions_odpor += have.executions;
    const uint64_t alone = optimal_executions_.try_emplace(seed, have.executions).first->second;
    if (other.search == kShared && have.executions != alone) {
      Fail(seed, other, "not as many as alone", executions);
    }
    if (other.search == kLearned && !bugs_only_ && have.executions != alone &&
        (have.executions > alone || !SearchSeesMore(range_, seed))) {
      Fail(seed, other, "not as many as with every access",
           executions + ", not " + std::to_string(alone));
    }
    if (have.executions > want.executions || have.executions > source_executions_[seed]) {
      Fail(seed, other, "more executions", executions);
    }
    // Failed assumptions count as blocked in every search.
    if (have.blocked > want.blocked) Fail(seed, other, "blocked", std::to_string(have.blocked));
  }

  const Range& range_;
  const std::string name_;
  Counters& counters_;
  const Report& report_;
  const bool bugs_only_;
  const std::string dfs_;
  Answers expected_;
  std::vector<uint64_t> whole_;  // the seeds of programs that dfs went through
  // By seed: of the first search that is not optimal, and of the first that is.
  std::map<uint64_t, uint64_t> source_executions_, optimal_executions_;
};

}  // namespace

void CheckConvergence(const Range& range, const std::string& name, Counters& counters,
                      const Report& report) {
  Comparison(range, name, counters, report).Run();
}

}  // namespace mc::campaign
