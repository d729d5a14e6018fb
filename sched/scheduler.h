// Scheduler: one controlled execution after another (DESIGN sections 1 and 2).
//
// The program's threads are fibers of one OS thread. Whatever the program does through a hook
// (instrumented access, pthread call, ...) ends up here: the hook asks for a preemption point,
// blocks if it must, records what it touched, and goes on. At a block's end the scheduler asks the
// Strategy which thread runs next and tells the Observers about the finished event.
//
// Invariants
//  * Exactly one thread runs: `current()`. Engine code runs on the stack and with the thread-local
//    storage of whichever fiber called it; `program_running()` tells engine from program code.
//  * While the kept prefix of the last execution is repeated (*fast-forward*), nothing is recorded:
//    the record is still there. Record*() and Ledger() then do nothing.
//  * All state of an execution is in Thread objects, in the program's own memory (the state of a
//    synchronisation object lives in its bytes), in the heap and in the trace; all of it goes back
//    to the snapshot, or to a checkpoint (checkpoint.h), before the next execution. What belongs to
//    an execution has to be known to both.
#ifndef MC_SCHED_SCHEDULER_H_
#define MC_SCHED_SCHEDULER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sched/access_index.h"
#include "sched/cell.h"
#include "sched/checkpoint.h"
#include "sched/engine_scope.h"
#include "sched/event.h"
#include "sched/execution.h"
#include "sched/fiber.h"
#include "sched/heap.h"
#include "sched/last_words.h"
#include "sched/observer.h"
#include "sched/owned_memory.h"
#include "sched/preemption_points.h"
#include "sched/repetition.h"
#include "sched/site_filter.h"
#include "sched/snapshot.h"
#include "sched/strategy.h"
#include "sched/thread.h"
#include "sched/trace.h"

namespace mc::sched {

class Scheduler final : public StateView, private SchedulerState {
 public:
  // -- setting up, by the agent
  void Configure(const ExecutionOptions& options);
  // Under `all`: code found to access shared memory, from now on a PP. The job starts again then.
  SiteFilter& sites() { return sites_; }
  // Does the last execution look as if a loop may be endless?
  bool SeemsToLoop() const;
  // The loops that have a bound (loop_bound.h), until Configure.
  void BoundLoops(std::vector<LoopPlace> places);
  const ExecutionOptions& options() const { return options_; }
  void SetObservers(std::vector<Observer*> observers) { observers_ = std::move(observers); }
  // Called once at the entry, before the first execution. `body(argument)` is the program.
  void Initialise(int (*body)(void*), void* argument);
  // Where a status comes from that main returns: an address in main, to be looked up as a return
  // address; 0 if there is none.
  void SetPlaceOfMain(uint64_t pc) { place_of_main_ = pc; }
  // Runs one execution. False if the strategy has no further one. Program state is restored first.
  bool RunExecution(Strategy& strategy, bool same_search_as_before);
  const Trace& trace() const { return trace_; }
  const ExecutionResult& result() const { return result_; }
  // How many events of its kept prefix the last execution did again.
  size_t repeated_events() const { return repeated_events_; }
  // Hash of the program's writable globals and of how the execution ended; valid after it.
  uint64_t FinalStateHash() const;
  // Where the schedule is written as it happens, for the supervisor (SharedState.step); may be
  // null. `in_program` is 1 while an execution runs, not while it is thought about.
  void SetScheduleMirror(uint16_t* steps, uint32_t capacity, std::atomic<uint32_t>* count,
                         std::atomic<uint64_t>* heartbeat, std::atomic<uint32_t>* in_program);
  // Where to write what may be the last to be heard of this process; may be null.
  void SetLastWords(LastWords* words) { last_words_ = words; }
  LastWords* last_words() { return last_words_; }

  // Can threads of this program tell, without waiting for it, whether another has ended? If not, a
  // thread ends in the block of what it did last: who waits for it sees no difference.
  void SetEndsAreSeen(bool seen) { ends_are_seen_ = seen; }

