// SpinTracker: recognises a loop iteration that changed nothing (spec optimal-dpor 1.4,
// *Spinning*).
//
// At a read, failed compare-exchange, failed try-operation or yield, the thread's callee-saved
// registers, stack pointer and live stack are compared with those at an earlier call of its own at
// the same place. If they are equal and the thread only read in between, the next iteration would
// do the same again: the thread waits until another thread writes a cell it read. This is exact, no
// heuristic: everything the thread's future depends on is compared.
//
// *Locks taken and given back.* An iteration may lock mutexes if it unlocks them all again: a poll
// under a mutex, or the back-off of std::lock (lock a; try b fails; unlock a; lock b; ...). Others
// can notice it only by a failing try-lock. Two threads that back off from each other could go on
// so for ever, each changing what the other looks at; but an attempt that failed and that nobody
// who got any further noticed can be left out of the execution, or be done in one with the next.
// So what a thread does to mutexes while it is watched is *tentative* (kTentative) and wakes no
// thread in such a loop. It is *announced* (kAdd on the kMutexChange cells of the mutexes) once the
// thread turns out to get further: it changes something, comes to a state it has not been in since
// it last changed anything, waits for something else or ends. A thread in such a loop waits for a
// write that is not tentative or for an announcement. Hence an execution holds finitely many
// attempts. It can end with threads that wait although what they tried has become free since: it
// is then one with attempts too many, which does not count (ExecutionOutcome::kRepeats).
// The argument is made for attempts that take mutexes, fail at one and give all back, as std::lock
// does. It does not cover a loop whose single iteration waits for several attempts of another
// thread that loops as well, by refusals in a certain order, and tells a third thread half-way.
//
// Time is the exception. A loop that reads a clock or waits with a time-out never comes back to the
// same state, since its clock has moved. So values that show virtual time may differ; but before
// such a loop is closed, its clock is put on by a month, once: it leaves the loop then if it waits
// for a deadline within that month.
//
// Invariant: visits, reads and mutex operations describe the time since the thread last changed
// anything; `unannounced` may be older by at most one block.
#ifndef MC_SCHED_SPIN_H_
#define MC_SCHED_SPIN_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sched/trace.h"

namespace mc::sched {

// The callee-saved registers at the entry of a hook, written by its assembly stub.
struct EntryRegisters {
  uint64_t stack_pointer;  // at the entry: points to the return address
  uint64_t callee_saved[6];
};

// A plain read or a lock can close a spin loop too, but a plain loop over an array is far more
// likely: after this many of them without any change the thread is watched.
inline constexpr uint32_t kReadsBeforeWatching = 64;

class SpinTracker {
 public:
  struct Read {
    CellRange cells;
    uint32_t event;  // position in the trace of the event that read them
  };

  // What an iteration does to a mutex.
  enum class MutexStep : uint8_t { kTaken, kReleased, kRefused };
  struct MutexOperation {
    uintptr_t mutex;
    MutexStep step;
  };
  // The state in which a thread comes to a place where a loop could close.
  enum class Arrival : uint8_t {
    kNew,    // not seen since it last changed anything; now remembered
    kKnown,  // seen, but it holds a mutex that the loop gives back elsewhere
    kLoop,   // seen: an iteration has changed nothing
  };

  // The thread changed something: what was seen before is no longer a loop.
  void Progress() {
    visit_count_ = 0;
    plain_reads_ = 0;
    clock_put_on_ = false;
    reads_.clear();
    loop_read_ = 0;
    stack_bytes_.clear();
    mutex_operations_.clear();
    used_mutexes_ = false;
    last_begin_ = 0;
  }
  void Reset() {
    Progress();
    unannounced_.clear();
    announce_ = false;
  }

  // Is there nothing to remember but counters? They are all that a checkpoint saves.
  bool IsIdle() const {
    return visit_count_ == 0 && !used_mutexes_ && reads_.empty() && unannounced_.empty();
  }
  struct Counters {
    uint32_t plain_reads = 0;
    uint64_t clock_reads = 0;
    uint64_t* clock_ns = nullptr;
    bool clock_put_on = false;
    bool announce = false;
  };
  Counters counters() const {
    return {plain_reads_, clock_reads_, clock_ns_, clock_put_on_, announce_};
  }
  void RestoreIdle(const Counters& counters) {
    Reset();
    plain_reads_ = counters.plain_reads;
    clock_reads_ = counters.clock_reads;
    clock_ns_ = counters.clock_ns;
    clock_put_on_ = counters.clock_put_on;
    announce_ = counters.announce;
  }

