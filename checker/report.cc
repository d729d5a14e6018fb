#include "checker/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "checker/text.h"
#include "sched/loop_bound.h"

namespace mc::checker {
namespace {

using racedet::CandidateStatus;

constexpr size_t kMostSwitchesShown = 60;
// Lines of one table without --verbose.
constexpr size_t kMostRows = 12;
constexpr size_t kLongestSetText = 60;

std::string Indented(const std::string& text, absl::string_view indent) {
  std::string out;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&out, indent, line, "\n");
  }
  return out;
}

std::string FormatStack(uint64_t pc, const std::vector<uint64_t>& stack, Symbolizer* symbolizer,
                        absl::string_view indent) {
  std::string out, last;
  std::vector<uint64_t> frames = stack;
  frames.insert(frames.begin(), pc);
  for (uint64_t frame : frames) {
    const SourceLocation& location = symbolizer->Locate(frame);
    // The runtime's own frames say nothing about the program.
    if (frame == 0 || location.InRuntime()) continue;
    const std::string line = location.WhereAndFunction();
    if (line != last) absl::StrAppend(&out, indent, "at ", line, "\n");
    last = line;
  }
  return out;
}

std::string FormatSide(const RaceSide& side, const Bug& bug, Symbolizer* symbolizer) {
  std::string out = absl::StrCat("    ", side.kind);
  if (side.thread >= 0) {
    absl::StrAppend(&out, " by ", ThreadLabel(static_cast<uint32_t>(side.thread), bug.threads));
  }
  absl::StrAppend(&out, "\n", FormatStack(side.pc, side.stack, symbolizer, "      "));
  return out;
}

// One line for each stretch of steps of one thread.
std::string FormatInterleaving(const Bug& bug, Symbolizer* symbolizer) {
  std::string out;
  size_t shown = 0, total = 0;
  for (size_t begin = 0, end = 0; begin < bug.steps.size(); begin = end) {
    while (end < bug.steps.size() && bug.steps[end].thread == bug.steps[begin].thread) ++end;
    ++total;
    if (shown == kMostSwitchesShown) continue;
    ++shown;
    const ScheduleStep& step = bug.steps[begin];
    std::string line = absl::StrCat("    ", ThreadLabel(step.thread, bug.threads));
    if (!step.what.empty()) absl::StrAppend(&line, " ", step.what);
    if (step.pc != 0) {
      absl::StrAppend(&line, " at ", symbolizer->Locate(step.pc).WhereAndFunction());
    }
    if (end - begin > 1) absl::StrAppend(&line, ", and ", Count(end - begin - 1, "further step"));
    absl::StrAppend(&out, line, "\n");
  }
  if (shown < total) absl::StrAppend(&out, "    ... and ", total - shown, " more\n");
  return out;
}

std::string Headline(const Bug& bug, Symbolizer* symbolizer) {
  const bool step_limit = bug.message.starts_with(sched::kStepLimitReached);
  return absl::StrCat(View(sched::NameOf(bug.kind)),
                      step_limit ? " (step limit reached: raise --max-steps)" : "", " at ",
                      PlaceOf(bug, symbolizer).Where());
}

// Of a large set, the classes and how many access PPs there are.
std::string SetText(const PpSet& pps, bool verbose) {
  if (pps.empty()) return "{}";
  const std::string text = pps.Text();
  if (verbose || text.size() <= kLongestSetText) return text;
  return absl::StrCat(pps.classes() == 0 ? "" : PpSet(pps.classes()).Text() + ",",
                      Count(pps.accesses().size(), "access point"));
}

// The rows that fit, and how many are left out.
std::string Table(absl::string_view title, const std::vector<std::string>& rows, bool verbose) {
  if (rows.empty()) return "";
  std::string out = absl::StrCat(title, ":\n");
  const size_t shown = verbose ? rows.size() : std::min(rows.size(), kMostRows);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&out, "  ", rows[i], "\n");
  if (shown < rows.size()) {
    absl::StrAppend(&out, "  ... and ", rows.size() - shown, " more (--verbose shows them)\n");
  }
  return out;
}

