// JobRunner: what the job engine needs of whatever runs the searches.
//
// The engine decides which state space is searched next and for how long; a runner does it and
// tells, through JobEvents, what the search sees. The real runner talks to a worker process
// (checker/worker_runner.h), the tests have one made up of tables.
#ifndef MC_CHECKER_JOB_RUNNER_H_
#define MC_CHECKER_JOB_RUNNER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "checker/pp_set.h"
#include "racedet/candidate.h"

namespace mc::checker {

// How far the search of a job has come since it began.
struct JobProgress {
  uint64_t executions = 0;  // completed
  uint64_t blocked = 0;     // ended by a sleep set or a bound, or with a failed assumption
  uint64_t transitions = 0;
  uint64_t transitions_repeated = 0;  // of a known prefix, executed again to get to its end
  double estimate = 0;                // executions in the whole state space; 0 if unknown
  double seconds = 0;
  bool left_out = false;  // a bound of the search has left executions out
  double chance = 0;      // of a sample: that one execution shows a bug of the kind it looks for
  // All executions with up to so many preemptions were run; of a search that goes by that.
  std::optional<uint32_t> preemptions_covered = {};
};

// A candidate as all jobs together have seen it so far.
struct CandidateView {
  uint64_t earlier_pc = 0, later_pc = 0;  // instruction addresses, the earlier one first
  std::string earlier_pp, later_pp;       // names of their access PPs
  bool earlier_atomic = false, later_atomic = false;
  bool order_known = true;  // if not, either side may be the earlier one
  racedet::CandidateStatus status = racedet::CandidateStatus::kSuspected;
};

class JobEvents {
 public:
  virtual ~JobEvents() = default;
  virtual void OnProgress(const JobProgress& progress) = 0;
  // A candidate is new to the job that runs, or has a new status.
  virtual void OnCandidate(const CandidateView& candidate) = 0;
  // A bug other than a data race.
  virtual void OnBug() = 0;
  // The search starts again from nothing.
  virtual void OnRestart() = 0;
  // A loop seems endless: of its rounds not all are searched (sched/loop_bound.h).
  virtual void OnBoundedLoop() = 0;
};

enum class SliceEnd {
  kPaused,        // a limit was reached; the search can go on
  kComplete,      // the state space is explored
  kStoppedAtBug,  // SliceLimits.stop_on_bug
  kCrashed,       // the search itself is lost to the bug it met (reported by OnBug)
  kInterrupted,   // by the user
  kFailed,        // cannot go on; the runner knows why
};

struct SliceLimits {
  uint64_t executions = 0;  // completed or not; at least 1
  absl::Duration time;
  bool stop_on_bug = true;
};

struct SliceResult {
  SliceEnd end = SliceEnd::kPaused;
  bool trees_lost = false;  // every search that is not complete must start again
};

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  // Starts or continues the search of the state space of `pps`. `job` names it in later calls.
  virtual SliceResult Run(int job, const PpSet& pps, const SliceLimits& limits,
                          JobEvents& events) = 0;
  // Is the next answer of Run known already, from an earlier search? Then no budget counts for it.
  virtual bool KnowsAnswer() const { return false; }
  // The search is not needed any more.
  virtual void Drop(int job) = 0;
  // True if suspended searches should be given up to make room.
  virtual bool MemoryIsShort() = 0;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_JOB_RUNNER_H_
