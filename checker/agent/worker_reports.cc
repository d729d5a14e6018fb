// What a worker tells the supervisor.
#include <string.h>

#include <algorithm>

#include "checker/agent/schedule_text.h"
#include "checker/agent/trace_hash.h"
#include "checker/agent/worker.h"
#include "sched/hidden_state.h"
#include "sched/kernel_state.h"

namespace mc::checker {
namespace {

using sched::g_scheduler;

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

std::string TextOf(const std::vector<uint64_t>& stack) {
  std::string text;
  for (const uint64_t pc : stack) {
    if (!text.empty()) text += ',';
    text += std::to_string(pc);
  }
  return text;
}

}  // namespace

bool Worker::ReportFailureToRun(Job& job) {
  const sched::ExecutionResult& result = g_scheduler.result();
  const bool failed =
      !result.harness_error.empty() || result.diverged || !job.search().error().empty();
  if (failed && helper_ != nullptr) helper_->AskForRestart("a helper could not go on");
  if (!result.harness_error.empty()) {
    channel_->Send(Message("error").Set("id", job.id()).Set("message", result.harness_error));
    return true;
  }
  if (!result.diverged && !job.search().too_large().empty()) {
    channel_->Send(Message("error").Set("id", job.id()).Set("message", job.search().too_large()));
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
  if (job.search().runs() != 0) message.Set("run", job.search().runs() - 1);
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
    for (const sched::MicroAccess& access : trace.AccessesOf(event)) {
      if ((access.flags & sched::kNotMade) == 0) continue;
      learned |= LearnFromFailedAccess(job, event.thread, access);
    }
  }
  return learned;
}

bool Worker::LearnFromFailedAccess(Job& job, sched::ThreadId thread,
                                   const sched::MicroAccess& failed) {
  const sched::Trace& trace = g_scheduler.trace();
  bool learned = false;
  for (const sched::Event& other : trace.events) {
    if (other.thread == thread) continue;
    for (const sched::MicroAccess& access : trace.AccessesOf(other)) {
      if (!access.ConflictsWith(failed)) continue;
      if (job.IsNewFailure(failed.pc, access.pc)) ReportFailedAccess(job, failed, access);
      if (job.LearnsSites()) learned |= job.Learn(failed.pc, access.pc);
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
    m.Set("strategy", job.search().part_that_ran());
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

bool Worker::ReportBugs(Job& job) {
  const sched::ExecutionResult& result = g_scheduler.result();
  if (result.bugs.empty()) return false;
  for (const sched::BugReport& bug : result.bugs) {
    if (!job.IsNewBug(bug)) continue;
    channel_->Send(Message("bug")
                       .Set("id", job.id())
                       .Set("strategy", job.search().part_that_ran())
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

void Worker::RecordTrace(Job& job) {
  constexpr size_t kMostBytes = 48 << 10;
  job.recorded().Follow(g_scheduler.trace(), job.search().branch_depth());
  if (job.recorded().bytes().size() >= kMostBytes) SendRecordedTraces(job);
}

void Worker::SendRecordedTraces(Job& job) {
  if (job.recorded().bytes().empty()) return;
  channel_->Send(Message("traces")
                     .Set("id", job.id())
                     .Set("count", job.recorded().traces())
                     .Set("records", ToText(job.recorded().Take())));
}

void Worker::ReportFinalState(Job& job) {
  if (!CountsAsExecution(g_scheduler.trace().outcome)) return;
  if (job.collects_traces()) ReportTrace(job);
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

void Worker::ReportTrace(Job& job) {
  const uint64_t hash = HashOfTrace(g_scheduler.trace());
  if (!job.IsNewFinalState(hash)) return;
  channel_->Send(
      Message("final").Set("id", job.id()).Set("hash", sched::Hex(hash)).Set("outcome", "trace"));
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

void Worker::ReportRestart(Job& job, const char* reason) {
  Message restart("restart");
  restart.Set("id", job.id()).Set("reason", reason).Set("sites", job.LearnedSites());
  restart.Set("full_barriers", uint64_t{job.uses_full_barrier_model()});
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
  if (spill_.budget().spilled_requests != 0) {
    message->Set("spilled", spill_.budget().spilled_requests);
  }
  if (!spill_.problem().empty()) message->Set("spill_problem", spill_.problem());
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
