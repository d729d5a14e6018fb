// The life of one execution: restore, start main, one block after another, end.
#include <sys/single_threaded.h>

#include <algorithm>

#include "sched/c_library.h"
#include "sched/exit_handlers.h"
#include "sched/kernel_state.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"
#include "sched/thread_register.h"

namespace mc::sched {

// For the first threads: it takes longer to make one in the middle of an execution.
static constexpr size_t kSlotsAtStart = 8;

void Scheduler::Initialise(int (*body)(void*), void* argument) {
  body_ = body;
  body_argument_ = argument;
  // Else shared_ptr counts with plain, apparently racy, increments until the first thread exists.
  __libc_single_threaded = 0;
  FindCLibrary();
  InitialiseFibers();
  constexpr uint32_t kVectorFlags = 0x3f;
  ReadFloatingControl(&initial_vector_control_, &initial_scalar_control_);
  initial_vector_control_ &= ~kVectorFlags;
  MakeThread(kNoThread, 0);
  MakeSlots(kSlotsAtStart);
  engine_.thread_pointer = threads_[0]->thread_pointer;
  current_ = &engine_;
  index_.Prepare();
  owned_.Prepare();
  trace_.events.reserve(1024);
  trace_.accesses.reserve(4096);
  AddWritableData(&snapshot_);
  // The unwinder sets itself up when it is first used. Not in the middle of an execution.
  std::vector<uint64_t> stack;
  CaptureStack(&stack);
  heap_.Snapshot();
  // Blocks that exist already: their content is part of the snapshot.
  uintptr_t begin = 0, end = 0;
  heap_.VisitAllLive([&](const HeapBlock& block) {
    const uintptr_t low = block.begin & ~uintptr_t{4095};
    const uintptr_t high = (block.begin + block.size + 4095) & ~uintptr_t{4095};
    if (begin != end && low <= end) {
      end = std::max(end, high);
      return;
    }
    snapshot_.AddRegion(begin, end, false);
    begin = low;
    end = high;
  });
  snapshot_.AddRegion(begin, end, false);
  SaveKernelState();
  snapshot_.Take();
  program_begun_ = true;
}

void Scheduler::SetScheduleMirror(uint16_t* steps, uint32_t capacity, std::atomic<uint32_t>* count,
                                  std::atomic<uint64_t>* heartbeat,
                                  std::atomic<uint32_t>* in_program) {
  mirror_ = steps;
  mirror_capacity_ = capacity;
  mirror_count_ = count;
  heartbeat_ = heartbeat;
  in_program_ = in_program;
}

// ------------------------------------------------------------------------------- one execution

bool Scheduler::RunExecution(Strategy& strategy, bool same_search_as_before) {
  size_t keep = 0;
  if (!strategy.BeginExecution(trace_, &keep)) return false;
  owned_.ClearLost();
  if (in_program_ != nullptr) in_program_->store(1, std::memory_order_relaxed);
  MakeExecution(strategy, same_search_as_before ? keep : 0);
  while (owned_.lost() && !result_.diverged && result_.harness_error.empty()) {
    owned_.ClearLost();
    DropCheckpoints();
    repetition_.Follow(trace_);
    MakeExecution(repetition_, 0);
  }
  if (in_program_ != nullptr) in_program_->store(0, std::memory_order_relaxed);
  for (Observer* o : observers_) o->OnExecutionEnd(trace_);
  // One that was given up is nothing to go on from: the search begins again.
  if (!result_.seems_endless) strategy.EndExecution(trace_);
  return true;
}

// With the first `keep` events of the last one.
void Scheduler::MakeExecution(Strategy& strategy, size_t keep) {
  strategy_ = &strategy;
  trace_.CutBack(keep);
  for (Observer* o : observers_) o->OnExecutionBegin(trace_, keep);
  kept_ = keep;
  free_from_ = strategy.FreeFrom();
  recording_ = false;
  stack_writes_.clear();
  result_.diverged = false;
  result_.harness_error.clear();
  result_.seems_endless = false;
  result_.endless_loop = {};
  result_.bugs.clear();
  result_.accesses_failed = false;
  if (last_words_ != nullptr) last_words_->failure = 0;
  result_.log.clear();
  if (g_kernel_effects != 0) ForgetKernelEffects();
  const Checkpoint* const checkpoint = checkpoints_.Begin(keep);
  if (checkpoint != nullptr) {
    ReturnTo(*checkpoint);
  } else {
    BeginAnew();
  }
  TellLargestBlock();
  repeated_events_ = keep - next_position_;
  RunThreads();
  FillEnds();
  if (g_kernel_effects != 0) RestoreProtections();
  if (!result_.diverged) JudgeEnd();
  if (g_kernel_effects != 0) RestoreKernelState();
}

void Scheduler::BeginAnew() {
  ResetThreads();
  static_cast<SchedulerState&>(*this) = SchedulerState{};
  thread_limit_ = 1;
  result_.exit_status = 0;
  result_.barrier_overcrowded = false;
  result_.needs_full_footprints = false;
  snapshot_.Restore();
  heap_.Restore();
  ResetExitHandlers();
  ClearFloatingFlags();
  Thread& main = *threads_[0];
  main.exists = true;
  main.signal_mask = g_initial_signal_mask;
  main.vector_control = initial_vector_control_;
  main.scalar_control = initial_scalar_control_;
  main.entry = &Scheduler::MainThread;
  main.argument = this;
}

// Until nothing can run any more. Comes back in between where a checkpoint is to be made.
void Scheduler::RunThreads() {
  g_system_call_made = false;
  for (;;) {
    checkpoint_due_ = false;
    Thread* next = PickNext();
    if (next == nullptr) break;
    BeginEvent(*next);
    SwitchTo(*next);
    g_program_running = false;
    if (!checkpoint_due_) break;
    checkpoints_.Done(MakeCheckpoint(&checkpoints_.Make()));
  }
}

void Scheduler::SwitchTo(Thread& next) {
  Thread* self = current_;
  current_ = &next;
  if (!next.started && &next != &engine_) {
    next.started = true;
    if (g_clean_stacks) ClearStack(next.stack_low, next.stack_high);
    next.context = make_fcontext(reinterpret_cast<void*>(next.stack_high),
                                 next.stack_high - next.stack_low, &Scheduler::FiberMain);
    SetFloatingControl(next.context, next.vector_control, next.scalar_control);
  }
  g_thread_register.PointTo(next.thread_pointer, &next.storage_use);
  const Transfer from = jump_fcontext(next.context, self);
  static_cast<Thread*>(from.data)->context = from.context;
}

void Scheduler::FiberMain(Transfer from) {
  static_cast<Thread*>(from.data)->context = from.context;
  Thread& self = g_scheduler.current();
  if (self.creator != kNoThread && !g_scheduler.Mutated(EventModelMutation::kCreate)) {
    g_scheduler.RecordCell(MakeCell(CellKind::kThreadStart, self.id), kRead, kAcquire, 0);
  }
  g_program_running = true;
  void* result = self.entry(self.argument);
  RunThreadExitHandlers();
  g_program_running = false;
  g_scheduler.ExitThread(result, 0);
}

void* Scheduler::MainThread(void*) {
  Scheduler& s = g_scheduler;
  const int status = s.body_(s.body_argument_);
  RunThreadExitHandlers();
  g_program_running = false;
  s.ExitProcess(status, true, 0);
}

// Of several threads that end the program, one will run the handlers (NextToRunHandlers).
void Scheduler::AwaitHandlerPhase() {
  Operation phase;
  phase.kind = OperationKind::kHandlerPhase;
  EndBlock(phase, nullptr);
}

void Scheduler::RunHandlersInPhase() {
  handlers_started_ = true;
  RecordCell(MakeCell(CellKind::kHandlerPhase, 0), kWrite, 0, 0);
  // The handlers come after all that the finished threads did, detached ones too.
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& other = *threads_[id];
    if (!other.exists || &other == current_ || !HasEnded(other)) continue;
    RecordCell(MakeCell(CellKind::kThreadExit, id), kRead, kAcquire, 0);
  }
  ProgramScope scope;
  RunExitHandlers();
}

