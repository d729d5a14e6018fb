// Worker: several processes for one search (crew.h).
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "checker/agent/worker.h"
#include "sched/kernel_state.h"
#include "sched/other_processes.h"

namespace mc::checker {
namespace {

using sched::g_scheduler;
using std::chrono::duration;
using std::chrono::milliseconds;

// A search gets a crew when it has run for so long, and so long seems to be left: making a copy
// takes about a millisecond of both processes.
constexpr duration<double> kLeastRun(0.0005), kLeastLeft(0.005);
constexpr uint64_t kLeastExecutions = 32;
// A search whose items are smaller than that, on average of so many, is faster alone: handing out
// an item costs about as much as running it.
constexpr size_t kItemsToJudge = 64;
constexpr uint64_t kLeastItem = 16;  // executions
// How often a helper tells how many executions it has run.
constexpr milliseconds kReportEvery(200);

std::string WhatLasts() {
  return "the program does what other processes could notice: " + sched::LastingSystemCalls();
}

}  // namespace

// -- The worker ----------------------------------------------------------------------------------

void Worker::MaybeFormCrew(Job& job, uint64_t executions_left, bool stop_on_bug) {
  if (helper_ != nullptr || job.workers() == 1) return;
  const dpor::Search& search = job.search();
  if (!job.shares_at_once()) {
    const duration<double> in_slice = Clock::now() - slice_begin_;
    if (search.runs() < kLeastExecutions || in_slice < kLeastRun) return;
    const double seconds = seconds_before_slice_ + in_slice.count();
    const double left = job.Estimate() / static_cast<double>(search.runs()) - 1;
    crew_was_tried_ = left * seconds < kLeastLeft.count();
    if (crew_was_tried_) return;
  }
  crew_was_tried_ = true;
  if (sched::ProcessesWouldMeet()) {
    job.StayAlone(
        "the program has files open between executions, shares memory with others, or has "
        "changed what cannot be put back");
    return;
  }
  dpor::Frontier& frontier = job.OpenFrontier();
  runs_without_crew_ = search.runs();
  items_without_crew_ = frontier.finished();
  crew_found_bug_ = crew_learned_ = false;
  crew_restart_.clear();
  CrewListener& listener = *this;
  crew_ = std::make_unique<Crew>(frontier, listener, executions_left, job.memory());
  g_scheduler.ShareNames(crew_->state().names);
  for (uint32_t k = 1; k < job.workers(); ++k) {
    const int added = crew_->Add();
    if (added < 0) ServeAsHelper(job, stop_on_bug);
    if (added == 0) break;
  }
  if (crew_->size() == 0) crew_ = nullptr;
}

bool Worker::WorkWithCrew(Job& job, bool stop_on_bug, SliceEnd* end) {
  crew_->Attend();
  if (sched::HasLastingEffects()) crew_restart_ = WhatLasts();
  if (!job.frontier()->error().empty()) {
    crew_restart_ = "a fault of mc, please report it: " + job.frontier()->error();
  }
  if (crew_found_bug_ && stop_on_bug) {
    *end = SliceEnd::kBug;
    return false;
  }
  if (!crew_restart_.empty()) {
    job.StayAlone(crew_restart_);
    BeginAgain(job, job.why_alone().c_str());
    return true;
  }
  if (crew_learned_) {
    RestartWithWhatWasLearned(job);
    return true;
  }
  job.search().shared()->AddCounts(job.frontier()->TakeCounts());
  const size_t items = job.frontier()->finished() - items_without_crew_;
  if (items >= kItemsToJudge && !job.shares_at_once() &&
      job.search().runs() - runs_without_crew_ < kLeastItem * items) {
    job.StayAlone("its parts are so small that handing them out takes longer than running them");
    BeginAgain(job, job.why_alone().c_str());
    return true;
  }
  if (crew_->hungry()) {
    job.search().shared()->GiveAway();
    crew_->Feed();
  }
  return true;
}

void Worker::AwaitHelpers() {
  crew_->GiveTicketBack();
  crew_->Wait(milliseconds(20));
}

void Worker::DisbandCrew(Job& job) {
  crew_->Disband();
  crew_ = nullptr;
  job.search().shared()->AddCounts(job.frontier()->TakeCounts());
  if (!crew_restart_.empty()) job.StayAlone(crew_restart_);
  job.restart_due |= crew_learned_ || !crew_restart_.empty();
}

void Worker::OnLine(std::string_view line) {
  Message message;
  if (!Message::Decode(line, &message)) return;
  crew_found_bug_ |= message.type() == "bug";
  channel_->Send(message);
}

// The helper's own message tells the supervisor of it.
void Worker::OnCandidate(const racedet::Candidate& candidate) {
  racedet::CandidateTable& table = active_->candidates();
  table.Merge(candidate);
  table.TakeChanges(&changes_);
  for (const uint32_t index : changes_) {
    const racedet::Candidate& merged = table[index];
    if (!active_->LearnsFrom(merged)) continue;
    crew_learned_ |= active_->Learn(merged.earlier.pc, merged.later.pc);
  }
}

void Worker::OnRestart(std::string_view reason) { crew_restart_ = reason; }

void Worker::OnBye(const CrewBye& bye) {
  active_->repeated += bye.repeated;
  active_->handlers_waited |= bye.handlers_waited != 0;
}

// -- A helper ------------------------------------------------------------------------------------

void Worker::ServeAsHelper(Job& job, bool stop_on_bug) {
  CrewState& state = crew_->state();
  helper_ = std::make_unique<HelperEnd>(crew_->helper_socket(),
                                        static_cast<uint32_t>(crew_->helper_number()), &state);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  channel_ = helper_.get();
  crew_ = nullptr;
  // Its own, where nobody looks at it: what a helper dies of the worker will see for itself.
  void* const steps = mmap(nullptr, sizeof shared_->step, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  static std::atomic<uint32_t> step_count;
  g_scheduler.SetScheduleMirror(steps == MAP_FAILED ? nullptr : static_cast<uint16_t*>(steps),
                                SharedState::kMaxSteps, &step_count, &helper_->own().heartbeat,
                                &helper_->own().in_program);
  g_scheduler.SetLastWords(&helper_->own().last_words);
  spill_.LeaveToOriginal();
  job.search().shared()->BecomeHelper(helper_.get());
  const uint64_t repeated_before = job.repeated;
  const uint64_t semaphores_before = job.candidates().semaphore_facts();
  Clock::time_point last_report = Clock::now();
  for (uint64_t run = 0; state.stop.load(std::memory_order_relaxed) == 0; ++run) {
    if (!state.TakeTicket()) break;
    const bool ran = g_scheduler.RunExecution(job.search(), true);
    job.repeated += g_scheduler.repeated_events();
    if (!ran) {
      ReportFailureToRun(job);
      break;
    }
    SliceEnd end;
    if (!AfterExecution(job, stop_on_bug, &end)) break;
    if (sched::HasLastingEffects()) {
      helper_->AskForRestart(WhatLasts());
    }
    // Which semaphores serve as locks is known to this process only.
    if (job.candidates().semaphore_facts() != semaphores_before) {
      helper_->AskForRestart("which of its semaphores serve as locks is known to one process only");
    }
    if (state.hungry.load(std::memory_order_relaxed) != 0) {
      job.search().shared()->GiveAway();
      helper_->Flush();
    }
    if ((run & 15) != 0 || Clock::now() - last_report < kReportEvery) continue;
    last_report = Clock::now();
    helper_->NoteMemory();
    job.search().shared()->TellCounts();
    helper_->Flush();
  }
  job.search().shared()->Leave();
  helper_->SayBye({job.repeated - repeated_before, g_scheduler.handlers_have_waited() ? 1u : 0u});
}

}  // namespace mc::checker
