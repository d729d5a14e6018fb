// Strategy: decides, at every preemption point, which thread runs next.
//
// sched owns one execution and knows nothing about search; dpor owns the set of executions and
// never touches a fiber. This interface is all that lies between them.
#ifndef MC_SCHED_STRATEGY_H_
#define MC_SCHED_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/trace.h"

namespace mc::sched {

// What can be asked about the state in which a decision is due. Valid only during the call.
class StateView {
 public:
  virtual ~StateView() = default;
  // Upper bound of the ids of threads created so far, plus one.
  virtual uint32_t ThreadCount() const = 0;
  virtual bool IsEnabled(ThreadId thread) const = 0;
  // The thread that ran last; kNoThread at the start.
  virtual ThreadId Current() const = 0;
  // True if `Current` ended its block at a yield or a sleep (a switch there is free).
  virtual bool CurrentYielded() const = 0;
  // Has the thread a next block, which may be blocked? Not before its creation nor after its end.
  virtual bool IsRunnable(ThreadId thread) const = 0;
  // The next operation of a runnable thread, kNone if it cannot block.
  virtual const Operation& Pending(ThreadId thread) const = 0;
  // What a runnable thread that waits in a loop waits for.
  virtual std::vector<CellRange> PendingSpinCells(ThreadId thread) const = 0;
};

// Returned by Next when the execution is to be abandoned: every enabled thread sleeps, or a bound.
inline constexpr ThreadId kAbandon = 0xfffe;

class Strategy {
 public:
  virtual ~Strategy() = default;

  // Is there another execution to run? If so, sets *keep to how many events of the last execution's
  // trace are to be repeated exactly; the engine runs them without asking and without recording
  // them again, cuts the trace back to them, and calls Next from there on. 0 repeats nothing.
  // An event that is repeated up to its last choice only is not part of the kept prefix.
  virtual bool BeginExecution(const Trace& trace, size_t* keep) = 0;

  // The thread to run next: an enabled one, or kAbandon. Called only when some thread is enabled.
  // The trace holds all events so far.
  virtual ThreadId Next(const Trace& trace, const StateView& state) = 0;

  // The position from which on this execution runs free: Next would return the thread that ran
  // last if it is enabled, else the enabled thread with the lowest id. The engine then does not
  // ask. Called after BeginExecution; kNeverFree: it has to ask every time.
  static constexpr size_t kNeverFree = ~size_t{0};
  virtual size_t FreeFrom() const { return kNeverFree; }

  // The value, below `arity`, of a choice made by the thread that runs, in its current block
  // (the event that Next last asked for, which is or will be at `position` in the trace). `index`
  // counts the choices of that block from 0.
  virtual uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) = 0;

  // The execution is over; trace.ends and trace.outcome are valid.
  virtual void EndExecution(const Trace& trace) = 0;
};

}  // namespace mc::sched

#endif  // MC_SCHED_STRATEGY_H_
