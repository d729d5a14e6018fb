// Findings: what all the jobs of one test have found: candidates (potential data races) and bugs.
//
// Invariants
//  * A candidate is identified by its unordered pair of instruction addresses; its status only ever
//    rises: malloc-recycle, suspected (seen in one order), confirmed (in both, by whichever jobs).
//  * A bug is reported once: same kind, same place, same caller. Data races of one pair of source
//    lines are one bug.
#ifndef MC_CHECKER_FINDINGS_H_
#define MC_CHECKER_FINDINGS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checker/job_runner.h"
#include "checker/message.h"
#include "checker/schedule.h"
#include "checker/symbolizer.h"
#include "racedet/candidate.h"
#include "sched/bug_kind.h"

namespace mc::checker {

enum class FailOnRace { kConfirmed, kSuspected, kNever };

struct RaceSide {
  uint64_t pc = 0;
  std::string kind;  // the name of a racedet::AccessKind: the strongest seen
  int thread = -1;   // slot; -1 if unknown
  std::vector<uint64_t> stack;

  bool IsAtomic() const { return kind.starts_with("atomic"); }
  bool IsPlain() const { return !IsAtomic() && kind != "sync"; }
};

struct Race {
  RaceSide a, b;
  racedet::CandidateStatus status = racedet::CandidateStatus::kMallocRecycle;
  bool unordered = false;  // happens-before left some instance unordered
  bool promoted = false;   // was malloc-recycle first
  bool data_race = false;  // ... and that is a data race: undefined behaviour in C++
  bool a_first_seen = false, b_first_seen = false;  // orders seen, as far as they were told
  std::string object;

  bool IsCandidate() const { return status != racedet::CandidateStatus::kMallocRecycle; }
};

struct Bug {
  sched::BugKind kind = sched::BugKind::kCustom;
  std::string message;
  std::string details;  // further lines
  int thread = -1;      // slot of the thread it happened in, -1 if none
  uint64_t pc = 0;
  std::vector<uint64_t> stack;  // innermost first; without pc itself if it repeats it
  std::vector<ScheduleStep> steps;
  std::vector<std::string> threads;  // names in slot order
  std::string shared_sites;          // see Schedule
  uint64_t preemptions = 0;
  uint64_t executions = 0;       // of its job, that had run
  std::string pps;               // of its job
  std::string strategy;          // of a portfolio: the part that found it
  const Race* race = nullptr;    // of a data race
  std::string schedule_file;     // "" if none could be written
  std::string schedule_problem;  // why not

  bool IsDataRace() const { return race != nullptr; }
};

class Findings {
 public:
  Findings(FailOnRace policy, Symbolizer* symbolizer) : policy_(policy), symbolizer_(symbolizer) {}
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  // A `race` message of a job with the given PP set. Returns the candidate as merged; *new_bug is
  // the data race bug it makes, or nullptr. The pointers stay valid.
  const Race& AddRace(const Message& message, const std::string& pps, Bug** new_bug);
  // A `bug` message; nullptr if the bug is known already.
  Bug* AddBug(const Message& message, const std::string& pps);
  // A bug the supervisor itself noticed; nullptr if known.
  Bug* AddBug(Bug bug);

  // As the job engine wants it.
  CandidateView ViewOf(const Race& race) const;
  // The kinds of accesses of a line are many; what to show is the pair of lines.
  std::pair<std::string, std::string> LinesOf(const Race& race) const;

  const std::vector<std::unique_ptr<Race>>& races() const { return races_; }
  const std::vector<std::unique_ptr<Bug>>& bugs() const { return bugs_; }
  uint64_t malloc_recycle_discarded() const;

 private:
  bool Fails(const Race& race) const;
  Race* FindOrAdd(const Message& message);
  void RaiseKinds(const Message& message, Race* race);
  void RaiseStatus(const Message& message, bool was_known, Race* race);
  std::string ObjectOf(const Message& message);

  FailOnRace policy_;
  Symbolizer* symbolizer_;
  std::vector<std::unique_ptr<Race>> races_;
  std::map<std::pair<uint64_t, uint64_t>, Race*> by_pair_;
  std::vector<std::unique_ptr<Bug>> bugs_;
  std::map<std::string, Bug*> by_identity_;
};

std::string_view NameOf(racedet::CandidateStatus status);

// "PC,PC,..." as numbers.
std::vector<uint64_t> ParseStack(std::string_view text);

}  // namespace mc::checker

#endif  // MC_CHECKER_FINDINGS_H_
