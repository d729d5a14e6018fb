// HappensBefore: happens-before as C++ defines it, over the ordered micro-accesses of a trace.
//
// Vector clocks in the manner of VectorClock and FastTrack, with the state of each synchronisation
// object as follows (C is the clock of the acting thread, L that of the object):
//   mutex         acquire C := C + L; release L := C
//   rwlock        reader: acquire takes the writer half's clock, release joins the readers half;
//                 writer: acquire takes both, release sets the writer half. So a reader's release
//                 orders later writers, not later readers
//   condition variable   nothing: it orders through its mutex alone, as in C++. So neither its own
//                 cell nor the wake-up of a re-acquiring waiter gives an edge
//   others        release L := L + C; acquire C := C + L (start, exit, semaphore, barrier, ...)
//   atomics       a release store sets L := C; a relaxed one L := the thread's last release fence,
//   or
//                 nothing: a plain store ends a release sequence, also one of its own thread's
//                 (C++20). A read-modify-write continues it: L := L + (C or the release fence). An
//                 acquire load C := C + L; a relaxed one keeps L for the next acquire fence. A
//                 plain write to the bytes clears L. Consume is acquire. A sequentially consistent
//                 fence is an acquire and a release fence: it gives no further happens-before.
// An atomic location is named by its first byte.
#ifndef MC_RACEDET_HAPPENS_BEFORE_H_
#define MC_RACEDET_HAPPENS_BEFORE_H_

#include <cstdint>

#include "racedet/clock_arena.h"
#include "racedet/clock_cells.h"
#include "racedet/stable_array.h"
#include "racedet/undo_log.h"
#include "sched/event.h"

namespace mc::racedet {

class HappensBefore {
 public:
  // Neither is owned; both are cut back by the owner.
  HappensBefore(ClockArena& clocks, UndoLog& log) : clocks_(clocks), log_(log), cells_(log) {}

  void Reset();

  // To be called first for each event.
  void BeginEvent(const sched::Event& event) { threads_.GrowTo(event.thread + 1u); }

  // The acquire half of an access, then its release half. Accesses of plain memory have neither.
  void Acquire(const sched::Event& event, const sched::MicroAccess& access);
  void Release(const sched::Event& event, const sched::MicroAccess& access, uint32_t position);

  // The atomic at `cell` was overwritten by something that is not an atomic operation.
  void ForgetAtomic(sched::Cell cell);

  // The clock of `thread` now, to be asked with ClockArena::Get: an access at `position` by u
  // happens before what the thread does now iff position < Get(clock, u).
  ClockArena::Ref ClockOf(sched::ThreadId thread) const { return threads_[thread].clock; }

 private:
  struct Thread {
    uint32_t clock = ClockArena::kEmpty;
    uint32_t fence_clock = ClockArena::kEmpty;      // at its last release fence,
    uint32_t fence_bound = 0;                       // which is just below this position
    uint32_t pending_acquire = ClockArena::kEmpty;  // read by relaxed loads, for an acquire fence
  };

  void Take(Thread& thread, sched::Cell cell);
  void Join(sched::Cell cell, const ClockArena::Publication& publication);
  void ReleaseAtomic(const Thread& thread, const sched::MicroAccess& access,
                     const ClockArena::Publication& now);

  ClockArena& clocks_;
  UndoLog& log_;
  ClockCells cells_;
  StableArray<Thread> threads_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_HAPPENS_BEFORE_H_
