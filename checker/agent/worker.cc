#include "checker/agent/worker.h"

#include <algorithm>

#include "checker/agent/output.h"
#include "checker/agent/registered_tests.h"
#include "checker/word_text.h"
#include "sched/kernel_state.h"
#include "sched/other_processes.h"
#include "sched/start.h"

namespace mc::checker {
namespace {

using sched::g_scheduler;

// The body of the process's program, and the registered test that the active job runs.
ProgramBody g_body;
const RegisteredTest* g_test = nullptr;

// How often the supervisor is told how far a search is, if that is soon said, and if not.
constexpr std::chrono::milliseconds kProgressEvery(200), kProgressAtLeastEvery(10'000);

int RunProgram(void*) {
  if (g_test != nullptr) {
    g_test->body();
    return 0;
  }
  if (g_body.body != nullptr) {
    g_body.body(g_body.context);
    return 0;
  }
  g_scheduler.SetPlaceOfMain(reinterpret_cast<uint64_t>(g_body.entry.main) + 1);
  return g_body.entry.main(g_body.entry.argc, g_body.entry.argv, g_body.entry.environment);
}

}  // namespace

Worker::Worker(Channel& channel, SharedState* shared, const ProgramBody& body)
    : channel_(&channel), shared_(shared) {
  g_body = body;
}

int Worker::Serve() {
  Message message;
  while (channel_->Receive(&message)) {
    if (message.type() == "job") {
      Define(message);
    } else if (message.type() == "run") {
      Run(message);
    } else if (message.type() == "state") {
      const auto job = jobs_.find(message.Number("id"));
      if (job != jobs_.end()) job->second->state_text += message.Text("part");
    } else if (message.type() == "save") {
      Save(message.Number("id"));
    } else if (message.type() == "drop") {
      const auto job = jobs_.find(message.Number("id"));
      if (job != jobs_.end()) {
        if (active_ == job->second.get()) active_ = nullptr;
        jobs_.erase(job);
      }
    } else if (message.type() == "quit") {
      return 0;
    }
  }
  return kLostChannelStatus;
}

void Worker::Define(const Message& message) {
  std::string error;
  std::unique_ptr<Job> job = Job::FromMessage(message, &spill_, &error);
  if (job != nullptr && !job->test().empty() && FindRegisteredTest(job->test()) == nullptr) {
    error = "the harness has no test named " + job->test();
    job = nullptr;
  }
  if (job != nullptr && sched::ThreadBeforeMain()) {
    error =
        "a thread was started before main, by the constructor of a global object: mc begins at "
        "main and cannot schedule it. Start threads in main or in what it calls";
    job = nullptr;
  }
  if (job == nullptr) {
    channel_->Send(Message("error").Set("id", message.Number("id")).Set("message", error));
    return;
  }
  const uint64_t id = job->id();
  if (active_ != nullptr && active_->id() == id) active_ = nullptr;
  jobs_[id] = std::move(job);
}

// In pieces, since a line is kept in memory as a whole.
void Worker::Save(uint64_t id) {
  constexpr size_t kPart = 32 << 10;
  const auto found = jobs_.find(id);
  dpor::Words words;
  if (found != jobs_.end() && found->second->WriteState(&words)) {
    const std::string text = TextOfWords(words);
    for (size_t at = 0; at < text.size(); at += kPart) {
      channel_->Send(Message("state").Set("id", id).Set("part", text.substr(at, kPart)));
    }
  }
  channel_->Send(Message("saved").Set("id", id).Set("empty", uint64_t{words.empty()}));
}

// A job that another process began.
bool Worker::TakeUp(Job& job) {
  dpor::Words words;
  const bool good = ParseWords(job.state_text, &words) && job.ReadState(words);
  job.state_text.clear();
  if (good) return true;
  channel_->Send(Message("error")
                     .Set("id", job.id())
                     .Set("message",
                          "the checkpoint's state of a search is "
                          "damaged: begin without --resume"));
  return false;
}

void Worker::Run(const Message& message) {
  const auto found = jobs_.find(message.Number("id"));
  if (found == jobs_.end()) {
    channel_->Send(Message("error").Set("id", message.Number("id")).Set("message", "no such job"));
    return;
  }
  Job& job = *found->second;
  if (!initialised_) {
    initialised_ = true;
    sched::MakeRoomForDescriptors();
    PrepareOutput();
    SilenceOutput();
    g_scheduler.Initialise(&RunProgram, nullptr);
    g_scheduler.SetScheduleMirror(shared_->step, SharedState::kMaxSteps, &shared_->steps,
                                  &shared_->transitions, &shared_->in_program);
    g_scheduler.SetLastWords(&shared_->last_words);
  }
  if (!job.state_text.empty() && !TakeUp(job)) return;
  if (active_ != &job) {
    g_test = job.test().empty() ? nullptr : FindRegisteredTest(job.test());
    if (g_test == nullptr && g_body.body == nullptr && RegisteredTestCount() == 1 &&
        RunsOnlyRegisteredTests()) {
      g_test = &RegisteredTestAt(0);
    }
    g_scheduler.PrepareNames(job.thread_names());
    job.Activate(g_scheduler);
    active_ = &job;
  }
  const uint64_t executions = message.Number("executions");
  const uint64_t milliseconds = message.Number("milliseconds");
  const SliceEnd end = RunSlice(job, executions == 0 ? ~uint64_t{0} : executions,
                                std::chrono::milliseconds(milliseconds == 0 ? 1000 : milliseconds),
                                message.Number("stop_on_bug") != 0);
  SendRecordedTraces(job);
  if (end == SliceEnd::kError) return;  // said already
  Message last(end == SliceEnd::kComplete ? "complete" : "paused");
  last.Set("id", job.id());
  AddProgress(job, &last);
  static constexpr const char* kReasons[] = {"", "executions", "time", "stop", "bug", ""};
  if (end != SliceEnd::kComplete) last.Set("reason", kReasons[static_cast<int>(end)]);
  if (job.is_replay()) last.Set("lasting", sched::LastingSystemCalls());
  channel_->Send(last);
}

Worker::SliceEnd Worker::RunSlice(Job& job, uint64_t executions, std::chrono::milliseconds time,
                                  bool stop_on_bug) {
  slice_begin_ = Clock::now();
  seconds_before_slice_ = job.seconds;
  shared_->job.store(static_cast<uint32_t>(job.id()));
  SliceEnd end = SliceEnd::kLimit;
  bool same_search = true;  // Activate told the search to resume if another one ran before
  if (job.shows_output()) RestoreOutput();
  if (job.restart_due) RestartWithWhatWasLearned(job);
  uint64_t transitions_at_last_look = job.search().transitions();
  crew_was_tried_ = false;
  uint64_t waited = 0;
  for (uint64_t run = 0; run - waited < executions; ++run) {
    if (crew_ != nullptr && !crew_->state().TakeTicket()) break;
    const bool ran = g_scheduler.RunExecution(job.search(), same_search);
    job.repeated += g_scheduler.repeated_events();
    const bool waits = !ran && crew_ != nullptr && job.search().shared()->waits();
    if (waits) {
      ++waited;
      AwaitHelpers();
    } else if (!ran && BeginsAgainAlone(job)) {
      continue;
    } else if (!ran) {
      end = ReportFailureToRun(job) ? SliceEnd::kError : SliceEnd::kComplete;
      break;
    } else {
      shared_->executions.store(job.search().executions(), std::memory_order_relaxed);
      if (!AfterExecution(job, stop_on_bug, &end)) break;
    }
    if (crew_ != nullptr && !WorkWithCrew(job, stop_on_bug, &end)) break;
    if (crew_ == nullptr && job.shares_at_once()) {
      MaybeFormCrew(job, executions - run - 1, stop_on_bug);
    }
    // Long executions are few: the clock is looked at more often.
    const uint64_t transitions = job.search().transitions();
    if (!waits && (run & 15) != 0 && transitions - transitions_at_last_look < 10000) continue;
    transitions_at_last_look = transitions;
    if (crew_ != nullptr) crew_->LookAfter();
    const Clock::time_point now = Clock::now();
    if (now - slice_begin_ >= time) {
      end = SliceEnd::kTime;
      break;
    }
    if (crew_ == nullptr && !crew_was_tried_) MaybeFormCrew(job, executions - run - 1, stop_on_bug);
    if (now >= next_progress_) ReportProgress(job, now);
  }
  if (crew_ != nullptr) DisbandCrew(job);
  if (job.shows_output()) SilenceOutput();
  job.seconds =
      seconds_before_slice_ + std::chrono::duration<double>(Clock::now() - slice_begin_).count();
  shared_->job.store(0);
  return end;
}

// To estimate takes as long as there are sequences that wait: at most a part of the time.
void Worker::ReportProgress(Job& job, Clock::time_point now) {
  constexpr int kPart = 200;
  Message progress("progress");
  progress.Set("id", job.id());
  AddProgress(job, &progress);
  channel_->Send(progress);
  const Clock::time_point end = Clock::now();
  next_progress_ =
      end + std::clamp<Clock::duration>(kPart * (end - now), kProgressEvery, kProgressAtLeastEvery);
}

bool Worker::AfterExecution(Job& job, bool stop_on_bug, SliceEnd* end) {
  *end = SliceEnd::kError;
  if (job.streams_executions()) ReportExecution(job);
  if (job.narrates()) Narrate(job);
  const bool bug = ReportBugs(job);
  const bool endless = g_scheduler.result().seems_endless;
  // An execution that was given up need not be what the search expected.
  if (!endless && BeginsAgainAlone(job)) {
    *end = SliceEnd::kLimit;
    return true;
  }
  if (!endless && ReportFailureToRun(job)) return false;
  if (job.records_traces()) RecordTrace(job);
  if (job.collects_final_states()) ReportFinalState(job);
  bool learned = ReportCandidates(job);
  if (g_scheduler.result().accesses_failed) learned |= LearnFromFailedAccesses(job);
  if (endless) job.LearnLoop(g_scheduler.result().endless_loop);
  if (endless && helper_ != nullptr) RestartWithWhatWasLearned(job);
  if (bug && stop_on_bug) {  // what was run so far counts, even if it would begin again now
    job.restart_due = learned || endless;
    *end = SliceEnd::kBug;
    return false;
  }
  if (learned || endless) {
    RestartWithWhatWasLearned(job);
  } else if (g_scheduler.result().barrier_overcrowded && !job.uses_full_barrier_model()) {
    job.UseFullBarrierModel();
    BeginAgain(job, "more threads use a barrier than it counts");
  } else if (!job.is_replay() && g_scheduler.result().needs_full_footprints &&
             g_scheduler.sites().omits_ordered()) {  // a schedule tells whether it was so
    job.UseFullFootprints();
    BeginAgain(job, "more than synchronisation orders accesses");
  }
  if (!job.is_impatient() && !job.is_replay() && !job.is_recorded() &&
      job.search().transitions() > sched::kTransitionsUntilImpatient && g_scheduler.SeemsToLoop()) {
    job.BecomeImpatient();
    BeginAgain(job, "the search takes long, and loops may be why");
  }
  // A helper is stopped by its worker.
  if (helper_ == nullptr && shared_->stop_requested.load(std::memory_order_relaxed) != 0) {
    *end = SliceEnd::kStop;
    return false;
  }
  *end = SliceEnd::kLimit;
  return true;
}

// Where another process has run part of the search, what went another way may do so for that
// reason: the number of its process, say, is one that a program can ask for.
bool Worker::BeginsAgainAlone(Job& job) {
  const bool went_otherwise = g_scheduler.result().diverged || !job.search().error().empty();
  if (!went_otherwise || helper_ != nullptr || job.frontier() == nullptr) return false;
  job.StayAlone("an execution was not the same in all processes");
  BeginAgain(job, job.why_alone().c_str());
  return true;
}

void Worker::RestartWithWhatWasLearned(Job& job) {
  BeginAgain(job, "an access was found to be shared, or a loop to be endless");
}

void Worker::BeginAgain(Job& job, const char* reason) {
  if (helper_ != nullptr) helper_->AskForRestart(reason);
  crew_ = nullptr;
  crew_was_tried_ = false;
  job.restart_due = false;
  job.Restart(g_scheduler);
  ReportRestart(job, reason);
}

}  // namespace mc::checker
