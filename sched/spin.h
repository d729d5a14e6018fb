// SpinTracker: recognises a loop iteration that changed nothing (spec optimal-dpor 1.4,
// *Spinning*).
//
// At a read, failed compare-exchange, failed try-operation or yield, the thread's callee-saved
// registers, floating-point environment, stack pointer and live stack are compared with those at an
// earlier call of its own at the same place. If they are equal and the thread only read in between,
// the next iteration would do the same again: the thread waits until another thread writes a cell
// it read. This is exact, no heuristic: everything the thread's future depends on is compared.
//
// Of programs that are not optimised much of a frame is never written. It holds what was there
// before: hooks that may be part of a loop leave nothing of the engine there (interpose/caller.h),
// and the stack begins as zeros.
//
// What other threads write to the thread's stack is no part of the comparison (stack_view.h): the
// thread waits for that only if the loop reads it. What a loop may do to locks: lock_attempts.h.
//
// Time is the exception. A loop that reads a clock or waits with a time-out never comes back to the
// same state, since its clock has moved. So values that show virtual time may differ; but before
// such a loop is closed, its clock is put on by a month, once: it leaves the loop then if it waits
// for a deadline within that month.
//
// Invariant: visits, reads and lock operations describe the time since the thread last changed
// anything.
#ifndef MC_SCHED_SPIN_H_
#define MC_SCHED_SPIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sched/lock_attempts.h"
#include "sched/stack_view.h"
#include "sched/trace.h"

namespace mc::sched {

// How floating-point operations of a thread round, what they trap and which exceptions they have
// raised: the rest of what is kept over calls.
struct FloatingEnvironment {
  uint32_t vector = 0;                             // MXCSR
  uint16_t scalar_control = 0, scalar_status = 0;  // x87; of the status, the exceptions

  bool operator==(const FloatingEnvironment&) const = default;
};
FloatingEnvironment ReadFloatingEnvironment();

// The callee-saved registers at the entry of a hook, written by its assembly stub.
struct EntryRegisters {
  uint64_t stack_pointer;  // at the entry: points to the return address
  uint64_t callee_saved[6];
};

// A plain read or a lock can close a spin loop too, but a plain loop over an array is far more
// likely: after this many of them without any change the thread is watched (and after more, if it
// has been watched before to no avail).
inline constexpr uint32_t kReadsBeforeWatching = 64;

// All that is remembered of a thread, but for its stack: what a checkpoint saves.
struct SpinMemory {
  // The longest loop that is recognised, in visits. Up to there the limit grows by and by: most
  // threads that visit many places are in no loop.
  static constexpr size_t kFirstVisitLimit = 24, kLastVisitLimit = 192;

  struct Read {
    CellRange cells;
    uint32_t event;  // position in the trace of the event that read them
  };

  struct Visit {
    uint64_t pc;
    EntryRegisters registers;
    FloatingEnvironment floating;
    size_t stack_offset, stack_size;  // in stack_bytes_, followed by the locks it held
    size_t held_count;
    uint32_t iteration;  // in which the thread was last here
    // The first ones after that.
    size_t first_read, first_lock_operation;
    uint64_t clock_reads;
  };

  std::vector<Visit> visits_;
  size_t visit_limit_ = kFirstVisitLimit;
  uint32_t plain_reads_ = 0;
  uint64_t clock_reads_ = 0;
  uint64_t* clock_ns_ = nullptr;
  bool clock_put_on_ = false;  // since the thread last changed anything
  std::vector<Read> reads_;
  size_t last_begin_ = 0;  // where in reads_ the thread was last at a visit
  uint32_t iteration_ = 0;
  LockAttempts locks_;
  size_t loop_visit_ = 0, loop_read_ = 0, loop_lock_operation_ = 0;  // where the loop began
  std::vector<unsigned char> stack_bytes_;
  // While the thread waits: how many events of the trace were searched for a write to `reads`, and
  // whether one was found.
  mutable size_t scanned_events = 0;
  mutable bool written = false;
};

class SpinTracker : private SpinMemory {
 public:
  using SpinMemory::kFirstVisitLimit;
  using SpinMemory::kLastVisitLimit;
  using SpinMemory::scanned_events;
  using SpinMemory::written;
  using Read = SpinMemory::Read;

  // The state in which a thread comes to a place where a loop could close.
  enum class Arrival : uint8_t {
    kNew,    // not seen since it last changed anything; now remembered
    kKnown,  // seen, but no loop closes here and now
    kLoop,   // seen: an iteration has changed nothing
  };

  // The thread changed something: what was seen before is no longer a loop.
  void Progress() {
    plain_reads_ = 0;
    if (is_clear_) return;
    StartOver();
    clock_put_on_ = false;
    visit_limit_ = kFirstVisitLimit;
    is_clear_ = true;
  }
  // A new execution begins. `stack_high` is the end of the thread's stack.
  void Reset(uintptr_t stack_high) {
    Progress();
    stack_high_ = stack_high;
    stack_.Reset(stack_high);
    locks_.Reset();
  }