std::string FormatCounts(const JobProgress& total, size_t jobs, double seconds) {
  std::string text = Count(total.executions, "execution");
  if (total.blocked > 0) absl::StrAppend(&text, " (", total.blocked, " more blocked)");
  absl::StrAppend(&text, " in ", Count(jobs, "job"), ", ", Count(total.transitions, "transition"),
                  ", ", FormatSeconds(seconds));
  return text;
}

size_t StartedJobs(const TestResult& result) {
  return static_cast<size_t>(std::count_if(result.jobs.begin(), result.jobs.end(),
                                           [](const Job& job) { return job.started; }));
}

std::string StateText(const Job& job) {
  switch (job.state) {
    case JobState::kComplete:
      return "complete";
    case JobState::kCrashed:
      return "ended by its bug";
    case JobState::kCancelled:
      return "cancelled: includes a set that has a bug";
    case JobState::kReplaced:
      return "replaced by a larger set";
    case JobState::kDropped:
      return "given up for lack of memory";
    default:
      return "not complete";
  }
}

// What one search with growing bounds has come to.
std::string Covered(const TestResult& result) {
  if (result.iterative || result.jobs.empty() || !result.bound.empty()) return "";
  const auto& covered = result.jobs.front().progress.preemptions_covered;
  return covered ? absl::StrCat(", which was enough for ", PreemptionBound(*covered)) : "";
}

// What all searches with growing bounds that gave up have come to.
std::optional<uint32_t> LeastCovered(const TestResult& result) {
  std::optional<uint32_t> least;
  for (const Job& job : result.jobs) {
    const auto covered = job.progress.preemptions_covered;
    if (!job.complete() || !job.progress.left_out || !covered) continue;
    least = std::min(least.value_or(*covered), *covered);
  }
  return least;
}

// What a sample promises: one execution in how many shows a bug of the kind it looks for.
std::string Chance(const TestResult& result) {
  const double chance = result.jobs.empty() ? 0 : result.jobs.back().progress.chance;
  if (chance <= 0 || result.iterative) return "";
  return absl::StrFormat(
      ", each of which shows a bug of that depth with a probability of 1 in %.0f or more",
      1 / chance);
}

std::string WhyNotVerified(const TestResult& result) {
  switch (result.end) {
    case SearchEnd::kTimeBudget:
      return absl::StrCat("within the time budget", Covered(result));
    case SearchEnd::kExecutionBudget:
      return absl::StrCat("within the budget of executions", Covered(result),
                          Chance(result).empty() ? "" : " of ",
                          Chance(result).empty() ? "" : result.bound, Chance(result));
    case SearchEnd::kInterrupted:
      return absl::StrCat("until interrupted", Covered(result));
    default:
      break;
  }
  const bool bounds_loops =
      std::ranges::any_of(result.jobs, [](const Job& job) { return job.bounds_loops; });
  if (!result.bound.empty()) {
    return absl::StrCat("within the bound: ", result.bound, Chance(result),
                        bounds_loops ? absl::StrCat("; and ", kLoopBound) : "");
  }
  if (const auto covered = LeastCovered(result)) {
    return absl::StrCat("within the bound: ", PreemptionBound(*covered),
                        " (more would need too much memory)");
  }
  if (bounds_loops) {
    return absl::StrCat("within the bound: ", kLoopBound);
  }
  if (!result.missing.empty()) {
    return absl::StrCat(
        "with these preemption points; not among them, so not verified: ",
        absl::StrJoin(result.missing, ", ", [](std::string* out, const std::string& line) {
          absl::StrAppend(out, "access:", line);
        }));
  }
  return "; not verified";
}

