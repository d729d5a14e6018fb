// What is looked at when nothing can run any more: deadlock, livelock, leaks, failed assumptions.
#include <string.h>

#include <algorithm>

#include "sched/leak_check.h"
#include "sched/scheduler.h"

namespace mc::sched {

void Scheduler::FillEnds() {
  if (!result_.diverged && next_position_ < trace_.size()) trace_.CutBack(next_position_);
  trace_.ends.assign(thread_limit_, ThreadEnd{});
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    ThreadEnd& end = trace_.ends[id];
    if (!t.exists) {
      end.status = ThreadStatus::kFinished;
      continue;
    }
    end.status = t.status;
    end.events = t.events;
    if (t.status == ThreadStatus::kFinished) continue;  // it waits for nothing
    end.enabled = Enabled(t);
    end.woken = t.woken;
    end.pending = t.pending;
    end.first_spin_cell = static_cast<uint32_t>(trace_.spin_cells.size());
    if (t.status == ThreadStatus::kRunnable && WaitsInLoop(t.pending.kind)) {
      RecordSpinCells(t);
    }
    end.spin_cell_count = static_cast<uint32_t>(trace_.spin_cells.size()) - end.first_spin_cell;
  }
}

void Scheduler::JudgeEnd() {
  ReportLockCycles();
  if (trace_.outcome == ExecutionOutcome::kBlocked) return;
  if (process_exited_) trace_.outcome = ExecutionOutcome::kExited;
  if (any_assumption_failed_) {
    trace_.outcome = ExecutionOutcome::kAssumptionFailed;
    DropBugsAfterFailedAssumption();
    return;
  }
  if (AnyLoopCouldGoOn()) {
    trace_.outcome = ExecutionOutcome::kRepeats;
    return;
  }
  if (!main_returned_ && !process_exited_ && !deadlock_reported_) ReportBlockedThreads();
  if (result_.bugs.empty() && !any_failure_ && heap_.LiveBlocksSinceSnapshot() != 0) ReportLeaks();
}

// A bug counts in an execution with a failed assumption unless the assumption happens before it.
void Scheduler::DropBugsAfterFailedAssumption() {
  std::vector<bool> after(trace_.size());
  for (size_t k = 0; k < trace_.size(); ++k) {
    const Event& event = trace_.events[k];
    after[k] = (event.flags & kAssumptionFailed) != 0;
    for (size_t i = 0; i < k && !after[k]; ++i) {
      if (!after[i]) continue;
      after[k] = trace_.events[i].thread == event.thread;
      for (const MicroAccess& a : trace_.AccessesOf(trace_.events[i])) {
        for (const MicroAccess& b : trace_.AccessesOf(event)) {
          if (a.ConflictsWith(b)) after[k] = true;
        }
      }
    }
  }
  std::erase_if(result_.bugs, [&](const BugReport& bug) {
    return bug.kind == BugKind::kDeadlock || bug.kind == BugKind::kLivelock ||
           (bug.event < after.size() && after[bug.event]);
  });
}

// ------------------------------------------------------------------------------------ deadlock

const Thread* Scheduler::HolderOf(uintptr_t object) const {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (t.exists && Holds(t, object)) return &t;
  }
  return nullptr;
}

namespace {

// The thread that a blocked thread waits for, if it waits for a particular one.
bool WaitsForHolder(const Operation& operation) {
  return operation.kind == OperationKind::kLock || operation.kind == OperationKind::kReacquire ||
         operation.kind == OperationKind::kReadLock || operation.kind == OperationKind::kWriteLock;
}

const char* NameOf(OperationKind kind) {
  switch (kind) {
    case OperationKind::kNone:
      return "nothing";
    case OperationKind::kLock:
      return "mutex";
    case OperationKind::kReacquire:
      return "mutex (after a condition wait)";
    case OperationKind::kTimedWaiter:
    case OperationKind::kWaiter:
      return "a wake-up on condition variable";
    case OperationKind::kSemaphoreWait:
      return "semaphore";
    case OperationKind::kReadLock:
      return "read lock";
    case OperationKind::kWriteLock:
      return "write lock";
    case OperationKind::kJoin:
      return "the end of";
    case OperationKind::kBarrierDepart:
      return "barrier";
    case OperationKind::kSpin:
    case OperationKind::kBoundedLoop:
    case OperationKind::kForcedRound:
      return "a write to memory";
    case OperationKind::kDescheduled:
      return "mc_make_runnable";
    case OperationKind::kFutexReturn:
      return "futex";
    case OperationKind::kHandlerPhase:
      return "the exit handlers";
  }
  return "?";
}

}  // namespace

