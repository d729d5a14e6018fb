#include "checker/agent/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "checker/agent/output.h"
#include "checker/agent/registered_tests.h"
#include "checker/agent/schedule_text.h"
#include "sched/hidden_state.h"
#include "sched/kernel_state.h"
#include "sched/other_processes.h"
#include "sched/start.h"

namespace mc::checker {
namespace {

using sched::g_scheduler;

// The body of the process's program, and the registered test that the active job runs.
ProgramBody g_body;
const RegisteredTest* g_test = nullptr;

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

const char* NameOfStatus(racedet::CandidateStatus status) {
  switch (status) {
    case racedet::CandidateStatus::kSuspected:
      return "suspected";
    case racedet::CandidateStatus::kConfirmed:
      return "confirmed";
    case racedet::CandidateStatus::kMallocRecycle:
      return "malloc-recycle";
  }
  return "";
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
  std::unique_ptr<Job> job = Job::FromMessage(message, &error);
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
    if (now - last_progress_ >= std::chrono::milliseconds(200)) {
      last_progress_ = now;
      Message progress("progress");
      progress.Set("id", job.id());
      AddProgress(job, &progress);
      channel_->Send(progress);
    }
  }
  if (crew_ != nullptr) DisbandCrew(job);
  if (job.shows_output()) SilenceOutput();
  job.seconds =
      seconds_before_slice_ + std::chrono::duration<double>(Clock::now() - slice_begin_).count();
  shared_->job.store(0);
  return end;
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
  if (!job.is_impatient() && !job.is_replay() &&
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

bool Worker::ReportFailureToRun(Job& job) {
  const sched::ExecutionResult& result = g_scheduler.result();
  const bool failed =
      !result.harness_error.empty() || result.diverged || !job.search().error().empty();
  if (failed && helper_ != nullptr) helper_->AskForRestart("a helper could not go on");
  if (!result.harness_error.empty()) {
    channel_->Send(Message("error").Set("id", job.id()).Set("message", result.harness_error));
    return true;
  }
  if (!result.diverged && job.search().error().empty()) return false;
  ReportDivergence(job);
  return true;
}

void Worker::ReportDivergence(Job& job) {
  const sched::ExecutionResult& result = g_scheduler.result();
  const sched::Trace& trace = g_scheduler.trace();
  Message message("diverged");
  message.Set("id", job.id()).Set("threads", ThreadNames());
  const auto add_event = [&](std::string_view field, const sched::Trace& of, size_t position) {
    const sched::Event& event = of.events[position];
    const uint64_t pc = FirstCodeAddress(of, event);
    message.Set("thread", uint64_t{event.thread});
    message.Set(field, DescribeFirstOperation(of, event) +
                           (pc == 0 ? "" : " at " + sched::CodeAddress(pc)));
  };
  if (result.diverged) {  // noticed by the engine, which repeats a prefix
    message.Set("step", static_cast<uint64_t>(result.diverged_step));
    if (result.diverged_event.size() != 0) add_event("expected", result.diverged_event, 0);
    message.Set("message", result.diverged_found);
  } else {  // noticed by the search
    const size_t step = job.search().error_step().value_or(trace.size());
    message.Set("step", static_cast<uint64_t>(step));
    if (step < trace.size()) add_event("found", trace, step);
    message.Set("message", job.search().error());
  }
  message.Set("standing", DescribeThreads()).Set("lasting", sched::LastingSystemCalls());
  channel_->Send(message);
}

// One line for each thread.
std::string Worker::DescribeThreads() const {
  std::string text;
  for (uint32_t id = 0; id < g_scheduler.slot_count(); ++id) {
    const auto thread = static_cast<sched::ThreadId>(id);
    if (!text.empty()) text += '\n';
    text += "T" + std::to_string(id) + " (" +
            (id == 0 ? "main" : g_scheduler.NameOfThread(thread)) + ") " +
            g_scheduler.DescribeStanding(thread);
  }
  return text;
}

bool Worker::ReportCandidates(Job& job) {
  if (!job.candidates().HasChanges()) return false;
  job.candidates().TakeChanges(&changes_);
  bool learned = false;
  for (uint32_t index : changes_) {
    const racedet::Candidate& candidate = job.candidates()[index];
    ReportCandidate(job, candidate);
    // After the line, which would be missing if the worker knew the candidate already.
    if (helper_ != nullptr) helper_->SendCandidate(candidate);
    if (job.LearnsFrom(candidate)) {
      learned |= job.Learn(candidate.earlier.pc, candidate.later.pc);
    }
  }
  return learned;
}

// An access that was not made is none for the detectors. But in another order it may be made: it
// and what it conflicts with have to be PPs as well, of this job or of others.
bool Worker::LearnFromFailedAccesses(Job& job) {
  const sched::Trace& trace = g_scheduler.trace();
  bool learned = false;
  for (const sched::Event& event : trace.events) {
    for (const sched::MicroAccess& failed : trace.AccessesOf(event)) {
      if ((failed.flags & sched::kBlockingTest) == 0 || !sched::IsMemory(failed.begin)) continue;
      for (const sched::Event& other : trace.events) {
        if (other.thread == event.thread) continue;
        for (const sched::MicroAccess& access : trace.AccessesOf(other)) {
          if (!access.ConflictsWith(failed)) continue;
          if (job.IsNewFailure(failed.pc, access.pc)) ReportFailedAccess(job, failed, access);
          if (job.LearnsSites()) learned |= job.Learn(failed.pc, access.pc);
        }
      }
    }
  }
  return learned;
}

void Worker::ReportFailedAccess(const Job& job, const sched::MicroAccess& failed,
                                const sched::MicroAccess& other) {
  Message m("failed-access");
  m.Set("id", job.id()).Set("a", failed.pc).Set("b", other.pc);
  m.Set("a_atomic", uint64_t{(failed.flags & sched::kAtomic) != 0});
  m.Set("b_atomic", uint64_t{(other.flags & sched::kAtomic) != 0});
  channel_->Send(m);
}

void Worker::ReportCandidate(Job& job, const racedet::Candidate& candidate) {
  const bool swapped = candidate.earlier.pc > candidate.later.pc;
  const racedet::AccessSite& a = swapped ? candidate.later : candidate.earlier;
  const racedet::AccessSite& b = swapped ? candidate.earlier : candidate.later;
  Message m("race");
  m.Set("id", job.id()).Set("a", a.pc).Set("b", b.pc);
  m.Set("a_kind", NameOf(candidate.lower_kind)).Set("b_kind", NameOf(candidate.higher_kind));
  m.Set("a_thread", uint64_t{a.thread}).Set("b_thread", uint64_t{b.thread});
  m.Set("earlier", swapped ? "b" : "a");
  m.Set("status", NameOfStatus(candidate.status));
  m.Set("unordered", uint64_t{candidate.unordered});
  m.Set("data_race", uint64_t{candidate.data_race});
  m.Set("promoted", uint64_t{candidate.promoted});
  m.Set("address", candidate.cell);
  m.Set("object", DescribeObject(candidate.cell));
  if (candidate.data_race) {
    m.Set("schedule", EncodeSteps(g_scheduler.trace()));
    m.Set("preemptions", CountPreemptions(g_scheduler.trace()));
    m.Set("threads", ThreadNames());
    m.Set("a_event", uint64_t{a.event}).Set("b_event", uint64_t{b.event});
  }
  channel_->Send(m);
}

std::string Worker::DescribeObject(sched::Cell cell) const {
  if (sched::ProgramHeap::Contains(cell)) {
    const sched::HeapBlock* block = g_scheduler.heap().Lookup(cell);
    if (block == nullptr) return "heap";
    return "heap block of " + std::to_string(block->size) + " bytes at " +
           sched::Hex(block->begin) + ", allocated by T" +
           std::to_string(block->allocating_thread) + " at " +
           sched::CodeAddress(block->allocation_pc);
  }
  if (sched::IsFiberStack(cell)) {
    return "stack of T" +
           std::to_string((cell - sched::kFiberStackBase) / sched::kFiberStackStride);
  }
  if (const char* name = sched::NameOfHiddenState(cell)) return name;
  std::string mapping = sched::DescribeMapping(cell);
  mapping.resize(std::min(mapping.size(), mapping.find('\n')));
  return mapping.empty() ? "memory at " + sched::Hex(cell) : mapping;
}

namespace {

std::string TextOf(const std::vector<uint64_t>& stack) {
  std::string text;
  for (const uint64_t pc : stack) {
    if (!text.empty()) text += ',';
    text += std::to_string(pc);
  }
  return text;
}

}  // namespace

bool Worker::ReportBugs(Job& job) {
  const sched::ExecutionResult& result = g_scheduler.result();
  if (result.bugs.empty()) return false;
  for (const sched::BugReport& bug : result.bugs) {
    if (!job.IsNewBug(bug)) continue;
    channel_->Send(Message("bug")
                       .Set("id", job.id())
                       .Set("kind", sched::NameOf(bug.kind))
                       .Set("message", bug.message)
                       .Set("details", bug.details)
                       .Set("thread", uint64_t{bug.thread})
                       .Set("pc", bug.pc)
                       .Set("stack", TextOf(bug.stack))
                       .Set("schedule", EncodeSteps(g_scheduler.trace()))
                       .Set("threads", ThreadNames())
                       .Set("event", static_cast<uint64_t>(bug.event))
                       .Set("preemptions", CountPreemptions(g_scheduler.trace()))
                       .Set("heuristic", uint64_t{bug.heuristic})
                       .Set("executions", job.search().runs()));
  }
  return true;
}

void Worker::ReportExecution(Job& job) {
  const sched::Trace& trace = g_scheduler.trace();
  const char* outcome = !g_scheduler.result().bugs.empty()  ? "bug"
                        : !CountsAsExecution(trace.outcome) ? "blocked"
                                                            : "ok";
  channel_->Send(Message("execution")
                     .Set("id", job.id())
                     .Set("steps", EncodeSteps(trace))
                     .Set("outcome", outcome));
}

void Worker::ReportFinalState(Job& job) {
  if (!CountsAsExecution(g_scheduler.trace().outcome)) return;
  const uint64_t hash = g_scheduler.FinalStateHash();
  if (!job.IsNewFinalState(hash)) return;
  std::vector<std::string_view> kinds;  // in an order of their own, not in that of the execution
  for (const sched::BugReport& bug : g_scheduler.result().bugs) {
    kinds.push_back(sched::NameOf(bug.kind));
  }
  std::sort(kinds.begin(), kinds.end());
  std::string outcome;
  for (const std::string_view kind : kinds) {
    if (!outcome.empty()) outcome += ",";
    outcome += kind;
  }
  channel_->Send(Message("final")
                     .Set("id", job.id())
                     .Set("hash", sched::Hex(hash))
                     .Set("outcome", outcome.empty() ? "ok" : outcome));
}

void Worker::Narrate(Job& job) {
  const sched::Trace& trace = g_scheduler.trace();
  const std::vector<sched::LogLine>& log = g_scheduler.result().log;
  size_t next_log = 0;
  for (size_t i = 0; i < trace.size(); ++i) {
    const sched::Event& event = trace.events[i];
    std::string accesses;
    for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
      if (a.size == 0) continue;
      if (!accesses.empty()) accesses += ';';
      accesses += std::to_string(a.begin) + ',' + std::to_string(a.size) + ',' +
                  std::to_string(a.mode) + ',' + std::to_string(a.pc);
    }
    channel_->Send(Message("step")
                       .Set("id", job.id())
                       .Set("position", static_cast<uint64_t>(i))
                       .Set("thread", uint64_t{event.thread})
                       .Set("name", g_scheduler.NameOfThread(event.thread))
                       .Set("what", DescribeFirstOperation(trace, event))
                       .Set("pc", FirstCodeAddress(trace, event))
                       .Set("object", event.operation.object == 0
                                          ? std::string()
                                          : sched::Hex(sched::ObjectOf(event.operation.object)))
                       .Set("accesses", accesses)
                       .Set("flags", uint64_t{event.flags}));
    for (; next_log < log.size() && log[next_log].event == i; ++next_log) {
      channel_->Send(Message("log")
                         .Set("id", job.id())
                         .Set("thread", uint64_t{log[next_log].thread})
                         .Set("position", static_cast<uint64_t>(i))
                         .Set("text", log[next_log].text));
    }
  }
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

void Worker::ReportRestart(Job& job, const char* reason) {
  Message restart("restart");
  restart.Set("id", job.id()).Set("reason", reason).Set("sites", job.LearnedSites());
  const sched::ExecutionResult& result = g_scheduler.result();
  if (result.endless_loop.pc != 0) {
    restart.Set("loop", result.endless_loop.pc)
        .Set("loop_stack", TextOf(result.endless_loop_stack));
  }
  channel_->Send(restart);
}

void Worker::AddProgress(Job& job, Message* message) {
  const dpor::Search& search = job.search();
  if (!job.why_alone().empty()) message->Set("alone", job.why_alone());
  if (search.preemptions_covered()) {
    message->Set("preemptions_covered", uint64_t{*search.preemptions_covered()});
  }
  if (search.chance() > 0) message->Set("chance", search.chance());
  message->Set("left_out", uint64_t{search.left_out()})
      .Set("executions", search.executions())
      .Set("blocked", search.blocked())
      .Set("transitions", search.transitions())
      .Set("repeated", job.repeated)
      .Set("estimate", job.Estimate())
      .Set("threads", ThreadNames())
      .Set("lower_bound", search.LowerBound())
      .Set("helpers_rss", Crew::PeakOfHelpers())
      .Set("handlers_waited", uint64_t{g_scheduler.handlers_have_waited() || job.handlers_waited})
      .Set("seconds", seconds_before_slice_ +
                          std::chrono::duration<double>(Clock::now() - slice_begin_).count());
}

std::string Worker::ThreadNames() const {
  std::string names;
  for (uint32_t id = 0; id < g_scheduler.slot_count(); ++id) {
    if (id != 0) names += ';';
    names += g_scheduler.NameOfThread(static_cast<sched::ThreadId>(id));
  }
  return names;
}

}  // namespace mc::checker