// "VERIFIED after ...", with the colour left to the caller.
std::string VerdictText(const TestResult& result, Symbolizer* symbolizer) {
  const std::string counts = FormatCounts(result.total, StartedJobs(result), result.seconds);
  switch (result.verdict()) {
    case Verdict::kBug: {
      const auto& bugs = result.findings->bugs();
      std::string text = absl::StrCat("BUG ", Headline(MainBug(*result.findings), symbolizer));
      if (bugs.size() > 1) absl::StrAppend(&text, " and ", bugs.size() - 1, " more");
      if (result.end == SearchEnd::kInterrupted) absl::StrAppend(&text, "; interrupted");
      if (result.end == SearchEnd::kTimeBudget) absl::StrAppend(&text, "; the time ran out");
      return absl::StrCat(text, "; ", counts);
    }
    case Verdict::kVerified: {
      std::string scope;
      // One strategy alone verifies what its preemption points can show, and no more.
      if (!result.iterative && !result.jobs.front().pps.Includes(PpSet(sched::kPpSync))) {
        scope =
            absl::StrCat(" under the preemption points ", SetText(result.jobs.front().pps, true));
      }
      return absl::StrCat("VERIFIED", scope, " after ", counts);
    }
    case Verdict::kNoBugFound:
      return absl::StrCat("NO BUG FOUND ", WhyNotVerified(result), "; ", counts);
    case Verdict::kError:
      break;
  }
  return absl::StrCat("ERROR ", result.error.substr(0, result.error.find('\n')));
}

std::string Painted(const std::string& text, Verdict verdict, const Palette& palette) {
  const std::string words =
      verdict == Verdict::kNoBugFound ? "NO BUG FOUND" : text.substr(0, text.find(' '));
  const std::string rest = text.substr(words.size());
  if (verdict == Verdict::kVerified) return palette.Green(words) + rest;
  if (verdict == Verdict::kNoBugFound) return palette.Bold(words) + rest;
  return palette.Red(words) + rest;
}

std::string FormatJobs(const TestResult& result, bool verbose) {
  std::vector<std::string> rows;
  for (const Job& job : result.jobs) {
    if (!job.started) continue;
    rows.push_back(absl::StrFormat("%3d  %-24s %s", job.id, SetText(job.pps, verbose),
                                   FormatJobProgress(job)));
  }
  // The last ones say most: the search ended there.
  const size_t hidden = verbose || rows.size() <= kMostRows ? 0 : rows.size() - kMostRows;
  rows.erase(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(hidden));
  std::string out = Table("Jobs (preemption points, executions)", rows, verbose);
  if (hidden > 0) absl::StrAppend(&out, "  ... and ", hidden, " before (--verbose shows them)\n");
  const size_t never = result.jobs.size() - StartedJobs(result);
  if (never > 0)
    absl::StrAppend(&out, "  ", Count(never, "further set"), " not needed or not run\n");
  return out;
}

std::string FormatRaces(const TestResult& result, bool verbose, Symbolizer* symbolizer) {
  struct Line {
    CandidateStatus status = CandidateStatus::kMallocRecycle;
    bool data_race = false;
    std::string object;
  };
  // Many instructions, one pair of lines.
  std::map<std::pair<std::string, std::string>, Line> lines;
  uint64_t promoted = 0;
  for (const auto& race : result.findings->races()) {
    promoted += race->promoted;
    if (!race->IsCandidate() && !verbose) continue;
    auto side = [&](const RaceSide& s) {
      return absl::StrCat(s.kind, " at ", symbolizer->Locate(s.pc).Where());
    };
    Line& line = lines[{side(race->a), side(race->b)}];
    if (race->IsCandidate() && line.status != CandidateStatus::kConfirmed) {
      line.status = race->status;
    }
    line.data_race |= race->data_race;
    line.object = race->object;
  }
  std::vector<std::string> data_races, others;
  for (const auto& [sides, line] : lines) {
    (line.data_race ? data_races : others)
        .push_back(absl::StrCat(View(NameOf(line.status)), line.data_race ? " data race: " : ": ",
                                sides.first, ", ", sides.second,
                                line.object.empty() ? "" : absl::StrCat(" (", line.object, ")")));
  }
  if (verbose) data_races.insert(data_races.end(), others.begin(), others.end());
  std::string out = Table(verbose ? "Candidates" : "Data races", data_races, verbose);
  if (!verbose && !others.empty()) {
    absl::StrAppend(&out, Count(others.size(), "other candidate"), " (--verbose shows them)\n");
  }
  const uint64_t discarded = result.findings->malloc_recycle_discarded();
  if (discarded + promoted > 0) {
    absl::StrAppend(&out, "Discarded as malloc-recycle: ", discarded);
    if (promoted > 0) absl::StrAppend(&out, "; not a false positive after all: ", promoted);
    absl::StrAppend(&out, "\n");
  }
  return out;
}