  // Has any execution of this process held exit handlers back until other threads were done?
  bool handlers_have_waited() const { return handlers_have_waited_; }

  // -- for hooks: who runs
  bool program_running() const { return g_program_running; }
  Thread& current() { return *current_; }
  // False in the loop between executions.
  bool InProgramThread() const { return current_ != nullptr && current_ != &engine_; }
  Thread* FindByPthread(uintptr_t thread_pointer);  // exists in this execution, else nullptr
  Thread& ThreadById(ThreadId id) { return *threads_[id]; }
  uint32_t thread_limit() const { return thread_limit_; }  // ids of existing threads are below

  // -- for hooks: preemption points and blocking. `pc` is the caller's return address.
  // A PP of class `pp` lies before the operation that follows: ends the block if it is on (or if
  // one is due after the previous operation). The operation that follows cannot block.
  void Before(PreemptionPointClass pp, uint64_t pc, uint8_t detail = 0);
  // The same for a creation, which others see only by what it begins and by the handle that it
  // writes: where nobody else looks at that, it can end any block.
  void BeforeCreation(PreemptionPointClass pp, uint64_t pc, uint8_t detail);
  // The same for an operation that can block. Returns when it can proceed: true if it is the first
  // of its block (the thread was scheduled because it can), false if it was found possible inside a
  // block (it must then be recorded as value-relevant). On the way records the blocking test.
  // `can_run` reads `current().wait_object`, which the caller sets before.
  bool Block(PreemptionPointClass pp, const Operation& operation, EnabledTest can_run);
  // A PP of class `pp` follows the operation just done: the next visible one begins a new block.
  // Where whatever may be seen by others has a PP before it, none is needed after (but at yields).
  void After(PreemptionPointClass pp) {
    if (sites_.omits_ordered() && (pp & kPpYield) == 0) return;
    if (PreemptionPointOn(pp)) current_->preemption_due = true;
  }
  // A section that must not be preempted follows: what waited before it must not become part of it.
  void LeaveFreshBlock() {
    if (hook_calls_ != 0 || trace_.events[position_].operation.kind != OperationKind::kNone) {
      block_is_fresh_ = false;
    }
  }
  // The thread has done what others can see, though it did not begin with one of the above.
  void DidWhatOthersSee() { block_is_fresh_ = false; }
  // The thread has done what only waited for others, a join: its block may go on.
  void StayFresh() { block_is_fresh_ = sites_.omits_ordered(); }
  // Ends the block; the thread goes on when the strategy picks it and `can_run` holds.
  void EndBlock(const Operation& next, EnabledTest can_run);
  bool PreemptionPointOn(PreemptionPointClass pp) const {
    return current_->atomic_depth == 0 && (options_.preemption_points.classes & pp) != 0;
  }

