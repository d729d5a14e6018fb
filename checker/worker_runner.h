// WorkerRunner: runs the engine's jobs in worker processes of the harness.
//
// Turns a job into the messages of checker/protocol.h, what the worker answers into findings, and
// the worker's death or hang into the bug it is. If somebody else killed it, that is no bug of the
// program but an error. A new worker is started whenever one is needed; the jobs the old one knew
// are then defined again when they are next run.
//
// With a journal (search_journal.h) it first gives the answers that are in it, without a worker,
// and then writes down its own (worker_runner_journal.cc).
#ifndef MC_CHECKER_WORKER_RUNNER_H_
#define MC_CHECKER_WORKER_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "checker/certificate/certificate_file.h"
#include "checker/findings.h"
#include "checker/harness_process.h"
#include "checker/job_runner.h"
#include "checker/search_journal.h"
#include "checker/search_settings.h"
#include "checker/symbolizer.h"

namespace mc::checker {

struct WorkerOptions {
  SearchSettings settings = {};
  std::string test = {};  // "" for the program's main
  bool stream_executions = false;
  bool final_states = false;
  bool traces = false;            // among the final states, for tests
  uint64_t memory = 0;            // bytes a worker may use; 0: no limit
  uint64_t request_memory = 0;    // of these, for what searches have still to do
  std::string spill_folder = {};  // for what there is no memory for
  uint32_t workers = 1;           // processes that share a search
  bool eager_workers = false;
  CertificateWriter* certificate = nullptr;  // what is run is recorded there
};

// One explored execution, as streamed.
struct ExploredExecution {
  int job = 0;
  std::vector<ScheduleStep> steps;
  std::string outcome;  // ok, bug or blocked
};

// A loop of which not all rounds are searched.
struct BoundedLoop {
  uint64_t pc = 0;
  std::vector<uint64_t> stack;  // innermost first
};

class WorkerRunner final : public JobRunner {
 public:
  // All of them must outlive the runner.
  WorkerRunner(const WorkerOptions& options, HarnessProcess* harness, Findings* findings,
               Symbolizer* symbolizer)
      : options_(options), harness_(harness), findings_(findings), symbolizer_(symbolizer) {}

  // Before the first Run: a journal, which must outlive the runner, and how long to wait at least
  // from one commit to the next.
  void set_journal(SearchJournal* journal, absl::Duration commit_every);
  // The search is over, for this time: the last commit.
  void CommitAtEnd();
  // Why nothing more is committed; OK if it is.
  const absl::Status& journal_failure() const { return journal_failure_; }

  // Called for each new bug, as soon as it is known.
  void set_on_bug(std::function<void(Bug*)> callback) { on_bug_ = std::move(callback); }

  SliceResult Run(int job, const PpSet& pps, const SliceLimits& limits, JobEvents& events) override;
  bool KnowsAnswer() const override { return journal_ != nullptr && journal_->replaying(); }
  void Drop(int job) override;
  bool MemoryIsShort() override;

  // Why Run said kFailed.
  const absl::Status& failure() const { return failure_; }
  // What only some runs stream.
  const std::vector<ExploredExecution>& executions() const { return executions_; }
  const std::vector<std::string>& threads() const { return threads_; }  // names in slot order
  std::set<std::string> final_states() const;
  // Has an execution held exit handlers back until other threads were done?
  bool handlers_waited() const { return handlers_waited_; }
  // The most memory that a process which shared a search ever took.
  uint64_t helpers_rss_kb() const { return helpers_rss_kb_; }
  // Why a search was not shared by several processes although it might have been; or "".
  const std::string& why_alone() const { return why_alone_; }
  // How many waiting requests a worker had to put into a file, and why it could not; or "".
  uint64_t spilled_requests() const { return spilled_requests_; }
  const std::string& spill_problem() const { return spill_problem_; }
  // What the search of the job learned to preempt before, and how it takes barriers.
  std::string shared_sites(int job) const {
    const auto found = shared_sites_.find(job);
    return found == shared_sites_.end() ? "" : found->second;
  }
  bool full_barriers() const { return full_barriers_; }
  // In any job so far.
  const std::vector<BoundedLoop>& bounded_loops() const { return bounded_loops_; }

 private:
  SliceResult RunInWorker(int job, const PpSet& pps, const SliceLimits& limits, JobEvents& events);
  // nullopt: the slice goes on.
  std::optional<SliceResult> OnMessage(const Message& message, JobEvents& events);
  bool Define(int job, const PpSet& pps);
  void OnRaceMessage(const Message& message, JobEvents& events);
  void OnFailedAccessMessage(const Message& message, JobEvents& events);
  void OnBugMessage(const Message& message, JobEvents& events);
  SliceResult OnDeath(const HarnessProcess::Event& event, JobEvents& events);
  // Adds what the worker left in shared memory, and for the rest is not told of.
  void ReportLost(Bug bug, JobEvents& events);
  SliceResult Fail(absl::Status status);
  void Report(JobEvents& events, const Message& message);

  // -- the journal
  bool Records() const { return journal_ != nullptr && journal_failure_.ok(); }
  SliceResult Repeat(int job, JobEvents& events);
  void Record(Message message);
  void RecordLost(const Bug& bug);
  void RecordEnd(const SliceResult& result);
  bool SendState(int job);
  bool SaveState(int job);
  void Commit();

  WorkerOptions options_;
  HarnessProcess* harness_;
  Findings* findings_;
  Symbolizer* symbolizer_;
  std::function<void(Bug*)> on_bug_;
  std::set<int> defined_;                    // in the worker that lives
  int job_ = 0;                              // that runs
  std::string pps_;                          // its set
  JobProgress progress_;                     // last heard of it
  std::map<int, std::string> shared_sites_;  // by job, as its last restart told
  bool full_barriers_ = false;               // of the job that runs, likewise
  std::vector<std::string> threads_;         // names in slot order, last heard
  absl::Status failure_;
  std::vector<ExploredExecution> executions_;
  std::map<int, std::set<std::string>> final_states_;  // by job, since its last restart
  bool handlers_waited_ = false;
  uint64_t helpers_rss_kb_ = 0;
  std::string why_alone_;
  uint64_t spilled_requests_ = 0;
  std::string spill_problem_;
  std::vector<BoundedLoop> bounded_loops_;

  SearchJournal* journal_ = nullptr;
  absl::Duration commit_every_;
  absl::Time begin_, next_commit_;
  absl::Status journal_failure_;
  std::set<int> repeated_;  // jobs of the journal, until a worker is told of them
  std::set<int> unsaved_;   // ran since the last commit
};

// The `job` message that defines the search of a PP set whose accesses are `ranges`.
Message JobMessage(uint64_t id, const PpSet& pps, std::vector<sched::CodeRange> ranges,
                   const std::string& test, const SearchSettings& settings);

// The schedule the worker left in shared memory.
std::vector<ScheduleStep> RecoverSteps(const SharedState& shared);

}  // namespace mc::checker

#endif  // MC_CHECKER_WORKER_RUNNER_H_