std::string FormatUntested(const TestResult& result, bool verbose) {
  std::set<std::string> lines;
  for (const CandidateView& candidate : result.untested) {
    lines.insert(absl::StrCat(candidate.earlier_pp, ", ", candidate.later_pp));
  }
  return Table("Candidates never tested to the end",
               std::vector<std::string>(lines.begin(), lines.end()), verbose);
}

}  // namespace

std::string PreemptionBound(uint32_t preemptions) {
  return absl::StrCat("at most ", preemptions, preemptions == 1 ? " preemption" : " preemptions");
}

Verdict TestResult::verdict() const {
  if (findings != nullptr && !findings->bugs().empty()) return Verdict::kBug;
  if (!error.empty()) return Verdict::kError;
  return saturated ? Verdict::kVerified : Verdict::kNoBugFound;
}

Verdict RunReport::verdict() const {
  Verdict worst = error.empty() ? Verdict::kVerified : Verdict::kError;
  bool bug = false;
  for (const TestResult& test : tests) {
    bug |= test.verdict() == Verdict::kBug;
    worst = std::max(worst, test.verdict());
  }
  if (error_prevails && !FirstError().empty()) return Verdict::kError;
  if (bug) return Verdict::kBug;
  if (tests.empty() && error.empty()) return Verdict::kNoBugFound;
  return worst;
}

std::string RunReport::FirstError() const {
  if (!error.empty()) return error;
  for (const TestResult& test : tests) {
    if (!test.error.empty()) return test.error;
  }
  return "";
}

bool RunReport::complete() const {
  return !interrupted && error.empty() &&
         std::all_of(tests.begin(), tests.end(), [](const auto& t) {
           return t.saturated ||
                  (t.end == SearchEnd::kComplete && !t.iterative && t.jobs.front().complete());
         });
}

std::string_view NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kVerified:
      return "verified";
    case Verdict::kNoBugFound:
      return "no-bug-found";
    case Verdict::kBug:
      return "bug";
    case Verdict::kError:
      break;
  }
  return "error";
}

std::string Palette::Wrap(std::string_view code, std::string_view text) const {
  if (!on_) return std::string(text);
  return absl::StrCat("\033[", View(code), "m", View(text), "\033[0m");
}

const SourceLocation& PlaceOf(const Bug& bug, Symbolizer* symbolizer) {
  std::vector<uint64_t> frames = bug.stack;
  frames.insert(frames.begin(), bug.pc);
  // Better the program's line that called into a library than the library's.
  for (bool user_code_only : {true, false}) {
    for (uint64_t frame : frames) {
      const SourceLocation& location = symbolizer->Locate(frame);
      if (location.InRuntime()) continue;
      if (user_code_only ? location.in_user_code : location.HasLine()) return location;
    }
  }
  // Where the last step began, if that is a line of the program: it may have ended elsewhere.
  const uint64_t last = bug.steps.empty() ? 0 : bug.steps.back().pc;
  const SourceLocation& begin = symbolizer->Locate(last);
  return bug.pc == 0 && begin.in_user_code ? begin : symbolizer->Locate(bug.pc);
}

