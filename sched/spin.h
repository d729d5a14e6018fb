// SpinTracker: recognises a loop iteration that changed nothing (spec optimal-dpor 1.4,
// *Spinning*).
//
// At a read, failed compare-exchange, failed try-operation or yield, the thread's callee-saved
// registers, stack pointer and live stack are compared with those at an earlier call of its own at
// the same place. If they are equal and the thread only read in between, the next iteration would
// do the same again: the thread waits until another thread writes a cell it read. This is exact, no
// heuristic: everything the thread's future depends on is compared.
//
// Time is the exception. A loop that reads a clock or waits with a time-out never comes back to the
// same state, since its clock has moved. So values that show virtual time may differ; but before
// such a loop is closed, its clock is put on by a month, once: it leaves the loop then if it waits
// for a deadline within that month.
//
// Invariant: `visits` and `reads` describe the time since the thread last changed anything.
#ifndef MC_SCHED_SPIN_H_
#define MC_SCHED_SPIN_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/trace.h"

namespace mc::sched {

// The callee-saved registers at the entry of a hook, written by its assembly stub.
struct EntryRegisters {
  uint64_t stack_pointer;  // at the entry: points to the return address
  uint64_t callee_saved[6];
};

class SpinTracker {
 public:
  struct Read {
    CellRange cells;
    uint32_t event;  // position in the trace of the event that read them
  };

  // The thread changed something: what was seen before is no longer a loop.
  void Progress() {
    visit_count_ = 0;
    plain_reads_ = 0;
    clock_put_on_ = false;
    reads_.clear();
    stack_bytes_.clear();
  }
  void Reset() { Progress(); }
  // The thread reads its clock, which is *clock_ns.
  void OnClockRead(uint64_t* clock_ns) {
    clock_ns_ = clock_ns;
    ++clock_reads_;
  }
  // Counts a plain read; how many there were since the last change.
  uint32_t CountRead() { return ++plain_reads_; }

  void OnRead(Cell begin, uint64_t size, uint32_t event) {
    if (visit_count_ == 0) return;
    // The same read again, and no visit in between, whose iteration would begin with it.
    if (reads_.size() > visits_[visit_count_ - 1].first_read &&
        reads_.back().cells.begin == begin && reads_.back().cells.size == size &&
        reads_.back().event == event) {
      return;
    }
    if (reads_.size() >= kMaxReads) {
      Progress();
      return;
    }
    reads_.push_back({{begin, size}, event});
  }

  // The thread is at a place where a loop could close. Returns true if it is in exactly the state
  // of an earlier visit; *first_read is then the index of the iteration's first read. Otherwise
  // remembers this visit.
  bool Arrive(uint64_t pc, const EntryRegisters& registers, uintptr_t stack_high,
              size_t* first_read);

  // The reads of the iteration that begins with reads()[first]; forgets the earlier ones.
  void KeepReadsFrom(size_t first) {
    reads_.erase(reads_.begin(), reads_.begin() + static_cast<std::ptrdiff_t>(first));
    scanned_events = 0;
    written = false;
  }
  const std::vector<Read>& reads() const { return reads_; }

  // While the thread waits: how many events of the trace were searched for a write to `reads`, and
  // whether one was found.
  mutable size_t scanned_events = 0;
  mutable bool written = false;

 private:
  static constexpr size_t kMaxVisits = 8;
  static constexpr size_t kMaxReads = 4096;
  static constexpr size_t kMaxStack = 16384;  // a deeper live stack is not compared

  struct Visit {
    uint64_t pc;
    EntryRegisters registers;
    size_t stack_offset, stack_size;
    size_t first_read;
    uint64_t clock_reads;
  };

  bool SameState(const Visit& visit, const EntryRegisters& registers, const void* live,
                 size_t stack_size) const;
  bool PutClockOn(const Visit& visit);

  Visit visits_[kMaxVisits];
  size_t visit_count_ = 0;
  uint32_t plain_reads_ = 0;
  uint64_t clock_reads_ = 0;
  uint64_t* clock_ns_ = nullptr;
  bool clock_put_on_ = false;  // since the thread last changed anything
  std::vector<Read> reads_;
  std::vector<unsigned char> stack_bytes_;
};

}  // namespace mc::sched

#endif  // MC_SCHED_SPIN_H_
