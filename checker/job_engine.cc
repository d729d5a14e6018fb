#include "checker/job_engine.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "sched/preemption_points.h"

namespace mc::checker {
namespace {

using racedet::CandidateStatus;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kExecutionsBeforeSuspension = 32;
constexpr double kSuspensionFactor = 2;
constexpr absl::Duration kFirstSlice = absl::Milliseconds(100);
constexpr absl::Duration kLongestSlice = absl::Seconds(1);
// Sets of jobs not yet run beyond this many are left to the verify job.
constexpr size_t kMostJobs = 4096;

bool CanRun(const Job& job) {
  return job.state == JobState::kFresh || job.state == JobState::kSuspended;
}

}  // namespace

double Job::ExecutionsLeft() const {
  if (complete()) return 0;
  if (progress.estimate <= 0) return kInfinity;
  return std::max(0.0, progress.estimate - static_cast<double>(progress.executions));
}

double Job::SecondsLeft() const {
  if (complete()) return 0;
  const double done = static_cast<double>(progress.executions);
  if (done <= 0 || progress.estimate <= 0) return kInfinity;
  return progress.seconds / done * ExecutionsLeft();
}

JobEngine::JobEngine(EngineOptions options, JobRunner* runner, std::function<absl::Time()> now)
    : options_(std::move(options)), runner_(runner), now_(std::move(now)) {
  deadline_ = now_() + options_.time;
  if (!options_.iterative) {
    AddJob(options_.only, JobRole::kOnly);
    return;
  }
  for (uint32_t classes : {uint32_t{0}, uint32_t{sched::kPpLock}, uint32_t{sched::kPpUnlock},
                           uint32_t{sched::kPpSync}}) {
    AddJob(PpSet(classes), JobRole::kInitial);
  }
}

SearchEnd JobEngine::Run() {
  while (Job* job = PickNext()) {
    if (const std::optional<SearchEnd> end = RunJob(job)) return *end;
  }
  return SearchEnd::kComplete;
}

// ---------------------------------------------------------------------------------------------
// Running

std::optional<SearchEnd> JobEngine::RunJob(Job* job) {
  running_ = job;
  job->started = true;
  verify_outdated_ = false;
  absl::Duration slice = kFirstSlice;
  std::optional<SearchEnd> end;
  do {
    const JobProgress total = Total();
    const uint64_t used = total.executions + total.blocked;
    const uint64_t used_by_job = job->progress.executions + job->progress.blocked;
    const absl::Duration left = deadline_ - now_();
    if (!runner_->KnowsAnswer()) {
      if (left <= absl::ZeroDuration()) end = SearchEnd::kTimeBudget;
      if (used >= options_.executions) end = SearchEnd::kExecutionBudget;
      if (end) break;
    }
    SliceLimits limits;
    limits.executions =
        std::min(options_.executions - std::min(used, options_.executions),
                 options_.executions_per_job - std::min(used_by_job, options_.executions_per_job));
    limits.time = std::min(slice, left);
    limits.stop_on_bug = !options_.keep_going;
    end = AfterSlice(job, runner_->Run(job->id, job->pps, limits, *this));
    slice = std::min(slice * 2, kLongestSlice);
  } while (!end && job == running_);
  if (CanRun(*job)) job->state = JobState::kSuspended;
  running_ = nullptr;
  return end;
}

// Decides whether `job` goes on (running_ still names it) and whether the search ends.
std::optional<SearchEnd> JobEngine::AfterSlice(Job* job, SliceResult result) {
  if (result.trees_lost) {
    for (auto& other : jobs_) {
      // Nothing of a suspended search is left: it counts as never run.
      if (other.get() != job && other->state == JobState::kSuspended) {
        other->state = JobState::kFresh;
        other->progress = JobProgress();
      }
    }
  }
  switch (result.end) {
    case SliceEnd::kInterrupted:
      return SearchEnd::kInterrupted;
    case SliceEnd::kFailed:
      return SearchEnd::kFailed;
    case SliceEnd::kStoppedAtBug:
      return SearchEnd::kBug;
    case SliceEnd::kCrashed:
      Retire(job, JobState::kCrashed);
      running_ = nullptr;
      if (!options_.keep_going) return SearchEnd::kBug;
      return std::nullopt;
    case SliceEnd::kComplete:
      Complete(job);
      running_ = nullptr;
      return std::nullopt;
    case SliceEnd::kPaused:
      break;
  }
  if (job->progress.executions + job->progress.blocked >= options_.executions_per_job) {
    Retire(job, JobState::kLimited);
    running_ = nullptr;
  } else if (job->role == JobRole::kVerify && verify_outdated_) {
    Retire(job, JobState::kReplaced);
    running_ = nullptr;
  } else if (ShouldSuspend(*job)) {
    running_ = nullptr;
  }
  MakeRoom();
  return std::nullopt;
}

void JobEngine::Complete(Job* job) {
  Retire(job, JobState::kComplete);
  explored_classes_ |= job->pps.classes();
  if (job->role == JobRole::kBig || job->role == JobRole::kVerify) {
    explored_pps_.insert(job->pps.accesses().begin(), job->pps.accesses().end());
  }
  if (!options_.bound.empty() || job->progress.left_out) return;
  for (auto& other : jobs_) {
    if (CanRun(*other) && job->pps.Includes(other->pps)) Retire(other.get(), JobState::kReplaced);
  }
}

void JobEngine::MakeRoom() {
  if (!runner_->MemoryIsShort()) return;
  Job* worst = nullptr;
  for (auto& job : jobs_) {
    if (job->state == JobState::kSuspended && job.get() != running_ &&
        (worst == nullptr || job->SecondsLeft() > worst->SecondsLeft())) {
      worst = job.get();
    }
  }
  if (worst != nullptr) Retire(worst, JobState::kDropped);
}

bool JobEngine::ShouldSuspend(const Job& job) const {
  if (job.progress.executions + job.progress.blocked < kExecutionsBeforeSuspension) return false;
  if (job.progress.estimate <= 0) return false;
  const double remaining = absl::ToDoubleSeconds(deadline_ - now_());
  if (job.SecondsLeft() <= kSuspensionFactor * remaining) return false;
  const Job* instead = BestFresh(&job);
  return instead != nullptr && UrgencyOf(*instead) != Urgency::kNone;
}

// ---------------------------------------------------------------------------------------------
// Events of the job that runs

void JobEngine::OnProgress(const JobProgress& progress) {
  running_->progress = progress;
  if (on_progress_) on_progress_(*running_);
}

void JobEngine::OnRestart() { running_->progress = JobProgress(); }

void JobEngine::OnBoundedLoop() { running_->bounds_loops = true; }

void JobEngine::OnBug() {
  running_->found_bug = true;
  if (!options_.cut_at_bugs) return;
  for (auto& job : jobs_) {
    if (job.get() != running_ && CanRun(*job) && job->pps.Includes(running_->pps)) {
      Retire(job.get(), JobState::kCancelled);
    }
  }
}

void JobEngine::OnCandidate(const CandidateView& candidate) {
  candidates_[std::minmax(candidate.earlier_pc, candidate.later_pc)] = candidate;
  if (!options_.iterative || candidate.status == CandidateStatus::kMallocRecycle) return;
  if (Covers(running_->pps, candidate)) return;
  const PpSet required = RequiredBy(candidate);
  for (const std::string& line : required.accesses()) {
    if (!known_pps_.insert(line).second) continue;
    PpSet alone;
    alone.AddAccess(line);
    AddJob(alone, JobRole::kSmall);
  }
  PpSet grown = running_->pps;
  grown.Add(required);
  AddJob(grown, JobRole::kBig);
  verify_outdated_ = true;
}

// ---------------------------------------------------------------------------------------------
// The set of jobs

Job* JobEngine::Find(const PpSet& pps) const {
  const auto found = by_text_.find(pps.Text());
  return found == by_text_.end() ? nullptr : found->second;
}

Job* JobEngine::AddJob(const PpSet& pps, JobRole role) {
  if (Job* existing = Find(pps)) {
    // {} and a PP is that PP alone: one job, which counts as what it came to be first.
    if (role == JobRole::kVerify) existing->role = JobRole::kVerify;
    return existing;
  }
  if (IncludesBuggySet(pps) || (jobs_.size() >= kMostJobs && role != JobRole::kVerify)) {
    return nullptr;
  }
  auto job = std::make_unique<Job>();
  job->id = static_cast<int>(jobs_.size()) + 1;
  job->pps = pps;
  job->role = role;
  const bool already_explored = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& other) {
    return options_.bound.empty() && !other->progress.left_out && other->complete() &&
           other->pps.Includes(pps);
  });
  if (already_explored) job->state = JobState::kReplaced;
  by_text_[pps.Text()] = job.get();
  jobs_.push_back(std::move(job));
  return jobs_.back().get();
}