const Bug& MainBug(const Findings& findings) {
  for (const auto& bug : findings.bugs()) {
    if (!bug->IsDataRace()) return *bug;
  }
  return *findings.bugs().front();
}

std::string ThreadLabel(uint32_t slot, const std::vector<std::string>& names) {
  if (slot >= names.size()) return absl::StrCat("T", slot);
  return absl::StrCat("T", slot, " (", names[slot] == "0" ? "main" : names[slot], ")");
}

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e9) return "very long";
  if (seconds < 10) return absl::StrFormat("%.2f s", seconds);
  if (seconds < 120) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 7200) return absl::StrFormat("%.0f min", seconds / 60);
  if (seconds < 172800) return absl::StrFormat("%.1f h", seconds / 3600);
  return absl::StrFormat("%.3g days", seconds / 86400);
}

std::string FormatJobProgress(const Job& job) {
  const JobProgress& progress = job.progress;
  std::string text;
  if (job.complete() || progress.estimate <= static_cast<double>(progress.executions)) {
    text = Count(progress.executions, "execution");
  } else if (!std::isfinite(progress.estimate)) {
    text = absl::StrCat(Count(progress.executions, "execution"), " of very many");
  } else {
    const double share =
        100 * static_cast<double>(progress.executions) / std::max(progress.estimate, 1.0);
    text = absl::StrFormat("%d/~%.3g executions (%.3g%%), ETA %s", progress.executions,
                           progress.estimate, share, FormatSeconds(job.SecondsLeft()));
  }
  if (progress.blocked > 0) absl::StrAppend(&text, ", ", progress.blocked, " blocked");
  return absl::StrCat(text, ", ", StateText(job));
}

std::string FormatBug(const Bug& bug, size_t number, const std::string& replay_command,
                      Symbolizer* symbolizer, const Palette& palette) {
  std::string out =
      absl::StrCat(palette.Red(absl::StrCat("BUG ", number, ": ", View(sched::NameOf(bug.kind)))),
                   bug.message.empty() ? "" : ": ", bug.message, "\n");
  absl::StrAppend(&out, "  where: ", PlaceOf(bug, symbolizer).WhereAndFunction());
  if (bug.thread >= 0) {
    absl::StrAppend(&out, ", in ", ThreadLabel(static_cast<uint32_t>(bug.thread), bug.threads));
  }
  absl::StrAppend(&out, "\n");
  if (bug.race != nullptr) {
    absl::StrAppend(&out, "  both sides:\n", FormatSide(bug.race->a, bug, symbolizer),
                    FormatSide(bug.race->b, bug, symbolizer));
  } else if (!bug.stack.empty()) {
    absl::StrAppend(&out, "  stack:\n", FormatStack(bug.pc, bug.stack, symbolizer, "    "));
  }
  if (!bug.details.empty()) absl::StrAppend(&out, Indented(bug.details, "  "));
  if (!bug.steps.empty()) {
    absl::StrAppend(&out, "  interleaving (", Count(bug.steps.size(), "step"), ", ",
                    Count(bug.preemptions, "preemption"), "), each thread from:\n",
                    FormatInterleaving(bug, symbolizer));
  }
  if (bug.executions > 0) {
    absl::StrAppend(&out, "  found with preemption points ", bug.pps,
                    bug.strategy.empty() ? "" : " by ", bug.strategy, " in execution ",
                    bug.executions, "\n");
  }
  if (!bug.schedule_file.empty()) {
    absl::StrAppend(&out, "  schedule: ", bug.schedule_file, "\n  replay: ", replay_command, "\n");
  } else if (!bug.schedule_problem.empty()) {
    absl::StrAppend(&out, "  no schedule: ", bug.schedule_problem, "\n");
  }
  return out;
}

std::string FormatSummary(const TestResult& result, bool verbose, Symbolizer* symbolizer,
                          const Palette&) {
  std::string out = FormatJobs(result, verbose);
  if (result.findings != nullptr) {
    absl::StrAppend(&out, FormatRaces(result, verbose, symbolizer));
  }
  absl::StrAppend(&out, FormatUntested(result, verbose));
  return out;
}