  // The thread reads its clock, which is *clock_ns.
  void OnClockRead(uint64_t* clock_ns) {
    clock_ns_ = clock_ns;
    ++clock_reads_;
  }
  // Counts a plain read or a lock; how many there were since the last change.
  uint32_t CountRead() { return ++plain_reads_; }

  void OnRead(Cell begin, uint64_t size, uint32_t event) {
    if (visit_count_ == 0) return;
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
  bool watched() const { return visit_count_ != 0 || used_mutexes_; }
  // A watched thread took, released or failed to take a mutex.
  void OnMutexOperation(const void* mutex, MutexStep step);
  // Has it locked or unlocked anything since it last changed anything?
  bool used_mutexes() const { return used_mutexes_; }

  // The mutexes whose operations are to be announced now, at the end of a block. To be cleared.
  bool announces() const { return !unannounced_.empty() && (announce_ || !watched()); }
  void AnnounceSoon() { announce_ = true; }
  std::vector<uintptr_t>& unannounced() { return unannounced_; }
  void Announced() {
    unannounced_.clear();
    announce_ = false;
  }

  // The thread is at a place where a loop could close, holding the mutexes `held`. `recorded`: its
  // stack was entered into the trace as read here, since other threads may write to it.
  Arrival Arrive(uint64_t pc, const EntryRegisters& registers, uintptr_t stack_high,
                 std::span<const uintptr_t> held, bool recorded);

  // After Arrive() returned kLoop: the reads and the mutex operations of the closed iteration.
  std::span<const Read> reads() const { return std::span(reads_).subspan(loop_read_); }
  std::span<const MutexOperation> mutex_operations() const {
    return std::span(mutex_operations_).subspan(loop_mutex_operation_);
  }
  // Has been woken, in the same state: the next iteration begins.
  void BeginIteration();

  // While the thread waits: how many events of the trace were searched for a write to `reads`, and
  // whether one was found.
  mutable size_t scanned_events = 0;
  mutable bool written = false;

 private:
  static constexpr size_t kMaxVisits = 24;
  static constexpr size_t kMaxReads = 4096;
  static constexpr size_t kMutexSize = 40;    // sizeof(pthread_mutex_t)
  static constexpr size_t kMaxStack = 16384;  // a deeper live stack is not compared

  struct Visit {
    uint64_t pc;
    EntryRegisters registers;
    size_t stack_offset, stack_size;  // in stack_bytes_, followed by the mutexes it held
    size_t held_count;
    // Of the iteration that began when the thread was last here.
    size_t first_read, first_mutex_operation;
    uint64_t clock_reads;
    bool recorded;
  };

  bool SameState(const Visit& visit, const EntryRegisters& registers, const void* live,
                 size_t stack_size, std::span<const uintptr_t> held);
  void LeaveOutMutexes(uintptr_t stack_low, size_t stack_size, const unsigned char** old_stack,
                       const void** live);
  bool PutClockOn(const Visit& visit);
  void KeepRecordedVisits();
  bool HoldsWhatLoopReleases(const Visit& visit, std::span<const uintptr_t> held) const;

  Visit visits_[kMaxVisits];
  size_t visit_count_ = 0;
  uint32_t plain_reads_ = 0;
  uint64_t clock_reads_ = 0;
  uint64_t* clock_ns_ = nullptr;
  bool clock_put_on_ = false;  // since the thread last changed anything
  std::vector<Read> reads_;
  size_t last_begin_ = 0;  // where in reads_ the newest iteration of any visit begins
  std::vector<MutexOperation> mutex_operations_;
  bool used_mutexes_ = false;  // one of them was more than a refusal
  size_t loop_visit_ = 0, loop_read_ = 0, loop_mutex_operation_ = 0;  // where the loop began
  std::vector<unsigned char> stack_bytes_;
  std::vector<unsigned char> old_copy_, live_copy_;  // in LeaveOutMutexes
  std::vector<uintptr_t> unannounced_;               // mutexes, each once
  bool announce_ = false;
};

}  // namespace mc::sched

#endif  // MC_SCHED_SPIN_H_