  // -- for hooks: recording
  bool recording() const { return recording_; }
  void Record(const MicroAccess& access) {
    if (recording_) Append(access);
  }
  // A plain or atomic access to memory is about to be made: counts it, ends the block if a PP lies
  // before it, checks that heap memory is alive, records it. `atomic` may lie in `flags`.
  void Access(uintptr_t address, size_t size, uint8_t mode, uint16_t flags, uint64_t pc,
              MemoryOrder order = MemoryOrder::kRelaxed) {
    const bool is_point = BeforeAccess(address, size, mode, flags, pc);
    NoteForSpinRule(address, size, mode);
    if (!recording_) return;
    if (leaves_out_owned_ && flags == 0 && !is_point && pc != 0 &&
        owned_.LeaveOut(address, size, *current_, Now())) {
      return;
    }
    AppendMemory(address, size, mode, flags, pc, order);
  }
  // The common case of Access, for plain reads and writes: to memory whose other accesses are left
  // out as well, where there is nothing to do but to count. False if there is more to be done. A
  // part of the hook itself: half of it is known where the hook is compiled. No function of a
  // library may be called here: the program would be seen to call it.
  [[gnu::always_inline]] bool PassOwnAccess(uintptr_t address, size_t size, uint8_t mode,
                                            uint64_t pc) {
    Thread& t = *current_;
    if (!leaves_out_owned_ || t.preemption_due || !sites_.IsKnownNoPoint(pc)) return false;
    const bool on_own_stack = address - t.stack_low < t.stack_high - t.stack_low;
    if (!on_own_stack && (IsFiberStack(address) || !heap_.IsGoodAccess(address, size))) {
      return false;
    }
    if (mode == kRead ? !t.spin.CanPassRead() : !t.spin.CanPassWrite(on_own_stack)) return false;
    if (!owned_.Pass(address, size, t, OwnedMemory::Time(position_, hook_calls_ + 1))) return false;
    if (mode == kRead) {
      t.spin.PassRead();
    } else {
      t.spin.PassWrite(on_own_stack);
    }
    ++hook_calls_;
    return true;
  }
  // The same question before memory is allocated or freed.
  void BeforeHeapOperation(uint64_t pc) {
    ++hook_calls_;
    // One list of free blocks is shared by all threads, and no detector learns from its use.
    const bool is_shared = options_.heap_policy == HeapPolicy::kRecycle && sites_.learning();
    const bool is_point = is_shared || sites_.IsPreemptionPoint(pc, false);
    if (!block_is_fresh_ && (current_->preemption_due || is_point)) PreemptBeforeAccess(pc);
    if (is_point || !sites_.omits_ordered()) block_is_fresh_ = false;
  }
  // The two halves, for atomics, whose mode is known only once they are done: `mode` is what it may
  // be at most. Returns whether a PP lies before it.
  bool BeforeAccess(uintptr_t address, size_t size, uint8_t mode, uint16_t flags, uint64_t pc) {
    ++hook_calls_;
    const bool is_point = sites_.IsPreemptionPoint(pc, (flags & kAtomic) != 0);
    if (!block_is_fresh_ && (current_->preemption_due || is_point)) PreemptBeforeAccess(pc);
    // What is ordered by synchronisation anyway commutes with all that could come in between: a
    // block needs an end only before its second access that others can see.
    if (is_point || !sites_.omits_ordered()) block_is_fresh_ = false;
    if (heap_.IsBadAccess(address, size)) {
      ReportPoisonedAccess(address, size, mode, flags, pc);
    }
    BeforeAccessToThread(address, size, mode, pc);
    return is_point;
  }
  // Memory that a library function or a system call has read or written: reports it if it is not
  // alive.
  void CheckAlive(uintptr_t address, size_t size, uint8_t mode, uint64_t pc) {
    if (heap_.IsBadAccess(address, size)) ReportPoisonedAccess(address, size, mode, 0, pc);
    BeforeAccessToThread(address, size, mode, pc);
  }
  // If the memory is another thread's own: whether that has ended decides what becomes of the
  // access.
  void BeforeAccessToThread(uintptr_t address, size_t size, uint8_t mode, uint64_t pc) {
    if (!IsThreadMemory(address)) return;
    if (address >= current_->stack_low && address < current_->stack_high) return;
    AccessToThread(address, size, mode, pc);
  }
  // An access to heap memory, or a free of it, that fails because of what the memory is: that it
  // was freed, and by whom, is something the failing block depends on.
  void RecordFailedAccess(uintptr_t address, size_t size, uint8_t mode, uint16_t flags,
                          uint64_t pc) {
    RecordMemory(address, size, mode, flags | kBlockingTest | kNotMade, pc, MemoryOrder::kRelaxed);
    result_.accesses_failed = true;
  }
  void RecordMemory(uintptr_t address, size_t size, uint8_t mode, uint16_t flags, uint64_t pc,
                    MemoryOrder order) {
    NoteForSpinRule(address, size, mode);
    if (recording_) AppendMemory(address, size, mode, flags, pc, order);
  }
  // A hook is about to make an access itself, and records it when it has made it: it may fail
  // before that, because of what the memory is.
  void BeginAttempt(uintptr_t address, size_t size, uint8_t mode, uint16_t flags, uint64_t pc) {
    MicroAccess& attempt = current_->attempt;
    attempt.begin = address;
    attempt.pc = pc;
    attempt.size = static_cast<uint32_t>(size);
    attempt.flags = flags;
    attempt.mode = mode;
    asm volatile("" : : : "memory");  // the handler of the fault has to find it
  }
  void EndAttempt() {
    asm volatile("" : : : "memory");
    current_->attempt.size = 0;
  }
  // The running block's first recorded access to this byte; nullptr if there is none.
  const MicroAccess* FirstAccessTo(uintptr_t address) const;
  // One access to a non-memory cell.
  void RecordCell(Cell cell, uint8_t mode, uint16_t flags, uint64_t pc) {
    if (mode == kRead) {
      current_->spin.OnRead(cell, 1, static_cast<uint32_t>(position_));
    }
    MicroAccess a;
    a.begin = cell;
    a.pc = pc;
    a.size = 1;
    a.flags = flags;
    a.mode = mode;
    Record(a);
  }
  // What the operation needs is not there, and another thread may bring it.
  void RecordFailedTest(Cell cell, uint64_t pc) {
    RecordCell(cell, kRead, kValueRelevant | kBlockingTest | kNotMade, pc);
    result_.accesses_failed = true;
  }
  // "An operation on a synchronisation object reads the object's bytes" (init and destroy write).
  void RecordObject(const volatile void* object, size_t size, uint8_t mode, uint64_t pc);
  void Ledger(Cell object, int64_t before, int64_t after);
  void MarkEvent(uint16_t flags);   // EventFlags of the running event
  uint32_t Choose(uint32_t arity);  // an explored choice, 0 .. arity-1

