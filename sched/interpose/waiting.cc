#include "sched/interpose/waiting.h"

#include "sched/interpose/hook.h"

namespace mc::sched {

namespace {

bool IsWoken(const Thread& thread) { return thread.woken; }

}  // namespace

WaitPoint::WaitPoint(bool can_run_out, uint64_t pc, const EntryRegisters& registers)
    : can_run_out_(can_run_out), pc_(pc), registers_(registers) {
  if (!can_run_out) return;
  waits_in_bounded_loop_ = g_scheduler.ComesRoundBounded(pc, registers);
  if (waits_in_bounded_loop_) return;
  repeats_ = g_scheduler.Arrive(pc, registers) == SpinTracker::Arrival::kLoop;
  if (!repeats_) g_scheduler.RoundWithChange(pc, registers);
}

bool WaitPoint::Wait(WaitKind kind, Cell object, uintptr_t address, OperationDetail detail) {
  Thread& thread = g_scheduler.current();
  thread.wait_object = address;
  thread.wait_argument = kind;
  thread.woken = thread.timed_out = false;
  const uint32_t events_before = thread.events;
  // Nothing it read has changed: it is a spinner, which a wake-up enables too (it read wake(t)).
  if (waits_in_bounded_loop_) g_scheduler.WaitInBoundedLoop(pc_, registers_);
  if (repeats_) g_scheduler.SpinPointAtWait(pc_, registers_);
  if (thread.events == events_before) {
    g_scheduler.EndBlock(
        MakeOperation(can_run_out_ ? OperationKind::kTimedWaiter : OperationKind::kWaiter, object,
                      pc_, detail),
        can_run_out_ ? nullptr : &IsWoken);
  }
  if (!thread.woken) {
    thread.timed_out = true;
    g_scheduler.MarkEvent(kTimedOut);
    g_scheduler.DidWhatOthersSee();
  }
  thread.wait_argument = kNotWaiting;
  if (!g_scheduler.Mutated(EventModelMutation::kWake)) {
    // A wait that ran out was ordered after nobody.
    const uint16_t acquire = thread.woken ? kAcquire : 0;
    g_scheduler.RecordCell(WakeCell(thread), kRead, kValueRelevant | acquire, pc_);
  }
  return thread.woken;
}

std::vector<Thread*> WaitersAt(WaitKind kind, uintptr_t address) {
  std::vector<Thread*> waiters;
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (thread.exists && thread.status == ThreadStatus::kRunnable && thread.wait_argument == kind &&
        thread.wait_object == address && !thread.woken) {
      waiters.push_back(&thread);
    }
  }
  return waiters;
}

void WakeWaiter(Thread& waiter, const Operation& next, EnabledTest can_run, uint64_t pc) {
  g_scheduler.Wake(waiter, pc);
  if (WaitsInLoop(waiter.pending.kind)) return;  // goes on to `next` by itself
  const bool could_run_out = waiter.pending.kind == OperationKind::kTimedWaiter;
  const Cell object = waiter.pending.object;
  waiter.pending = next;
  // Where the wake-up does not come first, this wait may run out instead.
  waiter.pending.timeout_object = could_run_out ? object : 0;
  waiter.can_run = can_run;
}

}  // namespace mc::sched