std::string FormatTestLine(const TestResult& result, Symbolizer* symbolizer,
                           const Palette& palette) {
  return absl::StrCat(result.test, ": ",
                      Painted(VerdictText(result, symbolizer), result.verdict(), palette));
}

std::string FormatNotes(const RunReport& report, bool verbose) {
  std::string out;
  const std::string unseen = DescribeUnseenFunctions(report.unseen_functions, verbose);
  if (!unseen.empty()) absl::StrAppend(&out, unseen, "\n");
  if (!report.bounded_loops.empty()) {
    absl::StrAppend(
        &out, "note: ",
        report.fair ? std::string("--fair: of the rounds of a loop that waits")
                    : absl::StrCat("a loop that goes round ", sched::kRoundsBeforeBound,
                                   " times in one execution is taken for endless (a heuristic), "
                                   "and of its rounds"),
        " each thread makes ", sched::kRoundsOfBoundedLoop,
        "; further ones only when another thread has written what it read, or nothing else can "
        "run. Executions with more rounds are not searched. Loops: ",
        absl::StrJoin(report.bounded_loops, ", "), "\n");
  }
  if (!report.why_alone.empty()) {
    absl::StrAppend(&out, "note: --jobs: a search was run by one process: ", report.why_alone,
                    "\n");
  }
  if (report.spilled_requests != 0) {
    absl::StrAppend(&out, "note: --memory: a search put ", report.spilled_requests,
                    " of the sequences that it had still to follow into a file for lack of memory, "
                    "which takes time\n");
  }
  if (!report.spill_problem.empty()) {
    absl::StrAppend(&out, "note: --memory: a search took more memory than its part, since ",
                    report.spill_problem, ": give another folder in TMPDIR, or more memory\n");
  }
  if (!report.checkpoint.empty() && !report.complete()) {
    absl::StrAppend(&out, "note: the search is saved in ", report.checkpoint,
                    ": --resume goes on with it\n");
  }
  if (report.handlers_waited) {
    absl::StrAppend(&out,
                    "note: the program ended while other threads still ran; exit handlers "
                    "and destructors of static objects waited for these, so what they would "
                    "meet is not seen (--exit=immediate shows it)\n");
  }
  return out;
}

std::string FormatFinalLine(const RunReport& report, Symbolizer* symbolizer,
                            const Palette& palette) {
  const Verdict verdict = report.verdict();
  std::string text;
  if (verdict == Verdict::kError) {
    const std::string error = report.FirstError();
    text = absl::StrCat("ERROR ", error.substr(0, error.find('\n')));
  } else if (report.tests.empty()) {
    text = "NO BUG FOUND until interrupted; 0 executions";
  } else {
    // The first test with the worst verdict speaks for all.
    const auto worst = std::find_if(report.tests.begin(), report.tests.end(),
                                    [&](const auto& t) { return t.verdict() == verdict; });
    if (report.tests.size() == 1) {
      text = VerdictText(*worst, symbolizer);
    } else {
      TestResult sum = *worst;
      sum.jobs.clear();
      sum.total = JobProgress();
      sum.seconds = report.seconds;
      for (const TestResult& test : report.tests) {
        sum.jobs.insert(sum.jobs.end(), test.jobs.begin(), test.jobs.end());
        sum.total.executions += test.total.executions;
        sum.total.blocked += test.total.blocked;
        sum.total.transitions += test.total.transitions;
      }
      const auto same = std::count_if(report.tests.begin(), report.tests.end(),
                                      [&](const auto& t) { return t.verdict() == verdict; });
      text = absl::StrCat(VerdictText(sum, symbolizer), "; ", same, " of ", report.tests.size(),
                          " tests, first ", worst->test);
    }
  }
  return absl::StrCat("mc: ", Painted(text, verdict, palette));
}

}  // namespace mc::checker
