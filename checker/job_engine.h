// JobEngine: iterative deepening over PP sets (Blum and Gibson, "Stateless Model Checking with
// Data-Race Preemption Points", OOPSLA 2016; spec iterative-deepening 4).
//
// A *job* is the search of the state space of one PP set. The engine begins with the static sets
// {}, {lock}, {unlock} and {all synchronisation}, and turns every data-race candidate a job reports
// into further jobs: a *small* one, with that PP alone, which finds bugs fast, and a *big* one, the
// reporting job's set and the PP. When every PP has been explored, a *verify* job with everything
// found so far replaces the rest, again whenever a new candidate appears, until none does.
//
// Invariants
//  * No two jobs have equal sets.
//  * No job is started whose set includes that of a job that is suspended, or that of one that
//  found
//    a bug other than a data race.
//  * A job whose set is included in that of a complete one is not run: its executions are among
//    those already explored.
//  * Pure logic: no processes, no clock of its own. The same answers of the runner and the clock
//    give the same search.
#ifndef MC_CHECKER_JOB_ENGINE_H_
#define MC_CHECKER_JOB_ENGINE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "checker/job_runner.h"
#include "checker/pp_set.h"

namespace mc::checker {

enum class JobRole { kOnly, kInitial, kSmall, kBig, kVerify };

enum class JobState {
  kFresh,      // never run
  kSuspended,  // run for a while; its search goes on where it was
  kComplete,
  kLimited,    // ran as many executions as a job of an endless strategy may
  kCrashed,    // its search was lost to the bug it found
  kCancelled,  // includes the set of a job that found a bug
  kReplaced,   // another job explores, or has explored, all it would
  kDropped,    // given up for lack of memory
};

struct Job {
  int id = 0;
  PpSet pps;
  JobRole role = JobRole::kOnly;
  JobState state = JobState::kFresh;
  JobProgress progress;
  bool started = false;
  bool found_bug = false;     // other than a data race
  bool bounds_loops = false;  // of some loops not all rounds are searched: it verifies nothing

  bool complete() const { return state == JobState::kComplete; }
  // Executions and seconds still to come, by the estimate; 0 if complete, infinite if unknown.
  double ExecutionsLeft() const;
  double SecondsLeft() const;
};

// Why the search ended.
enum class SearchEnd {
  kComplete,  // nothing is left to run
  kTimeBudget,
  kExecutionBudget,
  kBug,  // the first bug, without keep_going
  kInterrupted,
  kFailed,
};

struct EngineOptions {
  bool iterative = true;
  PpSet only = {};  // the set of the one job if not iterative
  absl::Duration time = absl::Hours(1);
  uint64_t executions = std::numeric_limits<uint64_t>::max();
  uint64_t executions_per_job = std::numeric_limits<uint64_t>::max();
  bool keep_going = false;
  bool cut_at_bugs = true;  // a set that found a bug stands for its supersets
  std::string bound = {};   // of the strategy: then no complete job verifies anything
};

class JobEngine : private JobEvents {
 public:
  // `now` gives the time; `runner` must outlive the engine.
  JobEngine(EngineOptions options, JobRunner* runner, std::function<absl::Time()> now);

  // Called after every piece of progress of the job that runs.
  void set_on_progress(std::function<void(const Job&)> callback) { on_progress_ = callback; }

  SearchEnd Run();

  // In order of creation; those that never ran are among them.
  const std::vector<std::unique_ptr<Job>>& jobs() const { return jobs_; }
  // Every candidate is a PP of a complete, unbounded job (iterative: one with all synchronisation).
  bool saturated() const;
  // The candidates that no complete job has as PPs.
  std::vector<CandidateView> UntestedCandidates() const;
  // PPs of candidates that the given set lacks.
  std::set<std::string> MissingFrom(const PpSet& pps) const;
  JobProgress Total() const;

 private:
  using CandidateKey = std::pair<uint64_t, uint64_t>;
  // The lower, the more urgent.
  enum class Urgency { kEmptySet, kConfirmed, kSuspected, kLock, kUnlock, kOther, kNone };

  void OnProgress(const JobProgress& progress) override;
  void OnCandidate(const CandidateView& candidate) override;
  void OnBug() override;
  void OnRestart() override;
  void OnBoundedLoop() override;

  std::optional<SearchEnd> RunJob(Job* job);
  std::optional<SearchEnd> AfterSlice(Job* job, SliceResult result);
  void Complete(Job* job);
  void MakeRoom();

  Job* AddJob(const PpSet& pps, JobRole role);
  Job* Find(const PpSet& pps) const;
  void Retire(Job* job, JobState state);
  bool IncludesBuggySet(const PpSet& pps) const;
  bool MayStart(const Job& job, const Job* as_suspended) const;
  Job* PickNext();
  Job* BestFresh(const Job* as_suspended) const;
  Job* VerifyJob();
  Job* BestSuspended() const;
  bool ShouldSuspend(const Job& job) const;

  Urgency UrgencyOf(const Job& job) const;
  Urgency UrgencyOfAccess(const std::string& line) const;
  // Suspected, a candidate asks for a PP at its earlier side; confirmed, at both.
  static bool NeedsBothSides(const CandidateView& candidate) {
    return candidate.status == racedet::CandidateStatus::kConfirmed || !candidate.order_known;
  }
  static PpSet RequiredBy(const CandidateView& candidate);
  static bool Covers(const PpSet& pps, const CandidateView& candidate);
  bool Verifies(const Job& job) const;

  EngineOptions options_;
  JobRunner* runner_;
  std::function<absl::Time()> now_;
  std::function<void(const Job&)> on_progress_;
  absl::Time deadline_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::map<std::string, Job*> by_text_;
  std::map<CandidateKey, CandidateView> candidates_;
  std::set<std::string> known_pps_;     // access PPs for which a small job was considered
  std::set<std::string> explored_pps_;  // access PPs of complete big jobs
  uint32_t explored_classes_ = 0;
  Job* running_ = nullptr;
  bool verify_outdated_ = false;  // the running verify job lacks a new candidate
};

}  // namespace mc::checker

#endif  // MC_CHECKER_JOB_ENGINE_H_
