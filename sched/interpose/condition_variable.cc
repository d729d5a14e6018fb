// pthread_cond_*.
#include <errno.h>
#include <pthread.h>

#include "sched/interpose/condition_variable_operations.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/mutex_operations.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"
#include "sched/interpose/waiting.h"

namespace mc::sched {

namespace {

Cell ConditionCell(const ConditionVariableView& condition) {
  return CellOf(CellKind::kConditionVariable, &condition);
}

uintptr_t AddressOf(const ConditionVariableView& condition) {
  return reinterpret_cast<uintptr_t>(&condition);
}

// Only a recursive mutex can still be the waiter's own.
bool CanReacquire(const Thread& thread) {
  const uint32_t owner = ViewAt<MutexView>(thread.wait_mutex).owner;
  return owner == 0 || owner == OwnerOf(thread);
}

bool WokenAndCanReacquire(const Thread& thread) { return thread.woken && CanReacquire(thread); }

Operation Reacquisition(const MutexView& mutex, uint64_t pc) {
  return MakeOperation(OperationKind::kReacquire, CellOf(CellKind::kMutex, &mutex), pc,
                       OperationDetail::kReacquire);
}

// The wait gives up the mutex; one level of it if it is recursive, as the C library does.
void GiveUpMutex(Thread& thread, MutexView& mutex, uint64_t pc) {
  if (mutex.recursion > 1) {
    --mutex.recursion;
  } else {
    TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
    ReleaseMutex(thread, mutex, pc);
  }
}

int TakeMutexAgain(Thread& thread, MutexView& mutex, uint64_t pc) {
  if (mutex.owner != OwnerOf(thread)) return TakeMutex(thread, mutex, false, 0, pc);
  // What the pending operation promised, since that does not know of the other levels.
  g_scheduler.RecordCell(CellOf(CellKind::kMutex, &mutex), kWrite, 0, pc);
  ++mutex.recursion;
  return 0;
}

int WaitWithoutMutex(Thread& thread, ConditionVariableView& condition, MutexView& mutex,
                     OperationDetail detail, uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.SpinPoint(pc, registers);  // most callers wait in a loop
  BeforeOperation(kPpCond, pc, detail);
  g_scheduler.RecordCell(CellOf(CellKind::kMutex, &mutex), kRead, kValueRelevant, pc);
  return Misuse(NameOfOwner(OwnerOf(thread)) + " waits on " +
                    NameOfObject("condition variable", &condition) + " with " +
                    NameOfObject("mutex", &mutex) +
                    (mutex.owner == 0 ? ", which is not locked"
                                      : ", which is held by " + NameOfOwner(mutex.owner)),
                pc, EPERM);
}

int UseOfDestroyed(const ConditionVariableView& condition, const char* what, uint64_t pc) {
  return Misuse(
      std::string(what) + " the destroyed " + NameOfObject("condition variable", &condition), pc,
      EINVAL);
}

}  // namespace

int WaitOnCondition(ConditionVariableView& condition, MutexView& mutex, const timespec* deadline,
                    uint64_t pc, const EntryRegisters& registers) {
  Thread& thread = g_scheduler.current();
  if (deadline != nullptr && !IsValidTime(*deadline)) return EINVAL;
  const uint64_t end = deadline == nullptr ? 0 : ClockAt(*deadline);
  const OperationDetail detail =
      deadline == nullptr ? OperationDetail::kConditionWait : OperationDetail::kConditionTimedWait;
  if (mutex.owner != OwnerOf(thread)) {  // only the thread itself can make that so
    return WaitWithoutMutex(thread, condition, mutex, detail, pc, registers);
  }
  WaitPoint point(deadline != nullptr || g_scheduler.options().spurious_wakeups, pc, registers);
  BeforeOperation(kPpCond, pc, detail);
  if (!g_scheduler.Mutated(EventModelMutation::kWaitCv)) {
    g_scheduler.RecordCell(ConditionCell(condition), kWrite, 0, pc);
  }
  TouchObject(&condition, sizeof(pthread_cond_t), kRead, pc);
  if (condition.mark == kDestroyedMark) return UseOfDestroyed(condition, "wait on", pc);
  // Waiting is more than trying: others can find the thread there.
  if (thread.spin.locks().any_taken()) g_scheduler.Progress();
  GiveUpMutex(thread, mutex, pc);
  thread.wait_mutex = reinterpret_cast<uintptr_t>(&mutex);

  const bool woken =
      point.Wait(kConditionWaiting, ConditionCell(condition), AddressOf(condition), detail);
  if (!woken) {
    if (!g_scheduler.Mutated(EventModelMutation::kTimeoutCv)) {
      g_scheduler.RecordCell(ConditionCell(condition), kWrite, 0, pc);
    }
    RaiseClock(&thread.clock_ns, end);
  }
  if (thread.pending.kind != OperationKind::kReacquire) {  // timed out, or woken as a spinner
    Operation next = Reacquisition(mutex, pc);
    next.wait_is_over = true;
    g_scheduler.EndBlock(next, &CanReacquire);
    if (!g_scheduler.Mutated(EventModelMutation::kWake)) {
      g_scheduler.RecordCell(WakeCell(thread), kRead, kValueRelevant, pc);
    }
  }
  const int result = TakeMutexAgain(thread, mutex, pc);
  if (woken) g_scheduler.Progress();  // a wait that ran out changed nothing but time
  thread.wait_mutex = 0;
  AfterOperation(kPpCond);
  if (result != 0) return result;
  return woken || deadline == nullptr ? 0 : ETIMEDOUT;
}

int WakeConditionWaiters(ConditionVariableView& condition, bool all, uint64_t pc) {
  BeforeOperation(kPpCond, pc, all ? OperationDetail::kBroadcast : OperationDetail::kSignal);
  const std::vector<Thread*> waiters = WaitersAt(kConditionWaiting, AddressOf(condition));
  if (!waiters.empty() || !g_scheduler.Mutated(EventModelMutation::kSignalEmpty)) {
    const bool reads = waiters.empty() && g_scheduler.Refined(kRefineEmptySignal);
    g_scheduler.RecordCell(ConditionCell(condition), reads ? kRead : kReadWrite, kValueRelevant,
                           pc);
    TouchObject(&condition, sizeof(pthread_cond_t), kRead, pc);
  }
  if (condition.mark == kDestroyedMark) {
    return UseOfDestroyed(condition, all ? "broadcast on" : "signal on", pc);
  }
  const auto wake = [&](Thread& waiter) {
    const MutexView& mutex = ViewAt<MutexView>(waiter.wait_mutex);
    WakeWaiter(waiter, Reacquisition(mutex, waiter.pending.pc), &WokenAndCanReacquire, pc);
  };
  if (!waiters.empty()) {
    if (all) {
      for (Thread* waiter : waiters) wake(*waiter);
    } else {
      wake(*waiters[g_scheduler.Choose(static_cast<uint32_t>(waiters.size()))]);
    }
    g_scheduler.Progress();
  }
  AfterOperation(kPpCond);
  return 0;
}

int DestroyCondition(ConditionVariableView& condition, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kConditionDestroy);
  g_scheduler.RecordCell(ConditionCell(condition), kReadWrite, kValueRelevant, pc);
  TouchObject(&condition, sizeof(pthread_cond_t), kWrite, pc);
  if (condition.mark == kDestroyedMark) {
    return Misuse(NameOfObject("condition variable", &condition) + " is destroyed twice", pc,
                  EINVAL);
  }
  const std::vector<Thread*> waiters = WaitersAt(kConditionWaiting, AddressOf(condition));
  if (!waiters.empty()) {
    return Misuse(NameOfObject("condition variable", &condition) + " is destroyed while " +
                      NameOfOwner(OwnerOf(*waiters[0])) + " waits on it",
                  pc, EBUSY);
  }
  condition.mark = kDestroyedMark;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

void ConditionInitBegins(ConditionVariableView& condition, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kConditionInit);
  g_scheduler.NoteObjectChange(&condition, sizeof(pthread_cond_t));
}

