// The report: what one run of mc found, for people (standard output) and for programs.
#ifndef MC_CHECKER_REPORT_H_
#define MC_CHECKER_REPORT_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checker/findings.h"
#include "checker/job_engine.h"
#include "checker/symbolizer.h"
#include "checker/unseen_functions.h"

namespace mc::checker {

enum class Verdict { kVerified, kNoBugFound, kBug, kError };

// What the search of one test came to.
struct TestResult {
  std::string test;  // "" for a program's main
  std::shared_ptr<Findings> findings;
  std::vector<Job> jobs;  // all that were created
  JobProgress total;
  SearchEnd end = SearchEnd::kComplete;
  bool saturated = false;
  bool iterative = true;
  std::string bound;              // of the strategy, "" for none
  std::set<std::string> missing;  // single strategy: PPs of candidates its set lacks
  std::vector<CandidateView> untested;
  std::string error;  // "" for none
  double seconds = 0;

  Verdict verdict() const;
};

struct RunReport {
  std::string harness;
  std::vector<TestResult> tests;
  std::string error;            // of the run as a whole, "" for none
  bool error_prevails = false;  // over bugs: of a replay that was not the recorded execution
  bool interrupted = false;
  uint64_t seed = 0;
  double seconds = 0;
  // Of the processes that run the program, one after the other or at a time (--jobs), the most that
  // a single one ever took. No sum: what they share would count several times, and --memory is
  // about each.
  uint64_t max_rss_kb = 0;
  std::vector<UnseenFunction> unseen_functions;
  bool fair = false;                    // --fair
  std::set<std::string> bounded_loops;  // where loops are of which not all rounds were searched
  std::string why_alone;                // why a search was not shared by several processes; or ""
  uint64_t spilled_requests = 0;        // the most that one worker put into a file
  std::string spill_problem;            // why it could not; or ""
  std::string checkpoint;               // where the search can be gone on with, or ""
  bool handlers_waited = false;  // exit handlers, for threads that ran when the program ended

  // The worst of the tests' verdicts; an error after a bug is still a bug.
  Verdict verdict() const;
  std::string FirstError() const;
  bool complete() const;  // every search ran to its end
};

// The bound of a search in which loops have one (sched/loop_bound.h).
std::string PreemptionBound(uint32_t preemptions);
inline constexpr char kLoopBound[] = "not all rounds of loops that wait";

// Where a bug shows in the source: the first of its place and its callers that is a line of the
// program, else one of a library.
const SourceLocation& PlaceOf(const Bug& bug, Symbolizer* symbolizer);

// The bug to name first: a data race is often only the way to what it leads to. There must be one.
const Bug& MainBug(const Findings& findings);

// Colours of a terminal, or nothing.
class Palette {
 public:
  explicit Palette(bool on) : on_(on) {}
  std::string Bold(std::string_view text) const { return Wrap("1", text); }
  std::string Red(std::string_view text) const { return Wrap("1;31", text); }
  std::string Green(std::string_view text) const { return Wrap("1;32", text); }
  std::string Faint(std::string_view text) const { return Wrap("2", text); }

 private:
  std::string Wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

// One bug in full: what, where, both sides of a race, the interleaving in brief, how to replay it.
std::string FormatBug(const Bug& bug, size_t number, const std::string& replay_command,
                      Symbolizer* symbolizer, const Palette& palette);
// Jobs, candidates and what was not tested. `symbolizer` may be null if nothing was found.
std::string FormatSummary(const TestResult& result, bool verbose, Symbolizer* symbolizer,
                          const Palette& palette);
// What the verdict leaves open, a line each; "" for nothing.
std::string FormatNotes(const RunReport& report, bool verbose);
// "mc: VERIFIED ...", without newline.
std::string FormatFinalLine(const RunReport& report, Symbolizer* symbolizer,
                            const Palette& palette);
// The counts of one test, for several tests' blocks.
std::string FormatTestLine(const TestResult& result, Symbolizer* symbolizer,
                           const Palette& palette);

// The thread of a slot, for people: "T1 (0.1)".
std::string ThreadLabel(uint32_t slot, const std::vector<std::string>& names);
std::string FormatSeconds(double seconds);
std::string FormatJobProgress(const Job& job);

// The formats for programs. Each writes a file; an error names it.
absl::Status WriteJson(const std::string& path, const RunReport& report, Symbolizer* symbolizer);
absl::Status WriteJUnit(const std::string& path, const RunReport& report, Symbolizer* symbolizer);
absl::Status WriteSarif(const std::string& path, const RunReport& report, Symbolizer* symbolizer);

std::string_view NameOf(Verdict verdict);

}  // namespace mc::checker

#endif  // MC_CHECKER_REPORT_H_
