// Trace: the record of one execution, from the first event to its end.
//
// Invariants: events are in execution order; the arrays they point into grow and shrink with them
// like stacks, so cutting the trace back to a prefix is O(1) (CutBack). A search keeps the trace of
// the last execution and re-executes its prefix without recording it again ("fast-forward").
#ifndef MC_SCHED_TRACE_H_
#define MC_SCHED_TRACE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sched/event.h"

namespace mc::sched {

enum class ThreadStatus : uint8_t {
  kRunnable,  // has a next block (which may be blocked: see `pending`)
  kFinished,  // ran to its end
  kStopped,   // failed, or failed an assumption, or called exit: never runs again
};

// How a thread stands when the execution is over (or at any cut).
struct ThreadEnd {
  ThreadStatus status = ThreadStatus::kRunnable;
  bool enabled = false;  // runnable and its next block could run
  bool woken = false;    // waiters: the kWake cell was written since it began to wait
  uint32_t events = 0;   // number of its events
  Operation pending;     // its next operation, if it can block
  uint32_t first_spin_cell = 0, spin_cell_count = 0;  // pending.kind == kSpin
};

enum class ExecutionOutcome : uint8_t {
  kCompleted,         // nothing is enabled any more (this includes deadlock and failures)
  kAssumptionFailed,  // completed, but some mc_assume failed: does not count
  kBlocked,           // the strategy gave up: every enabled thread sleeps, or a bound
  kExited,            // kAlive was written
  kRepeats,           // completed, but threads tried locks more often than anyone noticed
                      // (lock_attempts.h): the same happens in one without that, does not count
};

constexpr bool CountsAsExecution(ExecutionOutcome outcome) {
  return outcome == ExecutionOutcome::kCompleted || outcome == ExecutionOutcome::kExited;
}

// A range of cells a spinning thread read in its last iteration.
struct CellRange {
  Cell begin = 0;
  uint64_t size = 0;
  uint32_t reader = 0;  // index, within the thread, of the iteration's first event that read it
};

// Does the access wake a thread whose loop read `range`, one of its `cells`? What other threads do
// to locks in such loops does not wake a thread that hears of it when it is announced
// (lock_attempts.h).
bool WakesSpinner(const MicroAccess& access, const CellRange& range,
                  std::span<const CellRange> cells);

class Trace {
 public:
  std::vector<Event> events;
  std::vector<MicroAccess> accesses;
  std::vector<Choice> choices;
  std::vector<LedgerEntry> ledger;
  std::vector<CellRange> spin_cells;
  std::vector<ThreadEnd> ends;  // indexed by ThreadId; valid after the execution ended
  ExecutionOutcome outcome = ExecutionOutcome::kCompleted;

  size_t size() const { return events.size(); }
  std::span<const MicroAccess> AccessesOf(const Event& e) const {
    return {accesses.data() + e.first_access, e.access_count};
  }
  std::span<const Choice> ChoicesOf(const Event& e) const {
    return {choices.data() + e.first_choice, e.choice_count};
  }
  std::span<const LedgerEntry> LedgerOf(const Event& e) const {
    return {ledger.data() + e.first_ledger, e.ledger_count};
  }
  std::span<const CellRange> SpinCellsOf(const Event& e) const {
    return {spin_cells.data() + e.first_spin_cell, e.spin_cell_count};
  }
  std::span<const CellRange> SpinCellsOf(const ThreadEnd& e) const {
    return {spin_cells.data() + e.first_spin_cell, e.spin_cell_count};
  }

  // Forgets all but the first `length` events.
  void CutBack(size_t length);
};

// The accesses that a thread's next block is certain to make first (spec 1.5), without kAlive.
// Writes at most 3 of them to `out` and returns how many.
int PendingFootprint(const Operation& operation, ThreadId thread, MicroAccess out[3]);

}  // namespace mc::sched

#endif  // MC_SCHED_TRACE_H_