  // The running thread reads its clock: what it acquired in this block may have put that forward.
  void NoteClockRead();
  // The running thread learned something of the cell, in an access recorded otherwise.
  void NoteRead(Cell cell) { current_->spin.OnRead(cell, 1, static_cast<uint32_t>(position_)); }
  // The thread changed something that its own future can see: a spin iteration ends here.
  void Progress() { current_->spin.Progress(); }
  // A spin point: a read-like operation at `pc` is about to be made (see spin.h). `object`: what an
  // atomic operation reads.
  void SpinPoint(uint64_t pc, const EntryRegisters& registers, uint64_t object = 0) {
    if (hook_calls_ >= look_from_ && LookForLoop(pc, registers, object)) return;
    CloseLoop(pc, registers, true);
  }
  // The same before a lock, which like a plain read is watched only if there are many.
  void SpinPointAtLock(uint64_t pc, const EntryRegisters& registers, const void* lock) {
    const auto object = reinterpret_cast<uintptr_t>(lock);
    if (hook_calls_ >= look_from_ && LookForLoop(pc, registers, object)) return;
    SpinTracker& spin = current_->spin;
    if (spin.watched() || spin.IsManyReads()) CloseLoop(pc, registers, true);
  }
  // The same where a loop that waits comes by: at a yield, a sleep, an attempt that may be refused.
  void WaitingPoint(uint64_t pc, const EntryRegisters& registers);
  // The same where a wait with a time-out, which has been counted, is found to repeat itself.
  void SpinPointAtWait(uint64_t pc, const EntryRegisters& registers) {
    CloseLoop(pc, registers, false);
  }
  // The same before a system call.
  void SystemCallInLoop(uint64_t pc);
  // For waits with a time-out. Does a bounded loop come by whose thread has to wait?
  bool ComesRoundBounded(uint64_t pc, const EntryRegisters& registers) {
    return ComesRound(PlaceOf(pc, registers), kRoundsBeforeBound);
  }
  // The same of a loop that does not repeat itself: it may be bounded for that (--fair).
  void RoundWithChange(uint64_t pc, const EntryRegisters& registers);
  // If so: until it may go on.
  void WaitInBoundedLoop(uint64_t pc, const EntryRegisters& registers) {
    WaitInBoundedLoop(PlaceOf(pc, registers));
  }
  // The part of it that only compares.
  SpinTracker::Arrival Arrive(uint64_t pc, const EntryRegisters& registers);
  // The running thread writes memory. On its own stack that is no change of anything by itself: the
  // spin rule compares it.
  void NoteOwnWrite(uintptr_t address, size_t size) {
    Thread& t = *current_;
    if (address < t.stack_low || address >= t.stack_high) {
      t.spin.Progress();
    } else {
      t.spin.stack().OnOwnWrite(address, size);
    }
  }
  // An operation on a synchronisation object is about to change its state.
  void NoteObjectChange(const volatile void* object, size_t size) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    BeforeWriteToOtherStack(address, size);
    current_->spin.stack().OnOwnWrite(address, size);
  }
  // The running thread is about to write memory. If that is the stack of another thread, the spin
  // rule has to know (stack_view.h).
  void BeforeWriteToOtherStack(uintptr_t address, size_t size) {
    if (!IsFiberStack(address)) return;
    if (address >= current_->stack_low && address < current_->stack_high) return;
    NoteWriteToOtherStack(address, size);
  }