void Scheduler::LeaveMain() {
  Thread& main = *current_;
  if (handlers_started_) ExitThread(main.result, 0);
  RecordEnd(0);
  main.has_left = true;
  AwaitHandlerPhase();
  const auto is_over = [&](const Thread* t) { return !t->exists || t == &main || HasEnded(*t); };
  // If others wait for ever, so does the process.
  if (std::all_of(threads_.begin(), threads_.begin() + thread_limit_, is_over))
    RunHandlersInPhase();
  StopThread(StopReason::kNone, ThreadStatus::kFinished);
}

void Scheduler::ExitProcess(int status, bool run_handlers, uint64_t pc) {
  Thread& t = *current_;
  result_.exit_status = status;
  // Whoever else ends the program as well, and in which order: that is no event.
  if (status != 0) {
    ReportBug(BugKind::kExitStatus, "the program ended with status " + std::to_string(status),
              pc != 0 ? pc : place_of_main_);
  }
  main_returned_ = true;
  const bool leaves_main = t.id == 0 && run_handlers;
  if (handlers_started_) run_handlers = false;  // exit() called from a handler
  run_handlers = run_handlers && HasExitHandlers();
  if (options_.exit_mode == ExitMode::kImmediate) {
    if (run_handlers) {  // the first of several does it
      RecordCell(MakeCell(CellKind::kHandlerPhase, 0), kReadWrite, kValueRelevant, pc);
      handlers_started_ = true;
    }
    EndBlock(Operation{}, nullptr);
    if (run_handlers) {
      ProgramScope scope;
      RunExitHandlers();
    }
    EndBlock(Operation{}, nullptr);
    process_exited_ = true;
    MarkEvent(kExited);
    if (!Mutated(EventModelMutation::kAlive)) {
      RecordCell(MakeCell(CellKind::kAlive, 0), kWrite, 0, pc);
    }
    StopThread(StopReason::kExit, ThreadStatus::kFinished);
  }
  if (run_handlers) {
    waits_with_handlers_ = t.id;
    AwaitHandlerPhase();
    waits_with_handlers_ = kNoThread;
    RunHandlersInPhase();
  }
  if (leaves_main) ExitThread(nullptr, pc);
  StopThread(StopReason::kExit, ThreadStatus::kStopped);
}

