// MustHappenBefore: limited happens-before over transitions (Blum 2016, definition 6).
//
// t1 of T1 must happen before the later t2 of T2 iff
//   (1) t1 enabled t2 (an edge, see below), or
//   (2) some t3 of T3 != T2 has t1 MHB t3 and t3 MHB t2, or
//   (3) T1 = T2.
// The side condition in (2) makes the relation not transitive through the later thread's own
// program order: what t2 learned from an edge holds for t2, not for T2's later blocks. It is
// transitive through the *source's* program order: let e -> t2 be an edge and e' an earlier block
// of e's thread. e' MHB e by (3), so e' MHB t2 by (2), and then whatever must happen before e' does
// so before t2 as well, again by (2). So two clocks per thread are needed:
//   * its accumulated clock: all that its blocks so far have learned. This is what an edge hands
//   on;
//   * the clock of the current block: the join of what the edges into this block handed on. This
//     alone, with program order, decides t1 MHB t2.
//
// An edge is an acquire at the beginning of a block, on the cell of one of the kinds start, exit,
// wake, barrier generation, semaphore, whose source is the latest earlier release of that cell that
// enables (kRelease | kEnables). The beginning of a block is its first operation: an operation that
// found its way free in the middle of a block orders only a part of the transition, and a try
// operation could have failed and gone on, so neither gives an edge. Unlock -> lock gives none:
// more candidates, never fewer, and the same whichever linearisation of a trace is run.
#ifndef MC_RACEDET_MUST_HAPPEN_BEFORE_H_
#define MC_RACEDET_MUST_HAPPEN_BEFORE_H_

#include <cstdint>

#include "racedet/clock_arena.h"
#include "racedet/clock_cells.h"
#include "racedet/stable_array.h"
#include "racedet/undo_log.h"
#include "sched/trace.h"

namespace mc::racedet {

class MustHappenBefore {
 public:
  // Neither is owned; both are cut back by the owner.
  MustHappenBefore(ClockArena& clocks, UndoLog& log) : clocks_(clocks), log_(log), cells_(log) {}

  void Reset();

  // Makes `event` the current block: events are given in execution order, complete.
  void BeginEvent(const sched::Trace& trace, const sched::Event& event);

  // Accesses of `other` (not the current thread) at positions below this must happen before the
  // current block.
  uint32_t Bound(sched::ThreadId other) const {
    return block_.empty() ? 0 : clocks_.Get(block_, other);
  }

 private:
  struct Thread {
    uint32_t clock = ClockArena::kEmpty;  // accumulated
  };

  void TakeEdge(Thread& thread, sched::ThreadId id, sched::Cell cell);

  ClockArena& clocks_;
  UndoLog& log_;
  ClockCells cells_;
  StableArray<Thread> threads_;
  ClockArena::Publication block_;  // what the edges into the current block handed on
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_MUST_HAPPEN_BEFORE_H_
