#include "checker/worker_runner.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "checker/certificate/trace_code.h"
#include "checker/divergence.h"
#include "checker/interruption.h"
#include "checker/text.h"
#include "checker/worker_death.h"

namespace mc::checker {
namespace {

// Longer than any slice: a worker that says nothing for so long is lost.
constexpr absl::Duration kSilence = absl::Minutes(3);
// A picture of more executions than this is of no use to anybody.
constexpr size_t kMostStreamedExecutions = 20000;

JobProgress ParseProgress(const Message& message) {
  JobProgress progress;
  progress.executions = message.Number("executions");
  progress.blocked = message.Number("blocked");
  progress.transitions = message.Number("transitions");
  progress.transitions_repeated = message.Number("repeated");
  progress.estimate = std::max(message.Real("estimate"), message.Real("lower_bound"));
  progress.seconds = message.Real("seconds");
  progress.chance = message.Real("chance");
  progress.left_out = message.Number("left_out") != 0;
  if (message.Has("preemptions_covered")) {
    progress.preemptions_covered = static_cast<uint32_t>(message.Number("preemptions_covered"));
  }
  return progress;
}

std::string EncodeRanges(const std::vector<sched::CodeRange>& ranges) {
  std::string text;
  for (const sched::CodeRange& range : ranges) {
    absl::StrAppend(&text, text.empty() ? "" : ";", range.begin, ",", range.end);
  }
  return text;
}

// A signal that is sent to a whole group reaches the worker and us, in either order.
bool InterruptedSoon() {
  if (!Interrupted()) absl::SleepFor(absl::Milliseconds(200));
  return Interrupted();
}

}  // namespace

Message JobMessage(uint64_t id, const PpSet& pps, std::vector<sched::CodeRange> ranges,
                   const std::string& test, const SearchSettings& settings) {
  Message message("job");
  message.Set("id", id);
  message.Set("classes", uint64_t{pps.classes()});
  SortAndMerge(&ranges);
  message.Set("ranges", EncodeRanges(ranges));
  if (!test.empty()) message.Set("test", test);
  settings.AddTo(&message);
  return message;
}

std::vector<ScheduleStep> RecoverSteps(const SharedState& shared) {
  std::vector<ScheduleStep> steps;
  const uint32_t count = std::min(shared.steps.load(), SharedState::kMaxSteps);
  for (uint32_t i = 0; i < count; ++i) {
    const uint16_t entry = shared.step[i];
    if ((entry & 0x8000) == 0) {
      steps.emplace_back().thread = entry;
    } else if (!steps.empty()) {
      steps.back().choices.push_back(entry & 0x7fff);
    }
  }
  return steps;
}

bool WorkerRunner::Define(int job, const PpSet& pps) {
  std::vector<sched::CodeRange> ranges;
  for (const std::string& line : pps.accesses()) {
    const std::vector<sched::CodeRange> more = symbolizer_->RangesOf(line);
    if (more.empty()) {
      failure_ = absl::InvalidArgumentError(absl::StrCat("there is no code at access:", line,
                                                         " in the harness: is it built with -g?"));
      return false;
    }
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  Message message = JobMessage(static_cast<uint64_t>(job), pps, std::move(ranges), options_.test,
                               options_.settings);
  if (options_.memory != 0) {
    message.Set("memory", options_.memory)
        .Set("requests", options_.request_memory)
        .Set("spill", options_.spill_folder);
  }
  message.Set("workers", uint64_t{options_.workers});
  if (options_.eager_workers) message.Set("eager", uint64_t{1});
  const bool goes_on = repeated_.contains(job) && shared_sites_.contains(job);
  if (goes_on) message.Set("sites", shared_sites_[job]);
  message.Set("tree", uint64_t{options_.stream_executions});
  if (options_.certificate != nullptr) {
    message.Set("record", uint64_t{1});
    options_.certificate->Begin();
  }
  message.Set("final_states", uint64_t{options_.final_states});
  if (options_.traces) message.Set("traces", uint64_t{1});
  harness_->Send(message);
  defined_.insert(job);
  return true;
}

SliceResult WorkerRunner::Run(int job, const PpSet& pps, const SliceLimits& limits,
                              JobEvents& events) {
  job_ = job;
  pps_ = pps.Text();
  if (journal_ == nullptr) return RunInWorker(job, pps, limits, events);
  if (journal_->replaying()) return Repeat(job, events);
  if (Records()) {
    Record(Message("slice").Set("job", static_cast<uint64_t>(job)).Set("pps", pps_));
  }
  SliceLimits until_commit = limits;
  until_commit.time = std::min(limits.time, commit_every_);
  const SliceResult result = RunInWorker(job, pps, until_commit, events);
  RecordEnd(result);
  return result;
}

SliceResult WorkerRunner::RunInWorker(int job, const PpSet& pps, const SliceLimits& limits,
                                      JobEvents& events) {
  if (!harness_->worker_alive()) {
    defined_.clear();
    if (absl::Status status = harness_->ForkWorker(); !status.ok()) return Fail(status);
  }
  if (!defined_.contains(job)) {
    progress_ = JobProgress();
    if (!repeated_.contains(job)) shared_sites_.erase(job);
    full_barriers_ = false;
    if (!Define(job, pps)) return {SliceEnd::kFailed, false};
    if (repeated_.erase(job) != 0 && !SendState(job)) return {SliceEnd::kFailed, false};
  }
  Message run("run");
  run.Set("id", static_cast<uint64_t>(job));
  run.Set("executions", limits.executions);
  run.Set("milliseconds",
          static_cast<uint64_t>(std::max<int64_t>(1, absl::ToInt64Milliseconds(limits.time))));
  run.Set("stop_on_bug", uint64_t{limits.stop_on_bug});
  harness_->Send(run);
  for (;;) {
    const HarnessProcess::Event event = harness_->Receive(kSilence);
    switch (event.kind) {
      case HarnessProcess::EventKind::kMessage:
        if (Records()) Record(event.message);
        if (const std::optional<SliceResult> end = OnMessage(event.message, events)) return *end;
        break;
      case HarnessProcess::EventKind::kTimeout:
        harness_->StopWorker();
        return Fail(absl::DeadlineExceededError(
            "the harness has said nothing for minutes; its worker was stopped"));
      default:
        return OnDeath(event, events);
    }
  }
}

void WorkerRunner::Drop(int job) {
  unsaved_.erase(job);
  if (Records() && !journal_->replaying()) {
    repeated_.erase(job);
    journal_failure_ = journal_->SetState(job, "");
  }
  if (defined_.erase(job) == 0 || !harness_->worker_alive()) return;
  Message message("drop");
  harness_->Send(message.Set("id", static_cast<uint64_t>(job)));
}

bool WorkerRunner::MemoryIsShort() {
  if (journal_ != nullptr && journal_->replaying()) {
    const bool was_short = journal_->Peek().type() == "short";
    if (was_short) journal_->Take();
    return was_short;
  }
  const bool is_short =
      options_.memory != 0 && harness_->SampleWorkerRss() * 1024 > options_.memory;
  if (is_short && Records()) Record(Message("short"));
  return is_short;
}

// ---------------------------------------------------------------------------------------------
// What the worker says

void WorkerRunner::Report(JobEvents& events, const Message& message) {
  progress_ = ParseProgress(message);
  events.OnProgress(progress_);
}

std::optional<SliceResult> WorkerRunner::OnMessage(const Message& message, JobEvents& events) {
  if (message.Has("threads")) {
    threads_.clear();
    for (std::string_view name : Split(message.Text("threads"), ';')) threads_.emplace_back(name);
  }
  handlers_waited_ |= message.Number("handlers_waited") != 0;
  helpers_rss_kb_ = std::max(helpers_rss_kb_, message.Number("helpers_rss"));
  if (message.Has("alone")) why_alone_ = message.Text("alone");
  spilled_requests_ = std::max(spilled_requests_, message.Number("spilled"));
  if (message.Has("spill_problem")) spill_problem_ = message.Text("spill_problem");
  const std::string& type = message.type();
  // Late words about a job that was dropped.
  if (message.Has("id") && message.Number("id") != static_cast<uint64_t>(job_)) return std::nullopt;
  if (type == "progress") {
    Report(events, message);
  } else if (type == "race") {
    OnRaceMessage(message, events);
  } else if (type == "failed-access") {
    OnFailedAccessMessage(message, events);
  } else if (type == "bug") {
    OnBugMessage(message, events);
  } else if (type == "restart") {
    progress_ = JobProgress();
    shared_sites_[job_] = message.Text("sites");
    full_barriers_ = message.Number("full_barriers") != 0;
    if (options_.certificate != nullptr) options_.certificate->Begin();
    std::erase_if(executions_, [this](const auto& e) { return e.job == job_; });
    final_states_.erase(job_);
    events.OnRestart();
    if (const uint64_t loop = message.Number("loop"); loop != 0) {
      events.OnBoundedLoop();
      bounded_loops_.push_back({loop, ParseStack(message.Text("loop_stack"))});
    }
  } else if (type == "execution") {
    if (executions_.size() < kMostStreamedExecutions) {
      executions_.push_back(
          {job_, ParseSteps(message.Text("steps")), std::string(message.Text("outcome"))});
    }
  } else if (type == "traces") {
    std::string records;
    if (options_.certificate != nullptr && FromText(message.Text("records"), &records)) {
      options_.certificate->Add(records, message.Number("count"));
    }
  } else if (type == "final") {
    final_states_[job_].insert(
        absl::StrCat(View(message.Text("hash")), " ", View(message.Text("outcome"))));
  } else if (type == "diverged") {
    if (message.Text("message").starts_with("law check: ")) {
      return Fail(absl::InternalError(View(message.Text("message"))));
    }
    return Fail(absl::FailedPreconditionError(ExplainDivergedSearch(message, symbolizer_)));
  } else if (type == "error") {
    return Fail(absl::InternalError(View(message.Text("message"))));
  } else if (type == "complete") {
    Report(events, message);
    harness_->SampleWorkerRss();
    return SliceResult{SliceEnd::kComplete, false};
  } else if (type == "paused") {
    Report(events, message);
    harness_->SampleWorkerRss();
    const std::string_view reason = message.Text("reason");
    if (reason == "bug") return SliceResult{SliceEnd::kStoppedAtBug, false};
    if (reason == "stop") return SliceResult{SliceEnd::kInterrupted, false};
    return SliceResult{SliceEnd::kPaused, false};
  }
  return std::nullopt;
}

void WorkerRunner::OnRaceMessage(const Message& message, JobEvents& events) {
  Bug* bug = nullptr;
  const Race& race = findings_->AddRace(message, pps_, &bug);
  if (bug != nullptr) {
    if (bug->threads.empty()) bug->threads = threads_;
    bug->shared_sites = shared_sites_[job_];
    if (bug->executions == 0) {
      bug->executions = message.Has("executions") ? message.Number("executions")
                                                  : uint64_t{harness_->shared().executions};
    }
    if (on_bug_) on_bug_(bug);
  }
  events.OnCandidate(findings_->ViewOf(race));
}

// No race was seen. But what becomes of the access depends on its order with the other.
void WorkerRunner::OnFailedAccessMessage(const Message& message, JobEvents& events) {
  CandidateView view;
  view.earlier_pc = message.Number("a");
  view.later_pc = message.Number("b");
  view.earlier_pp = symbolizer_->AccessPpOf(view.earlier_pc);
  view.later_pp = symbolizer_->AccessPpOf(view.later_pc);
  view.earlier_atomic = message.Number("a_atomic") != 0;
  view.later_atomic = message.Number("b_atomic") != 0;
  view.order_known = false;
  events.OnCandidate(view);
}

void WorkerRunner::OnBugMessage(const Message& message, JobEvents& events) {
  Bug* bug = findings_->AddBug(message, pps_);
  if (bug != nullptr) bug->shared_sites = shared_sites_[job_];
  if (bug != nullptr && on_bug_) on_bug_(bug);
  events.OnBug();
}

std::set<std::string> WorkerRunner::final_states() const {
  std::set<std::string> all;
  for (const auto& [job, states] : final_states_) all.insert(states.begin(), states.end());
  return all;
}

// ---------------------------------------------------------------------------------------------
// What the worker cannot say itself

SliceResult WorkerRunner::OnDeath(const HarnessProcess::Event& event, JobEvents& events) {
  SharedState& shared = harness_->shared();
  progress_.executions = std::max<uint64_t>(progress_.executions, shared.executions);
  events.OnProgress(progress_);
  defined_.clear();
  switch (event.kind) {
    case HarnessProcess::EventKind::kInterrupted:
      return {SliceEnd::kInterrupted, true};
    case HarnessProcess::EventKind::kHang: {
      Bug bug;
      bug.kind = sched::BugKind::kLivelock;
      bug.message = "the program ran on without reaching a scheduling point";
      bug.details =
          "This is a heuristic: no thread did anything visible to others for several seconds, so "
          "it is taken for an endless loop.";
      ReportLost(std::move(bug), events);
      return {SliceEnd::kCrashed, true};
    }
    case HarnessProcess::EventKind::kOutOfMemory:
      ReportLost(BugOfTooMuchMemory(shared.last_words, options_.memory), events);
      return {SliceEnd::kCrashed, true};
    case HarnessProcess::EventKind::kGone: {
      if (InterruptedSoon()) return {SliceEnd::kInterrupted, true};
      const std::string how = harness_->HowItEnded();
      return Fail(absl::UnavailableError(absl::StrCat(
          "the harness process, which starts the workers, is gone", how.empty() ? "" : ": ", how)));
    }
    default:
      break;
  }
  if (EndedForLackOfMemory(event.status, shared.last_words)) {
    ReportLost(BugOfTooMuchMemory(shared.last_words, options_.memory), events);
    return {SliceEnd::kCrashed, true};
  }
  if (WIFEXITED(event.status) && WEXITSTATUS(event.status) == kLostChannelStatus &&
      shared.in_program == 0) {
    return Fail(absl::FailedPreconditionError(
        "the program closes file descriptors that it did not open, among them the one by which mc "
        "hears of it: let it close only its own"));
  }
  if (const int number = SignalFromOutside(event.status, shared.last_words)) {
    if (InterruptedSoon()) return {SliceEnd::kInterrupted, true};
    return Fail(absl::UnavailableError(DescribeForeignSignal(number)));
  }
  Bug bug;
  bug.kind = sched::BugKind::kCrash;
  bug.message = absl::StrCat("the harness process was lost: ", DescribeWaitStatus(event.status));
  if (shared.in_program == 0) {
    bug.details =
        "It happened between two steps of the program, in the checker's own code; memory the "
        "program has damaged can cause that.";
  }
  const absl::string_view tail = absl::StripAsciiWhitespace(harness_->ErrorTail());
  if (!tail.empty()) {
    absl::StrAppend(&bug.details, bug.details.empty() ? "" : "\n", "Its last words:\n", tail);
  }
  ReportLost(std::move(bug), events);
  return {SliceEnd::kCrashed, true};
}

void WorkerRunner::ReportLost(Bug bug, JobEvents& events) {
  bug.steps = RecoverSteps(harness_->shared());
  bug.threads = threads_;
  bug.shared_sites = shared_sites_[job_];
  bug.executions = progress_.executions;
  bug.pps = pps_;
  if (!bug.steps.empty() && bug.thread < 0) {
    bug.thread = static_cast<int>(bug.steps.back().thread);
  }
  if (Records()) RecordLost(bug);
  Bug* added = findings_->AddBug(std::move(bug));
  if (added != nullptr && on_bug_) on_bug_(added);
  events.OnBug();
}

SliceResult WorkerRunner::Fail(absl::Status status) {
  failure_ = std::move(status);
  return {absl::IsCancelled(failure_) ? SliceEnd::kInterrupted : SliceEnd::kFailed,
          !harness_->worker_alive()};
}

}  // namespace mc::checker