void ConditionInitialised(ConditionVariableView& condition, uint64_t pc) {
  g_scheduler.RecordCell(ConditionCell(condition), kWrite, 0, pc);
  TouchObject(&condition, sizeof(pthread_cond_t), kWrite, pc);
  g_scheduler.Progress();
  AfterOperation(0);
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_cond_init(pthread_cond_t* condition, const pthread_condattr_t* attributes) {
  if (!g_scheduler.program_running()) return Real().pthread_cond_init(condition, attributes);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  ConditionInitBegins(ViewOf<ConditionVariableView>(condition), pc);
  const int result = Real().pthread_cond_init(condition, attributes);
  if (result == 0) ConditionInitialised(ViewOf<ConditionVariableView>(condition), pc);
  return result;
}

MC_HOOK int pthread_cond_destroy(pthread_cond_t* condition) {
  if (!g_scheduler.program_running()) return Real().pthread_cond_destroy(condition);
  EngineScope scope;
  return DestroyCondition(ViewOf<ConditionVariableView>(condition), MC_CALLER_PC());
}

MC_HOOK int pthread_cond_signal(pthread_cond_t* condition) {
  if (!g_scheduler.program_running()) return Real().pthread_cond_signal(condition);
  EngineScope scope;
  return WakeConditionWaiters(ViewOf<ConditionVariableView>(condition), false, MC_CALLER_PC());
}

MC_HOOK int pthread_cond_broadcast(pthread_cond_t* condition) {
  if (!g_scheduler.program_running()) return Real().pthread_cond_broadcast(condition);
  EngineScope scope;
  return WakeConditionWaiters(ViewOf<ConditionVariableView>(condition), true, MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_cond_wait, mc_entry_cond_wait);
MC_BEHIND_STUB int mc_entry_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_cond_wait(condition, mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return WaitOnCondition(ViewOf<ConditionVariableView>(condition), ViewOf<MutexView>(mutex),
                         nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_cond_timedwait, mc_entry_cond_timedwait);
MC_BEHIND_STUB int mc_entry_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_cond_timedwait(condition, mutex, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return WaitOnCondition(ViewOf<ConditionVariableView>(condition), ViewOf<MutexView>(mutex),
                         deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_cond_clockwait, mc_entry_cond_clockwait);
MC_BEHIND_STUB int mc_entry_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                           clockid_t clock, const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_cond_clockwait(condition, mutex, clock, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return WaitOnCondition(ViewOf<ConditionVariableView>(condition), ViewOf<MutexView>(mutex),
                         deadline, MC_CALLER_PC(), registers);
}