std::string Scheduler::DescribeWait(const Thread& t) const {
  const Operation& op = t.pending;
  std::string text = "T" + std::to_string(t.id);
  if (WaitsInLoop(op.kind)) {
    text += " loops at " + CodeAddress(op.pc) + " until another thread writes";
    for (const CellRange& range : SpinCells(t)) {
      if (KindOf(range.begin) == CellKind::kLockChange) continue;
      text += " " + Hex(ObjectOf(range.begin));
    }
    return text;
  }
  text += " waits for ";
  if (op.kind == OperationKind::kWaiter && KindOf(op.object) == CellKind::kFutexQueue) {
    text += "a wake-up on the word at";
  } else {
    text += NameOf(op.kind);
  }
  if (op.kind == OperationKind::kJoin) {
    text += " T" + std::to_string(ObjectOf(op.object));
  } else if (op.object != 0 && op.kind != OperationKind::kDescheduled) {
    uint64_t object = ObjectOf(op.object);
    if (KindOf(op.object) == CellKind::kBarrierGeneration) object >>= 8;
    if (IsAnnouncement(op.object)) object -= kAnnouncementOffset;
    text += " " + Hex(object);
  }
  text += " at " + CodeAddress(op.pc);
  if (WaitsForHolder(op)) {
    if (const Thread* holder = HolderOf(ObjectOf(op.object))) {
      text += IsAnnouncement(op.object) ? ", behind the waiting writer T" : ", held by T";
      text += std::to_string(holder->id);
      for (const Thread::HeldMutex& held : holder->held) {
        if (held.object == ObjectOf(op.object)) text += " since " + CodeAddress(held.pc);
      }
    }
  }
  return text;
}

std::string Scheduler::DescribeStanding(ThreadId id) const {
  const Thread& t = *threads_[id];
  if (!t.exists) return "has not been created";
  if (t.status == ThreadStatus::kFinished) return "has ended";
  if (t.status == ThreadStatus::kStopped) return "has stopped for good";
  if (process_exited_) return "is gone with the process";
  if (!Enabled(t)) return DescribeWait(t).substr(("T" + std::to_string(id) + " ").size());
  return t.pending.pc == 0 ? "can run" : "can run at " + CodeAddress(t.pending.pc);
}

namespace {

// The program's part of the stack of a thread that does not run, by its frame pointers.
void CaptureStackOf(const Thread& thread, std::vector<uint64_t>* stack) {
  stack->assign(1, thread.pending.pc);
#if defined(__x86_64__)
  // What jump_fcontext saves: two control words, r12 to r15, rbx, rbp, and the return address.
  uint64_t frame = static_cast<const uint64_t*>(thread.context)[6];
  bool seen = false;  // the frame of the call
  stack->clear();
  while (stack->size() < 64 && frame >= thread.stack_low && frame + 16 <= thread.stack_high &&
         frame % 8 == 0) {
    const auto* words = reinterpret_cast<const uint64_t*>(frame);
    seen |= words[1] == thread.pending.pc;
    if (seen && words[1] != 0) stack->push_back(words[1]);
    if (words[0] <= frame) break;
    frame = words[0];
  }
  if (stack->empty()) stack->assign(1, thread.pending.pc);
#endif
}

}  // namespace

// The threads that `thread` waits for, all of which have to do something before it can go on. A
// lock that several readers hold is waited for as long as one of them does.
void Scheduler::AddThreadsWaitedFor(const Thread& thread, std::vector<const Thread*>* out) const {
  if (!thread.exists || thread.status != ThreadStatus::kRunnable || thread.can_run == nullptr ||
      thread.can_run(thread)) {
    return;
  }
  const bool joins = thread.pending.kind == OperationKind::kJoin;
  if (!joins && !WaitsForHolder(thread.pending)) return;
  const uint64_t object = ObjectOf(thread.pending.object);
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& other = *threads_[id];
    if (!other.exists || !(joins ? id == object : Holds(other, object))) continue;
    if (std::find(out->begin(), out->end(), &other) == out->end()) out->push_back(&other);
  }
}

// Reports threads that wait for each other, or for themselves, through locks and joins. Once they
// do they always will, whatever the others go on to do; so this is asked at the end, when the
// answer does not depend on who came last. One report for all that wait for each other.
void Scheduler::ReportLockCycles() {
  const auto is_over = [](const ThreadEnd& end) { return end.status == ThreadStatus::kFinished; };
  if (std::ranges::all_of(trace_.ends, is_over)) return;
  std::vector<std::vector<const Thread*>> waits(
      thread_limit_);  // for whom, directly or through others
  bool any = false;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    AddThreadsWaitedFor(*threads_[id], &waits[id]);
    any = any || !waits[id].empty();
  }
  if (!any) return;
  for (auto& reached : waits) {
    for (size_t k = 0; k < reached.size(); ++k) AddThreadsWaitedFor(*reached[k], &reached);
  }
  const auto reaches = [&](uint32_t from, uint32_t to) {
    return std::find(waits[from].begin(), waits[from].end(), threads_[to]) != waits[from].end();
  };
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    std::vector<const Thread*> cycle;
    for (uint32_t other = 0; other < thread_limit_; ++other) {
      if (reaches(id, other) && reaches(other, id)) cycle.push_back(threads_[other]);
    }
    // Reported for the first of them.
    if (!cycle.empty() && cycle.front()->id == id) ReportLockCycle(cycle);
  }
}