void JobEngine::Retire(Job* job, JobState state) {
  job->state = state;
  if (job->started) runner_->Drop(job->id);
}

bool JobEngine::IncludesBuggySet(const PpSet& pps) const {
  return options_.cut_at_bugs && std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) {
           return job->found_bug && pps.Includes(job->pps);
         });
}

// Fresh, and not a superset of a suspended job (`as_suspended` counts as one).
bool JobEngine::MayStart(const Job& job, const Job* as_suspended) const {
  if (job.state != JobState::kFresh || &job == as_suspended) return false;
  if (as_suspended != nullptr && job.pps.Includes(as_suspended->pps)) return false;
  return std::none_of(jobs_.begin(), jobs_.end(), [&](const auto& other) {
    return other->state == JobState::kSuspended && job.pps.Includes(other->pps);
  });
}

Job* JobEngine::BestFresh(const Job* as_suspended) const {
  Job* best = nullptr;
  auto rank = [this](const Job& job) { return std::tuple(UrgencyOf(job), job.pps.Size(), job.id); };
  for (const auto& job : jobs_) {
    if (MayStart(*job, as_suspended) && (best == nullptr || rank(*job) < rank(*best))) {
      best = job.get();
    }
  }
  return best;
}

Job* JobEngine::BestSuspended() const {
  Job* best = nullptr;
  for (const auto& job : jobs_) {
    if (job->state == JobState::kSuspended &&
        (best == nullptr || job->SecondsLeft() < best->SecondsLeft())) {
      best = job.get();
    }
  }
  return best;
}

