// WorkerRunner: the answers of an earlier run of mc, and what is written down for a later one
// (search_journal.h).
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "checker/text.h"
#include "checker/worker_runner.h"

namespace mc::checker {
namespace {

// Writing takes at most about this share of the time.
constexpr double kShareOfTime = 0.02;
constexpr absl::Duration kMostBetweenCommits = absl::Minutes(1);
constexpr absl::Duration kLongestSave = absl::Minutes(1);

struct EndName {
  SliceEnd end;
  std::string_view name;
};
// A slice that the user interrupted can go on.
constexpr EndName kEnds[] = {
    {SliceEnd::kPaused, "paused"},      {SliceEnd::kComplete, "complete"},
    {SliceEnd::kStoppedAtBug, "bug"},   {SliceEnd::kCrashed, "crashed"},
    {SliceEnd::kInterrupted, "paused"},
};

}  // namespace

void WorkerRunner::set_journal(SearchJournal* journal, absl::Duration commit_every) {
  journal_ = journal;
  commit_every_ = commit_every;
  begin_ = absl::Now();
  next_commit_ = begin_;
}

// ---------------------------------------------------------------------------------------------
// What there was

SliceResult WorkerRunner::Repeat(int job, JobEvents& events) {
  const Message slice = journal_->Take();
  if (slice.type() != "slice" || slice.Number("job") != static_cast<uint64_t>(job) ||
      slice.Text("pps") != pps_) {
    return Fail(absl::DataLossError(
        absl::StrCat("--resume: the search does not go as the checkpoint says: it asks for job ",
                     job, " (", pps_, "). Begin again with another folder")));
  }
  repeated_.insert(job);
  while (journal_->replaying()) {
    const Message record = journal_->Take();
    if (record.type() == "end") {
      const auto* const end = std::ranges::find_if(
          kEnds, [&](const EndName& name) { return name.name == record.Text("how"); });
      if (end == std::end(kEnds)) break;
      const bool trees_lost = record.Number("trees_lost") != 0;
      if (trees_lost) repeated_.clear();
      return {end->end, trees_lost};
    }
    if (record.type() == "lost") {
      progress_.executions = record.Number("executions");
      events.OnProgress(progress_);
      Bug* added = findings_->AddBug(record, pps_);
      if (added != nullptr) added->shared_sites = shared_sites_[job_];
      if (added != nullptr && on_bug_) on_bug_(added);
      events.OnBug();
    } else {
      OnMessage(record, events);
    }
  }
  return Fail(absl::DataLossError(
      "--resume: the checkpoint is damaged (a slice has no end): begin again with another folder"));
}

// Without a state the search begins again: that takes longer, and comes to the same.
bool WorkerRunner::SendState(int job) {
  const absl::StatusOr<std::string> state = journal_->StateOf(job);
  if (!state.ok()) {
    failure_ = state.status();
    return false;
  }
  constexpr size_t kPart = 32 << 10;
  for (size_t at = 0; at < state->size(); at += kPart) {
    Message message("state");
    message.Set("id", static_cast<uint64_t>(job));
    harness_->Send(message.Set("part", state->substr(at, kPart)));
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// What there is

void WorkerRunner::Record(Message message) {
  if (message.type() == "progress") return;  // the slice's last message has it, too
  // What the supervisor adds to it.
  if (message.type() == "race" && !message.Has("executions")) {
    message.Set("executions", uint64_t{harness_->shared().executions});
  }
  journal_->Append(message);
}

// As a message of the worker, which could not send it any more.
void WorkerRunner::RecordLost(const Bug& bug) {
  Message message("lost");
  message.Set("kind", sched::NameOf(bug.kind)).Set("message", bug.message);
  message.Set("details", bug.details).Set("pc", bug.pc).Set("executions", bug.executions);
  if (bug.thread >= 0) message.Set("thread", static_cast<uint64_t>(bug.thread));
  message.Set("stack", absl::StrJoin(bug.stack, ",")).Set("schedule", EncodeSteps(bug.steps));
  message.Set("threads", absl::StrJoin(bug.threads, ";")).Set("preemptions", bug.preemptions);
  journal_->Append(message);
}

void WorkerRunner::RecordEnd(const SliceResult& result) {
  if (!Records()) return;
  const auto* const end =
      std::ranges::find_if(kEnds, [&](const EndName& name) { return name.end == result.end; });
  // The worker that knew how far the search had come was killed: what was committed before counts.
  const bool is_lost = result.end == SliceEnd::kInterrupted && result.trees_lost;
  if (end == std::end(kEnds) || is_lost) {
    journal_failure_ = absl::CancelledError("the search ended without a state to go on with");
    return;
  }
  Message message("end");
  message.Set("how", end->name).Set("trees_lost", uint64_t{result.trees_lost});
  Record(message);
  unsaved_.insert(job_);
  if (result.trees_lost) {
    journal_->ForgetStates();
    unsaved_.clear();
    repeated_.clear();
  }
  if (absl::Now() >= next_commit_) Commit();
}

void WorkerRunner::CommitAtEnd() {
  if (Records() && !journal_->replaying()) Commit();
}

void WorkerRunner::Commit() {
  const absl::Time begin = absl::Now();
  for (const int job : unsaved_) {
    if (!SaveState(job)) return;
  }
  unsaved_.clear();
  const double seconds = journal_->seconds_before() + absl::ToDoubleSeconds(begin - begin_);
  journal_failure_ = journal_->Commit(seconds);
  const absl::Time end = absl::Now();
  const absl::Duration rest = (end - begin) / kShareOfTime;
  // More often while little has been done: also a run that is killed early leaves most of it.
  const absl::Duration least = std::min(commit_every_, end - begin_);
  next_commit_ = end + std::max(least, std::min(rest, kMostBetweenCommits));
}

// False if there can be no more commits.
bool WorkerRunner::SaveState(int job) {
  std::string state;
  if (defined_.contains(job) && harness_->worker_alive()) {
    harness_->Send(Message("save").Set("id", static_cast<uint64_t>(job)));
    for (;;) {
      const HarnessProcess::Event event = harness_->Receive(kLongestSave);
      if (event.kind != HarnessProcess::EventKind::kMessage) {
        journal_failure_ = absl::UnavailableError("the worker was lost while its search was saved");
        return false;
      }
      if (event.message.Number("id") != static_cast<uint64_t>(job)) continue;
      if (event.message.type() == "saved") break;
      if (event.message.type() == "state") state += event.message.Text("part");
    }
  }
  journal_failure_ = journal_->SetState(job, state);
  return journal_failure_.ok();
}

}  // namespace mc::checker