// ---------------------------------------------------------------------------------- decisions

bool Scheduler::Enabled(const Thread& t) const {
  if (!t.exists || t.status != ThreadStatus::kRunnable || process_exited_) return false;
  if (t.pending.kind == OperationKind::kHandlerPhase) return false;
  return t.can_run == nullptr || t.can_run(t);
}

bool Scheduler::AnyEnabled() const {
  if (current_ != &engine_ && Enabled(*current_)) return true;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    if (Enabled(*threads_[id])) return true;
  }
  return false;
}

// Which of several threads runs the exit handlers must not depend on the order in which they got
// there: the one with the lowest id that has ended the program, or else main if it has left.
const Thread* Scheduler::NextToRunHandlers() const {
  if (handlers_started_ || process_exited_) return nullptr;
  const Thread* left = nullptr;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists || t.status != ThreadStatus::kRunnable ||
        t.pending.kind != OperationKind::kHandlerPhase) {
      continue;
    }
    if (!t.has_left) return &t;
    left = &t;
  }
  return left;
}

bool Scheduler::IsEnabled(ThreadId thread) const {
  const Thread& t = *threads_[thread];
  if (Enabled(t)) return true;
  const bool has_turns = t.pending.kind == OperationKind::kHandlerPhase ||
                         t.pending.kind == OperationKind::kBoundedLoop;
  return t.exists && has_turns && !AnyEnabled() && NextWhenNoneIsEnabled() == &t;
}