  // The program has looked up its time zone: does it differ from what was known of it?
  bool ChangeZone(uint64_t zone) {
    const bool changes = zone_ != zone;
    zone_ = zone;
    return changes;
  }

  // -- for hooks: memory
  // The running thread asks for a block of memory. True if it is time to look how much there is
  // (memory_limit.h).
  bool NoteBlock(uint64_t size, uint64_t pc) {
    if (size > largest_block_.size) [[unlikely]] {
      largest_block_ = {size, pc, current_->id};
      TellLargestBlock();
    }
    return heap_.live_bytes() + size >= next_memory_look_;
  }
  // Not before that many bytes are in live blocks.
  void LookAtMemoryFrom(uint64_t live_bytes) { next_memory_look_ = live_bytes; }

  // -- for hooks: threads
  // The Thread of the current thread's next creation, with its slot ready; not yet existing.
  Thread& NextChild();
  // If that is none.
  std::string WhyNoMoreThreads() const;
  // Before it starts. False if there is no memory for a stack of this size.
  bool GrowStackOf(Thread& child, size_t size);
  void StartChild(Thread& child, void* (*entry)(void*), void* argument, uint64_t pc);
  [[noreturn]] void ExitThread(void* result, uint64_t pc);
  // Main has called pthread_exit, and has run what runs at the end of a thread. The process ends as
  // by exit(0) when all threads have ended: main then runs the exit handlers, which the C library
  // has the last of them do.
  [[noreturn]] void LeaveMain();
  // Wakes a waiter: marks it woken, records W wake(u); `flags` may add kEnables.
  void Wake(Thread& waiter, uint64_t pc);

  // -- for hooks: failures
  // Reports a bug; the thread goes on.
  void ReportBug(BugKind kind, std::string message, uint64_t pc, std::string details = {},
                 bool heuristic = false);
  // Reports a bug and stops the calling thread for good; the others run on.
  [[noreturn]] void FailThread(BugKind kind, std::string message, uint64_t pc,
                               std::string details = {});
  [[noreturn]] void FailAssumption(uint64_t pc);
  // The harness does something mc cannot check at all (fork, ...): no verdict, an error.
  [[noreturn]] void HarnessError(std::string message);
  // exit(): stops the caller; handlers run when nothing else can (kWait), or at once (kImmediate).
  [[noreturn]] void ExitProcess(int status, bool run_handlers, uint64_t pc);
  void Log(std::string text);

  // Something was changed for good that checkpoints do not know of: they are no longer true.
  void DropCheckpoints();

