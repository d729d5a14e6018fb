// Threads that wait in a loop: where the scheduler meets the spin rule (spin.h, lock_attempts.h).
#include <algorithm>

#include "sched/scheduler.h"

namespace mc::sched {

// ------------------------------------------------------------------------------ closing a loop

// `counts`: a loop that closes here comes by here (loop_bound.h), which has not been counted yet.
// False if none does.
bool Scheduler::CloseLoop(uint64_t pc, const EntryRegisters& registers, bool counts) {
  Thread& t = *current_;
  if (Arrive(pc, registers) != SpinTracker::Arrival::kLoop) return false;
  if (counts && PassLoop(PlaceOf(pc, registers), kRoundsBeforeBound)) return true;
  const bool takes_locks = t.spin.locks().any_taken();
  // The block ends even if the loop would be left now: where it ends must not depend on who wrote
  // meanwhile.
  const EntryRegisters here = registers;  // which other threads' hooks overwrite meanwhile
  Operation spin;
  spin.kind = OperationKind::kSpin;
  spin.pc = pc;
  result_.needs_full_footprints = true;
  EndBlock(spin, &SpinEnabled);
  if (takes_locks) {
    t.spin.BeginIteration();  // and no state is forgotten: else it would count as new again
  } else {
    t.spin.Progress();
    Arrive(pc, here);
  }
  return true;
}

SpinTracker::Arrival Scheduler::Arrive(uint64_t pc, const EntryRegisters& registers) {
  Thread& t = *current_;
  held_.clear();
  for (const Thread::HeldMutex& held : t.held) held_.push_back(held.object);
  return t.spin.Arrive(pc, registers, held_);
}

void Scheduler::NoteWriteToOtherStack(uintptr_t address, size_t size) {
  const size_t slot = (address - kFiberStackBase) / kFiberStackStride;
  if (slot >= thread_limit_ || !threads_[slot]->exists) return;
  threads_[slot]->spin.stack().BeforeWriteByOther(address, size);
  stack_writes_.push_back({threads_[slot], address, size});
}

// At the end of a block.
void Scheduler::SettleWritesToOtherStacks() {
  for (const StackWrite& write : stack_writes_) {
    write.owner->spin.stack().AfterWriteByOther(write.address, write.size);
  }
  stack_writes_.clear();
}

// ------------------------------------------------------------------------- what a loop waits for

// What a loop read, each range once, with the first event of the iteration that read it.
std::vector<CellRange> Scheduler::SpinCells(const Thread& thread) const {
  std::vector<CellRange> cells;
  for (const SpinTracker::Read& read : thread.spin.reads()) {
    const bool known = std::ranges::any_of(cells, [&](const CellRange& range) {
      return range.begin == read.cells.begin && range.size == read.cells.size;
    });
    if (known) continue;
    cells.push_back({read.cells.begin, read.cells.size, trace_.events[read.event].index});
  }
  return cells;
}

void Scheduler::RecordSpinCells(const Thread& thread) {
  for (const CellRange& range : SpinCells(thread)) trace_.spin_cells.push_back(range);
}

// A woken spinner reads all cells it waited for again: that is what makes its block depend on the
// write that woke it, whichever of them the program looks at first.
void Scheduler::RecordSpinReads(const Thread& thread) {
  for (const SpinTracker::Read& read : thread.spin.reads()) {
    MicroAccess access;
    access.begin = read.cells.begin;
    access.pc = thread.pending.pc;
    access.size = static_cast<uint32_t>(read.cells.size);
    // Not an access of the program's own: detectors leave blocking tests alone.
    access.flags = kValueRelevant | kAtomic | kBlockingTest;
    access.mode = kRead;
    Append(access);
  }
}

bool Scheduler::SpinEnabled(const Thread& thread) { return g_scheduler.SpinSatisfied(thread); }

// Has another thread written a cell that the spinning thread read, after that read?
bool Scheduler::SpinSatisfied(const Thread& thread) const {
  const SpinTracker& spin = thread.spin;
  if (spin.written) return true;
  const bool bounded = thread.pending.kind == OperationKind::kBoundedLoop;
  spin.written = IsWrittenFor(thread, spin.scanned_events, bounded ? kPastBound : 0);
  spin.scanned_events = finished_events_;
  return spin.written;
}

// Among the events from `from` on, those that have one of `but_flags` left out.
bool Scheduler::IsWrittenFor(const Thread& thread, size_t from, uint16_t but_flags) const {
  const SpinTracker& spin = thread.spin;
  const std::vector<CellRange> cells = SpinCells(thread);
  if (from == 0) {
    from = finished_events_;
    for (const SpinTracker::Read& read : spin.reads()) from = std::min<size_t>(from, read.event);
  }
  for (size_t i = from; i < finished_events_; ++i) {
    const Event& event = trace_.events[i];
    if (event.thread == thread.id || (event.flags & but_flags) != 0) continue;
    for (const MicroAccess& access : trace_.AccessesOf(event)) {
      if ((access.mode & (kWrite | kAdd)) == 0) continue;
      for (const SpinTracker::Read& read : spin.reads()) {
        if (i > read.event && WakesSpinner(access, read.cells, cells)) return true;
      }
    }
  }
  return false;
}

// ---------------------------------------------------------------------- loops that take locks

// The thread got further: now its attempts to lock count (lock_attempts.h).
void Scheduler::Announce(Thread& thread) {
  for (const uintptr_t lock : thread.spin.locks().unannounced()) {
    if (Holds(thread, lock)) continue;
    RecordCell(MakeCell(CellKind::kLockChange, lock), kAdd, 0, 0);
  }
  thread.spin.Announced();
}

// Nobody holds any more what the operation was refused for.
bool Scheduler::CouldBeTaken(const LockOperation& refused) const {
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists) continue;
    if (!Holds(t, refused.lock)) continue;
    const bool reads = std::ranges::any_of(t.read_holds, [&](const Thread::ReadHold& hold) {
      return hold.lock == refused.lock && hold.count != 0;
    });
    if (refused.step != LockStep::kRefusedReading || !reads) return false;
  }
  return true;
}

// Is there a thread that waits in a loop although a lock it failed to take has become free?
bool Scheduler::AnyLoopCouldGoOn() const {
  if (process_exited_) return false;
  for (uint32_t id = 0; id < thread_limit_; ++id) {
    const Thread& t = *threads_[id];
    if (!t.exists || t.status != ThreadStatus::kRunnable ||
        t.pending.kind != OperationKind::kSpin || !t.spin.locks().any_taken()) {
      continue;
    }
    for (const LockOperation& operation : t.spin.lock_operations()) {
      if (operation.refused() && CouldBeTaken(operation)) return true;
    }
  }
  return false;
}

}  // namespace mc::sched
