// Waiting to be woken: what condition variables and futexes have in common.
//
// A waiter is a thread whose last block ended in a wait. It is found by what its Thread says, not
// through the object, whose memory may be gone by the time it goes on. A wait with a time-out runs
// out whenever the thread is scheduled before it is woken.
//
// A timed wait that ran out and came back to the same wait in the same state of the thread, nobody
// else having written a cell it read meanwhile, cannot run out again before such a write (spec
// optimal-dpor 1.4, Spinning): `while (!done) cv.wait_for(l, 1ms)` has finitely many executions.
#ifndef MC_SCHED_INTERPOSE_WAITING_H_
#define MC_SCHED_INTERPOSE_WAITING_H_

#include <cstdint>
#include <vector>

#include "sched/event.h"
#include "sched/operation_detail.h"
#include "sched/spin.h"
#include "sched/thread.h"

namespace mc::sched {

// Thread::wait_argument of a waiter. Of one that waits for a signal, wait_object is the set.
enum WaitKind : uint64_t {
  kNotWaiting = 0,
  kConditionWaiting = 1,
  kFutexWaiting = 2,
  kSignalWaiting = 3
};

// A place where a thread may come to wait again in an unchanged state. To be made at the entry of
// the hook, before anything else.
class WaitPoint {
 public:
  // `can_run_out`: the wait has a time-out (or may end spuriously).
  WaitPoint(bool can_run_out, uint64_t pc, const EntryRegisters& registers);

  // The thread waits: ends the block. `object` is the cell it waits at, `address` what it stands
  // for. Returns when it was woken (true), or when the wait ran out (false).
  bool Wait(WaitKind kind, Cell object, uintptr_t address, OperationDetail detail);

 private:
  const bool can_run_out_;
  const uint64_t pc_;
  const EntryRegisters registers_;
  bool repeats_ = false;
  bool waits_in_bounded_loop_ = false;
};

// The threads that wait at `address` and have been neither woken nor timed out, by id.
std::vector<Thread*> WaitersAt(WaitKind kind, uintptr_t address);

// Wakes one: it will next do `next`, when `can_run` holds (null: at once).
void WakeWaiter(Thread& waiter, const Operation& next, EnabledTest can_run, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_WAITING_H_