  ProgramHeap& heap() { return heap_; }
  Snapshot& snapshot() { return snapshot_; }
  // Called in a signal handler on behalf of the current thread, before FailThread runs in its
  // place.
  void SetSignalStack(std::vector<uint64_t> stack) { signal_stack_ = std::move(stack); }
  // Names of all threads ever seen, in slot order: "0", "0.0", "0.1", "0.1.0", ...
  std::string NameOfThread(ThreadId id) const;
  uint32_t slot_count() const { return static_cast<uint32_t>(threads_.size()); }
  // How a thread stands, for people: "can run", "has ended", "waits for mutex 0x... at ...". Valid
  // also after an execution, until the next one.
  std::string DescribeStanding(ThreadId id) const;
  // Names of threads are known to several processes, which run executions of one program: whoever
  // meets a new one enters it in `names`, kMaxThreads words of shared memory, all zero at first,
  // and whoever needs a name takes over those that others have entered. So an id means the same in
  // all.
  void ShareNames(std::atomic<uint64_t>* names);
  // Makes slots for the given names, in this order, before the first execution (replay).
  void PrepareNames(const std::vector<std::string>& names);
#ifdef MC_TEST_MUTANTS
  bool Mutated(EventModelMutation m) const { return options_.mutation == m; }
#else
  static constexpr bool Mutated(EventModelMutation) { return false; }
#endif
  bool Refined(Refinement r) const { return (options_.disabled_refinements & r) == 0; }
  ExecutionResult& mutable_result() { return result_; }

  // -- StateView
  uint32_t ThreadCount() const override { return thread_limit_; }
  bool IsEnabled(ThreadId thread) const override;
  ThreadId Current() const override;
  bool CurrentYielded() const override;
  bool IsRunnable(ThreadId thread) const override {
    return threads_[thread]->exists && threads_[thread]->status == ThreadStatus::kRunnable;
  }
  const Operation& Pending(ThreadId thread) const override { return threads_[thread]->pending; }
  std::vector<CellRange> PendingSpinCells(ThreadId thread) const override {
    const Thread& t = *threads_[thread];
    return WaitsInLoop(t.pending.kind) ? SpinCells(t) : std::vector<CellRange>();
  }

 private:
  void Append(const MicroAccess& access) {
    if (leaves_out_owned_ && IsMemory(access.begin)) {
      owned_.Enter(access.begin, access.size, *threads_[trace_.events.back().thread], Now());
    }
    // What orders other accesses is kept each time: a second release publishes more than the first.
    const bool orders = (access.flags & (kAcquire | kRelease | kFence)) != 0 ||
                        ((access.flags & kAtomic) != 0 && access.mode != kRead);
    if (!orders && index_.SeenOrAdd(access, static_cast<uint32_t>(trace_.accesses.size()),
                                    trace_.accesses.data())) {
      return;
    }
    trace_.accesses.push_back(access);
  }
  void AppendMemory(uintptr_t address, size_t size, uint8_t mode, uint16_t flags, uint64_t pc,
                    MemoryOrder order);
  void NoteForSpinRule(uintptr_t address, size_t size, uint8_t mode) {
    if (mode == kRead) {
      current_->spin.OnRead(address, size, static_cast<uint32_t>(position_));
    } else {
      NoteOwnWrite(address, size);
    }
  }
  uint64_t Now() const { return OwnedMemory::Time(position_, hook_calls_); }
  void PreemptBeforeAccess(uint64_t pc);
  void ReportPoisonedAccess(uintptr_t address, size_t size, uint8_t mode, uint16_t flags,
                            uint64_t pc);
  void AccessToThread(uintptr_t address, size_t size, uint8_t mode, uint64_t pc);
  void RecordBlockingTest(const Operation& operation);