Job* JobEngine::PickNext() {
  if (saturated()) return nullptr;
  // As long as some PP is unexplored, hunt for bugs; then verify. Suspended jobs may be in the way
  // of that: they are next. Combinations of PPs that have all been explored come last: there are
  // exponentially many, and the verify job replaces them.
  Job* fresh = BestFresh(nullptr);
  if (fresh != nullptr && UrgencyOf(*fresh) != Urgency::kNone) return fresh;
  if (options_.iterative) {
    Job* verify = VerifyJob();
    if (verify != nullptr && MayStart(*verify, nullptr)) return verify;
  }
  Job* suspended = BestSuspended();
  return suspended != nullptr ? suspended : fresh;
}

// The job with everything found so far; nullptr if there can be none.
Job* JobEngine::VerifyJob() {
  PpSet everything(sched::kPpSync);
  for (const auto& [key, candidate] : candidates_) {
    if (candidate.status != CandidateStatus::kMallocRecycle) everything.Add(RequiredBy(candidate));
  }
  return AddJob(everything, JobRole::kVerify);
}

// ---------------------------------------------------------------------------------------------
// Urgency and coverage

JobEngine::Urgency JobEngine::UrgencyOfAccess(const std::string& line) const {
  if (explored_pps_.contains(line)) return Urgency::kNone;
  Urgency urgency = Urgency::kOther;
  for (const auto& [key, candidate] : candidates_) {
    if (candidate.status == CandidateStatus::kMallocRecycle) continue;
    if (candidate.earlier_pp != line && candidate.later_pp != line) continue;
    urgency =
        std::min(urgency, candidate.status == CandidateStatus::kConfirmed ? Urgency::kConfirmed
                                                                          : Urgency::kSuspected);
  }
  return urgency;
}