// Whose turn it is when no thread is enabled by itself.
const Thread* Scheduler::NextWhenNoneIsEnabled() const {
  const Thread* const next = NextToRunHandlers();
  if (next != nullptr && !next->has_left) return next;
  const Thread* const round = NextForcedRound();
  return round != nullptr ? round : next;
}

ThreadId Scheduler::Current() const { return last_thread_; }

bool Scheduler::CurrentYielded() const {
  return last_thread_ != kNoThread && threads_[last_thread_]->yielded;
}

void Scheduler::Schedule() {
  last_thread_ = current_->id;
  if (next_position_ == checkpoints_.due()) {
    checkpoint_due_ = true;
    SwitchTo(engine_);  // and picks the next thread there
    return;
  }
  Thread* next = PickNext();
  if (next == nullptr) {
    SwitchTo(engine_);
    __builtin_unreachable();
  }
  BeginEvent(*next);
  if (next != current_) SwitchTo(*next);
}

Thread* Scheduler::PickNext() {
  if (next_position_ < kept_) return PickFromKeptPrefix();
  recording_ = true;
  return PickFromStrategy();
}

Thread* Scheduler::PickFromKeptPrefix() {
  const ThreadId id = trace_.events[next_position_].thread;
  if (id >= thread_limit_ || !IsEnabled(id)) {
    Diverge(next_position_, "");
    return nullptr;
  }
  return threads_[id];
}

// What any Strategy does from FreeFrom() on.
Thread* Scheduler::PickFreely() {
  if (last_thread_ != kNoThread && Enabled(*threads_[last_thread_])) return threads_[last_thread_];
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    if (Enabled(*threads_[id])) return threads_[id];
  }
  const Thread* const next = NextWhenNoneIsEnabled();
  return next == nullptr ? nullptr : threads_[next->id];
}

Thread* Scheduler::PickFromStrategy() {
  if (next_position_ >= free_from_ && next_position_ < long_from_) return PickFreely();
  if (!AnyEnabled() && NextWhenNoneIsEnabled() == nullptr) {
    if (IsRepetition() && next_position_ < repetition_.trace().size()) Diverge(next_position_, "");
    return nullptr;
  }
  if (next_position_ >= long_from_) {
    trace_.outcome = ExecutionOutcome::kBlocked;
    if (next_position_ < options_.max_events) {
      result_.seems_endless = true;
      return nullptr;
    }
    if (const LoopRounds* const loop = LoopOfLongExecution()) {
      result_.seems_endless = true;
      result_.endless_loop = loop->place;
      result_.endless_loop_stack.assign(1, loop->place.pc);
      return nullptr;
    }
    ReportBug(BugKind::kLivelock,
              std::string(kStepLimitReached) + ": the execution has more than " +
                  std::to_string(options_.max_events) +
                  " transitions (a heuristic: raise --max-steps if it is meant to be that long)",
              current_ == &engine_ ? 0 : current_->pending.pc, {}, true);
    return nullptr;
  }
  const ThreadId id = strategy_->Next(trace_, *this);
  if (id == kAbandon) {
    trace_.outcome = ExecutionOutcome::kBlocked;
    return nullptr;
  }
  if (id >= thread_limit_ || !IsEnabled(id)) {
    Diverge(
        next_position_,
        IsRepetition() ? "" : "the search asks for T" + std::to_string(id) + ", which cannot run");
    return nullptr;
  }
  return threads_[id];
}

// At `step`, an event of the last execution does not happen again as it did.
void Scheduler::Diverge(size_t step, std::string found) {
  DropCheckpoints();
  result_.diverged = true;
  result_.diverged_step = step;
  result_.diverged_found = std::move(found);
  result_.diverged_event = Trace();
  const Trace& before = IsRepetition() ? repetition_.trace() : trace_;
  if (step < before.size()) {
    Event event = before.events[step];
    const auto accesses = before.AccessesOf(event);
    result_.diverged_event.accesses.assign(accesses.begin(), accesses.end());
    event.first_access = event.first_choice = event.choice_count = 0;
    event.first_ledger = event.ledger_count = event.first_spin_cell = event.spin_cell_count = 0;
    result_.diverged_event.events.push_back(event);
  }
  trace_.outcome = ExecutionOutcome::kBlocked;
  // What was kept of the last execution no longer describes this one.
  trace_.CutBack(std::min(step, trace_.size()));
}