  // -- scheduler_spin.cc: threads that wait in a loop
  void NoteWriteToOtherStack(uintptr_t address, size_t size);
  void SettleWritesToOtherStacks();
  void Announce(Thread& thread);
  std::vector<CellRange> SpinCells(const Thread& thread) const;
  void RecordSpinCells(const Thread& thread);
  void RecordSpinReads(const Thread& thread);
  bool SpinSatisfied(const Thread& thread) const;
  static bool SpinEnabled(const Thread& thread);
  bool CouldBeTaken(const LockOperation& refused) const;
  bool AnyLoopCouldGoOn() const;
  bool CloseLoop(uint64_t pc, const EntryRegisters& registers, bool counts);
  bool IsWrittenFor(const Thread& thread, size_t from, uint16_t but_flags) const;

  // -- scheduler_loops.cc: loops that have a bound
  LoopPlace PlaceOf(uint64_t pc, const EntryRegisters& registers) const;
  bool IsBounded(const LoopPlace& place) const;
  LoopRounds& RoundsAt(Thread& thread, const LoopPlace& place);
  bool LookForLoop(uint64_t pc, const EntryRegisters& registers, uint64_t object);
  bool PassLoop(const LoopPlace& place, uint32_t most);
  bool ComesRound(const LoopPlace& place, uint32_t most);
  bool AnyOtherWaits(const Thread& thread) const;
  const LoopRounds* LoopOfLongExecution() const;
  [[noreturn]] void GiveUpForLoop(const LoopPlace& place);
  void WaitInBoundedLoop(const LoopPlace& place);
  std::vector<SpinTracker::Read> ReadSince(size_t position) const;
  const Thread* NextForcedRound() const;
  void LeaveBoundedLoop(Thread& thread);

  // -- scheduler_threads.cc: slots and names of threads
  void MakeSlots(size_t count);
  void TellLargestBlock() {
    if (last_words_ != nullptr) last_words_->Tell(largest_block_);
  }
  Thread& AddThread(ThreadId creator, uint32_t ordinal);
  Thread& MakeThread(ThreadId creator, uint32_t ordinal);
  void ResetThreads();
  void ResetThread(Thread& thread);

  // -- scheduler_run.cc: the life of one execution
  void MakeExecution(Strategy& strategy, size_t keep);
  void BeginAnew();
  void RunThreads();
  void FinishEvent();
  bool HappenedAgain();
  bool IsRepetition() const { return strategy_ == &repetition_; }
  void BeginEvent(Thread& thread);
  Thread* PickNext();
  Thread* PickFromStrategy();
  Thread* PickFreely();
  Thread* PickFromKeptPrefix();
  bool Enabled(const Thread& thread) const;
  // The end of the running thread, as others see it.
  void RecordEnd(uint64_t pc);
  // Until nothing else can run; and what comes then.
  void AwaitHandlerPhase();
  void RunHandlersInPhase();
  bool AnyEnabled() const;
  const Thread* NextToRunHandlers() const;
  const Thread* NextWhenNoneIsEnabled() const;
  void Schedule();
  void SwitchTo(Thread& next);
  [[noreturn]] void StopThread(StopReason reason, ThreadStatus status);
  void EndExecution();
  void Diverge(size_t step, std::string found);
  static void FiberMain(Transfer from);
  static void* MainThread(void* self);

  // -- scheduler_checkpoint.cc
  bool MakeCheckpoint(Checkpoint* out);
  bool SaveThread(const Thread& thread, Checkpoint::SavedThread* out, MemoryCopy* memory) const;
  void ReturnTo(const Checkpoint& from);

  // -- scheduler_end.cc: what is looked at when nothing can run any more
  void FillEnds();
  void JudgeEnd();
  void DropBugsAfterFailedAssumption();
  bool ExcusedByStoppedThread() const;
  void AddThreadsWaitedFor(const Thread& thread, std::vector<const Thread*>* out) const;
  void ReportLockCycles();
  void ReportLockCycle(const std::vector<const Thread*>& cycle);
  void ReportBlockedThreads();
  void ReportLeaks();
  std::string DescribeWait(const Thread& thread) const;
  const Thread* HolderOf(uintptr_t object) const;