  // For checkpoints. Of an idle tracker only counters matter.
  bool IsIdle() const {
    return !watched() && reads_.empty() && locks_.operations().empty() &&
           locks_.unannounced().empty();
  }
  struct Counters {
    uint32_t plain_reads = 0;
    uint64_t clock_reads = 0;
    uint64_t* clock_ns = nullptr;
    bool clock_put_on = false;
    size_t visit_limit = kFirstVisitLimit;
  };
  Counters counters() const {
    return {plain_reads_, clock_reads_, clock_ns_, clock_put_on_, visit_limit_};
  }
  void RestoreIdle(const Counters& counters) {
    Reset(stack_high_);
    plain_reads_ = counters.plain_reads;
    clock_reads_ = counters.clock_reads;
    clock_ns_ = counters.clock_ns;
    clock_put_on_ = counters.clock_put_on;
    visit_limit_ = counters.visit_limit;
    is_clear_ = !clock_put_on_ && visit_limit_ == kFirstVisitLimit;
  }
  const SpinMemory& memory() const { return *this; }
  void Restore(const SpinMemory& memory) {
    Reset(stack_high_);
    static_cast<SpinMemory&>(*this) = memory;
    is_clear_ = false;
  }

  // What is written to the thread's stack, by itself or others.
  StackView& stack() { return stack_; }
  const StackView& stack() const { return stack_; }
  // The thread reads its clock, which is *clock_ns.
  void OnClockRead(uint64_t* clock_ns) {
    clock_ns_ = clock_ns;
    ++clock_reads_;
  }
  // A plain read or a lock: are there so many that the thread may be in a loop?
  bool IsManyReads() {
    return ++plain_reads_ > kReadsBeforeWatching &&
           plain_reads_ > kReadsBeforeWatching * (visit_limit_ / kFirstVisitLimit);
  }

  // A plain access to memory of the thread's own, if there is nothing to do about it but to count.
  bool CanPassRead() const { return visits_.empty() && plain_reads_ < kReadsBeforeWatching; }
  void PassRead() { ++plain_reads_; }
  bool CanPassWrite(bool on_own_stack) const {
    return on_own_stack ? !stack_.any_marked() : is_clear_;
  }
  void PassWrite(bool on_own_stack) {
    if (!on_own_stack) plain_reads_ = 0;
  }

  void OnRead(Cell begin, uint64_t size, uint32_t event) {
    if (!visits_.empty()) OnWatchedRead(begin, size, event);
  }
  void OnWatchedRead(Cell begin, uint64_t size, uint32_t event) {
    // The same read again, and no iteration that would begin with it in between.
    if (reads_.size() > last_begin_ && reads_.back().cells.begin == begin &&
        reads_.back().cells.size == size && reads_.back().event == event) {
      return;
    }
    if (reads_.size() >= kMaxReads) {
      Progress();
      return;
    }
    reads_.push_back({{begin, size}, event});
  }

  // Is anything remembered that a loop could close at?
  bool watched() const { return !visits_.empty() || locks_.any_taken(); }
  // A watched thread took or released a lock, or failed to take it.
  void OnLock(const LockOperation& operation) {
    if (locks_.operations().size() >= kMaxReads) Progress();
    is_clear_ = false;
    locks_.Add(operation);
  }
  const LockAttempts& locks() const { return locks_; }
  // Are the operations on locks to be announced at the end of this block?
  bool announces() const {
    return !locks_.unannounced().empty() && (locks_.announces_soon() || !watched());
  }
  void AnnounceSoon() { locks_.AnnounceSoon(); }
  void Announced() { locks_.Announced(); }

  // The thread is at a place where a loop could close, holding the locks `held`.
  Arrival Arrive(uint64_t pc, const EntryRegisters& registers, std::span<const uintptr_t> held);

  // After Arrive() returned kLoop: the reads and the lock operations of the closed iteration.
  std::span<const Read> reads() const { return std::span(reads_).subspan(loop_read_); }
  std::span<const LockOperation> lock_operations() const {
    return locks_.operations().subspan(loop_lock_operation_);
  }
  // The thread waits for a write to these, each cell once; Progress() ends that.
  void WaitForWriteTo(std::vector<Read> reads) {
    Progress();
    is_clear_ = false;
    reads_ = std::move(reads);
    scanned_events = 0;
    written = false;
  }
  uint64_t clock_reads() const { return clock_reads_; }
  // Has been woken, in the same state: the next iteration begins. No loop closes before it is over.
  void BeginIteration() {
    ++iteration_;
    IterationBeginsAt(visits_[loop_visit_]);
  }

 private:
  static constexpr size_t kMaxReads = 4096;

  using Visit = SpinMemory::Visit;

  // Forgets where the thread was, as if the loop began here.
  void StartOver() {
    plain_reads_ = 0;
    visits_.clear();
    reads_.clear();
    loop_read_ = loop_lock_operation_ = 0;
    stack_bytes_.clear();
    locks_.Progress();
    last_begin_ = 0;
  }
  bool SameState(const Visit& visit, const EntryRegisters& registers, const unsigned char* live,
                 size_t stack_size, std::span<const uintptr_t> held);
  void LeaveOutLocks(uintptr_t stack_low, size_t stack_size, const unsigned char** old_stack,
                     const unsigned char** live);
  bool PutClockOn(const Visit& visit);
  void IterationBeginsAt(Visit& visit);
  bool HoldsWhatLoopReleases(const Visit& visit, std::span<const uintptr_t> held) const;

  bool is_clear_ = false;  // nothing has happened since the thread last changed anything
  uintptr_t stack_high_ = 0;
  StackView stack_;
  std::vector<unsigned char> old_copy_, live_copy_;  // in LeaveOutLocks
};

}  // namespace mc::sched

#endif  // MC_SCHED_SPIN_H_