void Scheduler::BeginEvent(Thread& thread) {
  position_ = next_position_++;
  block_choices_ = 0;
  hook_calls_ = 0;
  block_is_fresh_ = true;
  ++thread.events;
  if (thread.pending.kind == OperationKind::kBoundedLoop) LeaveBoundedLoop(thread);
  if (waits_with_handlers_ != kNoThread && thread.id != waits_with_handlers_) {
    handlers_have_waited_ = true;
  }
  if (mirror_ != nullptr && mirror_size_ < mirror_capacity_) {
    mirror_[mirror_size_++] = thread.id;
    mirror_count_->store(mirror_size_, std::memory_order_release);
    heartbeat_->store(heartbeat_->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  if (recording_) {
    static constexpr Event kEmpty;  // copied in a few steps, where making one anew would be a loop
    Event& event = trace_.events.emplace_back(kEmpty);
    event.thread = thread.id;
    event.index = thread.events - 1;
    event.first_access = static_cast<uint32_t>(trace_.accesses.size());
    event.first_choice = static_cast<uint32_t>(trace_.choices.size());
    event.first_ledger = static_cast<uint32_t>(trace_.ledger.size());
    event.first_spin_cell = static_cast<uint32_t>(trace_.spin_cells.size());
    event.operation = thread.pending;
    if (thread.past_bound) event.flags |= kPastBound;
    if (WaitsInLoop(thread.pending.kind)) RecordSpinCells(thread);
    event.spin_cell_count = static_cast<uint32_t>(trace_.spin_cells.size()) - event.first_spin_cell;
    if (last_thread_ != kNoThread && last_thread_ != thread.id) {
      const Thread& last = *threads_[last_thread_];
      if (!last.yielded && last.pending.kind != OperationKind::kTimedWaiter && Enabled(last)) {
        event.flags |= kWasPreemption;
      }
    }
    index_.BeginBlock();
    if (options_.exit_mode == ExitMode::kImmediate && !Mutated(EventModelMutation::kAlive)) {
      // By the engine, not the program: no loop waits for it. (And `current_` ran before.)
      MicroAccess alive;
      alive.begin = MakeCell(CellKind::kAlive, 0);
      alive.size = 1;
      Append(alive);
    }
    if (WaitsInLoop(thread.pending.kind)) RecordSpinReads(thread);
  }
  thread.yielded = false;
}

// Has the event that is finished done what it did before? If not, the execution diverges.
bool Scheduler::HappenedAgain() {
  const Trace& before = IsRepetition() ? repetition_.trace() : trace_;
  const Event& event = before.events[position_];
  if (result_.diverged ||
      (event.hook_calls == hook_calls_ && event.choice_count == block_choices_ &&
       event.index + 1 == current_->events)) {
    return true;
  }
  Diverge(position_, "the step made " + std::to_string(hook_calls_) + " accesses and " +
                         std::to_string(block_choices_) + " choices, not " +
                         std::to_string(event.hook_calls) + " and " +
                         std::to_string(event.choice_count));
  return false;
}

void Scheduler::FinishEvent() {
  finished_events_ = position_ + 1;
  if (!stack_writes_.empty()) SettleWritesToOtherStacks();
  if (current_->spin.announces()) Announce(*current_);
  if ((!recording_ || IsRepetition()) && !HappenedAgain()) {
    SwitchTo(engine_);
    __builtin_unreachable();
  }
  if (!recording_) return;
  Event& event = trace_.events.back();
  event.access_count = static_cast<uint32_t>(trace_.accesses.size()) - event.first_access;
  event.choice_count = static_cast<uint32_t>(trace_.choices.size()) - event.first_choice;
  event.ledger_count = static_cast<uint32_t>(trace_.ledger.size()) - event.first_ledger;
  event.hook_calls = hook_calls_;
}

}  // namespace mc::sched