  ExecutionOptions options_;
  SiteFilter sites_;
  std::vector<LoopPlace> bounded_loops_;
  bool looks_for_loops_ = false;            // that do not tell that they wait
  uint64_t look_from_ = ~uint64_t{0};       // hook calls of a block: then LookForLoop
  uint64_t long_from_ = uint64_t{1} << 18;  // events of an execution: too many
  std::vector<Observer*> observers_;
  Strategy* strategy_ = nullptr;
  Trace trace_;
  AccessIndex index_;
  Repetition repetition_;
  ProgramHeap& heap_ = ProgramHeap::Global();
  Snapshot snapshot_;
  ExecutionResult result_;

  std::vector<Thread*> threads_;  // by id; every thread ever named
  OwnedMemory owned_{threads_};
  std::vector<Slot> slots_;  // of those threads, by id, and some that have no thread yet
  int slot_error_ = 0;       // why the system gave no more, when last asked; 0: it did
  const ThreadState new_thread_{};
  const ThreadLists no_lists_{};
  Thread* current_ = nullptr;
  Thread engine_;  // pseudo-thread: the loop in RunExecution

  bool recording_ = false;
  bool leaves_out_owned_ = false;  // accesses that only their thread could notice
  bool block_is_fresh_ = false;    // the running block has made no visible operation yet
  uint64_t hook_calls_ = 0;        // of the running block
  size_t kept_ = 0;                // events that are repeated, not recorded
  size_t free_from_ = 0;           // from here on the strategy is not asked (Strategy::FreeFrom)
  uint32_t block_choices_ = 0;     // choices made in the running block
  bool program_begun_ = false;     // Initialise was called
  bool ends_are_seen_ = false;     // SetEndsAreSeen
  std::vector<uintptr_t> held_;    // in Arrive
  uint32_t found_last_ = 0;        // by FindByPthread
  struct StackWrite {
    Thread* owner;
    uintptr_t address;
    size_t size;
  };
  std::vector<StackWrite> stack_writes_;  // of the running block, to stacks of other threads
  std::vector<uint64_t> signal_stack_;    // of a fatal signal, captured in its handler

  std::atomic<uint64_t>* shared_names_ = nullptr;

  int (*body_)(void*) = nullptr;
  uint64_t place_of_main_ = 0;
  uint32_t initial_vector_control_ = 0;  // what main begins with
  uint16_t initial_scalar_control_ = 0;
  void* body_argument_ = nullptr;

  uint16_t* mirror_ = nullptr;
  uint32_t mirror_capacity_ = 0;
  bool checkpoint_due_ = false;  // the engine is to make one
  size_t repeated_events_ = 0;
  CheckpointStack checkpoints_;
  std::atomic<uint32_t>* mirror_count_ = nullptr;
  std::atomic<uint64_t>* heartbeat_ = nullptr;
  std::atomic<uint32_t>* in_program_ = nullptr;
  LastWords* last_words_ = nullptr;
  bool handlers_have_waited_ = false;
};

// The one scheduler of the process.
extern Scheduler g_scheduler;

// Is this address in the library that the engine is?
bool IsEngineCode(uint64_t pc);
// Return addresses from the calling function outwards, at most 64, without the engine's own.
void CaptureStack(std::vector<uint64_t>* stack);
std::string Hex(uint64_t value);
// A code address inside a text for people: the supervisor replaces it by function, file and line.
std::string CodeAddress(uint64_t pc);

}  // namespace mc::sched

// Where a debugger stops: called in the thread that showed a bug. mc_failure_pc then says in which
// frame of the stack the program's own code is: its program counter, 0 if there is none.
extern "C" void mc_on_failure();
extern "C" uint64_t mc_failure_pc;

namespace mc::sched {

// Sets mc_failure_pc from a stack, innermost frame first, and calls mc_on_failure.
void StopInDebugger(const std::vector<uint64_t>& stack);

}  // namespace mc::sched

#endif  // MC_SCHED_SCHEDULER_H_