JobEngine::Urgency JobEngine::UrgencyOf(const Job& job) const {
  if (job.pps.empty()) return Urgency::kEmptySet;
  Urgency urgency = Urgency::kNone;
  for (const std::string& line : job.pps.accesses()) {
    urgency = std::min(urgency, UrgencyOfAccess(line));
  }
  const uint32_t unexplored = job.pps.classes() & ~explored_classes_;
  if (unexplored != 0) urgency = std::min(urgency, Urgency::kOther);
  if ((unexplored & sched::kPpUnlock) != 0) urgency = std::min(urgency, Urgency::kUnlock);
  if ((unexplored & sched::kPpLock) != 0) urgency = std::min(urgency, Urgency::kLock);
  return urgency;
}

PpSet JobEngine::RequiredBy(const CandidateView& candidate) {
  PpSet required;
  required.AddAccess(candidate.earlier_pp);
  if (NeedsBothSides(candidate)) required.AddAccess(candidate.later_pp);
  return required;
}

bool JobEngine::Covers(const PpSet& pps, const CandidateView& candidate) {
  const bool atomics = (pps.classes() & sched::kPpAtomic) != 0;
  if (!pps.IncludesAccess(candidate.earlier_pp) && !(atomics && candidate.earlier_atomic)) {
    return false;
  }
  return !NeedsBothSides(candidate) || pps.IncludesAccess(candidate.later_pp) ||
         (atomics && candidate.later_atomic);
}

std::set<std::string> JobEngine::MissingFrom(const PpSet& pps) const {
  std::set<std::string> missing;
  for (const auto& [key, candidate] : candidates_) {
    if (candidate.status == CandidateStatus::kMallocRecycle || Covers(pps, candidate)) continue;
    const PpSet required = RequiredBy(candidate);
    for (const std::string& line : required.accesses()) {
      if (!pps.IncludesAccess(line)) missing.insert(line);
    }
  }
  return missing;
}

bool JobEngine::Verifies(const Job& job) const {
  if (!job.complete() || job.bounds_loops || job.progress.left_out || !options_.bound.empty()) {
    return false;
  }
  if (options_.iterative && !job.pps.Includes(PpSet(sched::kPpSync))) return false;
  return std::all_of(candidates_.begin(), candidates_.end(), [&](const auto& entry) {
    return entry.second.status == CandidateStatus::kMallocRecycle || Covers(job.pps, entry.second);
  });
}

bool JobEngine::saturated() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) { return Verifies(*job); });
}

std::vector<CandidateView> JobEngine::UntestedCandidates() const {
  std::vector<CandidateView> untested;
  for (const auto& entry : candidates_) {
    const CandidateView& candidate = entry.second;
    if (candidate.status == CandidateStatus::kMallocRecycle) continue;
    const bool tested = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& job) {
      return job->complete() && Covers(job->pps, candidate);
    });
    if (!tested) untested.push_back(candidate);
  }
  return untested;
}

JobProgress JobEngine::Total() const {
  JobProgress total;
  for (const auto& job : jobs_) {
    total.executions += job->progress.executions;
    total.blocked += job->progress.blocked;
    total.transitions += job->progress.transitions;
    total.seconds += job->progress.seconds;
  }
  return total;
}

}  // namespace mc::checker