void Scheduler::ReportLockCycle(const std::vector<const Thread*>& cycle) {
  const Thread& first = *cycle.front();
  std::string details;
  for (const Thread* link : cycle) {
    if (!details.empty()) details += "\n";
    details += DescribeWait(*link);
  }
  deadlock_reported_ = true;
  position_ = trace_.size() - 1;
  ReportBug(
      BugKind::kDeadlock,
      cycle.size() == 1 ? "a thread waits for itself" : "a cycle of threads waits for each other",
      first.pending.pc, std::move(details));
  BugReport& bug = result_.bugs.back();
  bug.thread = first.id;
  CaptureStackOf(first, &bug.stack);
}

// Could a thread that a failure stopped have ended what the blocked threads wait for?
bool Scheduler::ExcusedByStoppedThread() const {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (t.exists && t.status == ThreadStatus::kStopped) return true;
  }
  return false;
}

void Scheduler::ReportBlockedThreads() {
  if (ExcusedByStoppedThread()) return;
  std::string details;
  const Thread* first = nullptr;
  const Thread* spinner = nullptr;
  bool bounded = false;  // does any loop change something each time round?
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists || t.status != ThreadStatus::kRunnable) continue;
    if (first == nullptr) first = &t;
    if (spinner == nullptr && WaitsInLoop(t.pending.kind)) spinner = &t;
    bounded = bounded || t.pending.kind == OperationKind::kBoundedLoop;
    if (!details.empty()) details += "\n";
    details += DescribeWait(t);
  }
  if (first == nullptr) return;
  current_ = threads_[spinner != nullptr ? spinner->id : first->id];
  position_ = trace_.size() - 1;
  if (spinner != nullptr) {
    std::string message = "T" + std::to_string(spinner->id) + " loops for ever: ";
    message += bounded ? "it goes round again and again, and nothing else can run (a heuristic: "
                         "after " +
                             std::to_string(kRoundsAlone) + " rounds it is taken for endless)"
                       : "nothing can run that writes what the loop reads";
    ReportBug(BugKind::kLivelock, std::move(message), spinner->pending.pc, details, bounded);
  } else {
    ReportBug(BugKind::kDeadlock, "no thread can run", first->pending.pc, details);
  }
  BugReport& bug = result_.bugs.back();
  bug.stack.assign(1, bug.pc);  // the engine's own stack says nothing here
  current_ = &engine_;
}

void Scheduler::ReportLeaks() {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    // What a thread that still exists refers to is not lost.
    if (t.exists && t.status != ThreadStatus::kFinished) return;
  }
  std::vector<ThreadStorage> storage;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const uintptr_t end = threads_[id]->thread_pointer;
    if (!threads_[id]->exists) continue;
    storage.push_back({end - SlotTlsSize(), end, id != 0});
    const TextsOfThread texts = FindTextsOfThread(end);
    for (const uintptr_t* text : {texts.error, texts.signal}) {
      if (text == nullptr) continue;
      const auto place = reinterpret_cast<uintptr_t>(text);
      storage.push_back({place, place + sizeof *text, true});
    }
  }
  const std::vector<const HeapBlock*> lost = FindLostBlocks(heap_, snapshot_, storage);
  if (lost.empty()) return;
  uint64_t bytes = 0;
  std::string details;
  for (size_t i = 0; i < lost.size(); ++i) {
    bytes += lost[i]->size;
    if (i >= 10) continue;
    if (!details.empty()) details += "\n";
    details += std::to_string(lost[i]->size) + " bytes allocated by T" +
               std::to_string(lost[i]->allocating_thread) + " at " +
               CodeAddress(lost[i]->allocation_pc);
  }
  current_ = threads_[lost[0]->allocating_thread];
  position_ = trace_.size() - 1;
  ReportBug(BugKind::kLeak,
            lost.size() == 1 ? "a block of " + std::to_string(bytes) +
                                   " bytes is never freed and nothing refers to it"
                             : std::to_string(lost.size()) + " blocks (" + std::to_string(bytes) +
                                   " bytes) are never freed and nothing refers to them",
            lost[0]->allocation_pc, details);
  result_.bugs.back().stack.assign(1, lost[0]->allocation_pc);
  current_ = &engine_;
}

uint64_t Scheduler::FinalStateHash() const {
  uint64_t hash = snapshot_.HashProgramState();
  for (const BugReport& bug : result_.bugs) {
    hash += (static_cast<uint64_t>(bug.kind) + 1) * 0x9e3779b97f4a7c15u;
  }
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists) continue;
    const uint64_t standing =
        static_cast<uint64_t>(t.status) * 64 + static_cast<uint64_t>(t.pending.kind) + 1;
    hash += (standing + (uint64_t{id} << 32)) * 0xc2b2ae3d27d4eb4fu;
  }
  return hash;
}

}  // namespace mc::sched
