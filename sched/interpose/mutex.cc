// pthread_mutex_*: normal, recursive, error-checking, adaptive and robust mutexes. Priority
// protocols are accepted and mean nothing here.
#include <errno.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/lock_attempt.h"
#include "sched/interpose/mutex_operations.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

namespace mc::sched {

namespace {

constexpr uint16_t kTested = kValueRelevant;

Cell MutexCell(const MutexView& mutex) { return CellOf(CellKind::kMutex, &mutex); }

bool MutexIsFree(const Thread& thread) { return ViewAt<MutexView>(thread.wait_object).owner == 0; }

// The mutex was looked at and found as it should not be, or taken.
void RecordRefusal(const MutexView& mutex, uint16_t flags, uint64_t pc) {
  g_scheduler.RecordCell(MutexCell(mutex), kRead, kTested | flags, pc);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
}

// The holder locks once more. Only the holder itself can make that so, hence no access; and it is
// not here that the lock fails if its memory is gone. True if this was one; *result is then what
// the call returns.
bool RelockByHolder(Thread& thread, MutexView& mutex, uint64_t pc, int* result) {
  if (!CanBeRead(&mutex) || mutex.owner != OwnerOf(thread)) return false;
  if (mutex.recursive()) {
    *result = EAGAIN;
    if (mutex.recursion == UINT32_MAX) return true;
    ++mutex.recursion;
    g_scheduler.Progress();
    *result = 0;
    return true;
  }
  if (!mutex.error_checking()) return false;
  BeforeOperation(kPpLock, pc, OperationDetail::kLock);
  RecordRefusal(mutex, 0, pc);
  *result = EDEADLK;
  return true;
}

int UnlockByStranger(Thread& thread, MutexView& mutex, uint64_t pc) {
  g_scheduler.RecordCell(MutexCell(mutex), kRead, kTested, pc);
  if (mutex.destroyed()) {
    return Misuse("unlock of the destroyed " + NameOfObject("mutex", &mutex), pc, EINVAL);
  }
  // For these kinds the failing call is well defined, and tells the caller.
  if (mutex.error_checking() || mutex.recursive() || mutex.robust()) return EPERM;
  return Misuse(NameOfOwner(OwnerOf(thread)) + " unlocks " + NameOfObject("mutex", &mutex) +
                    (mutex.owner == 0 ? ", which is not locked"
                                      : ", which is held by " + NameOfOwner(mutex.owner)),
                pc, 0);
}

// Asked before the lock is recorded: it is not here that it fails if the mutex's memory is gone.
bool IsRobust(const MutexView& mutex) {
  return ViewAt<MutexView>(reinterpret_cast<uintptr_t>(&mutex)).robust();
}

// A robust mutex tells its next owner how the last one left it: more than an attempt leaves.
uint16_t TentativeFlagFor(const MutexView& mutex) { return IsRobust(mutex) ? 0 : TentativeFlag(); }

void NoteMutexAttempt(const MutexView& mutex, LockStep step, uint64_t pc) {
  NoteAttempt(&mutex, sizeof(pthread_mutex_t), step, pc, MutexCell(mutex));
}

}  // namespace

int TakeMutex(Thread& thread, MutexView& mutex, bool value_relevant, uint16_t flags, uint64_t pc) {
  const Cell cell = MutexCell(mutex);
  // What locking a robust mutex returns depends on how its last owner left it.
  value_relevant |= IsRobust(mutex);
  if (value_relevant) flags |= kValueRelevant;
  g_scheduler.RecordCell(cell, WriteMode(flags), flags | kAcquire, pc);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
  if (mutex.destroyed()) {
    return Misuse("lock of the destroyed " + NameOfObject("mutex", &mutex), pc, EINVAL);
  }
  if (mutex.robust() && mutex.robust_state == MutexView::kNotRecoverable) return ENOTRECOVERABLE;
  mutex.owner = OwnerOf(thread);
  mutex.recursion = 1;
  g_scheduler.Ledger(cell, 0, mutex.owner);
  RememberHeld(thread, &mutex, pc, mutex.robust());
  RaiseClock(&thread.clock_ns, mutex.clock_ns);
  return mutex.robust() && mutex.robust_state == MutexView::kOwnerDied ? EOWNERDEAD : 0;
}

void ReleaseMutex(Thread& thread, MutexView& mutex, uint64_t pc, uint16_t flags) {
  const Cell cell = MutexCell(mutex);
  if (!g_scheduler.Mutated(EventModelMutation::kUnlock)) {
    g_scheduler.RecordCell(cell, WriteMode(flags), flags | kRelease, pc);
  }
  g_scheduler.Ledger(cell, mutex.owner, 0);
  ForgetHeld(thread, &mutex);
  mutex.clock_ns = thread.clock_ns;
  mutex.recursion = 0;
  mutex.owner = 0;
}

namespace {

// Locks it by a call of the program's that may lie in a loop.
int TakeMutexInLoop(Thread& thread, MutexView& mutex, bool value_relevant, uint16_t flags,
                    uint64_t pc) {
  const uint16_t tentative = TentativeFlagFor(mutex);
  const int result = TakeMutex(thread, mutex, value_relevant, flags | tentative, pc);
  if (mutex.robust()) g_scheduler.Progress();
  if (tentative != 0 && result == 0) NoteMutexAttempt(mutex, LockStep::kTaken, pc);
  return result;
}

}  // namespace

int LockMutex(MutexView& mutex, uint64_t pc, const EntryRegisters& registers) {
  Thread& thread = g_scheduler.current();
  int result;
  if (RelockByHolder(thread, mutex, pc, &result)) return result;
  g_scheduler.SpinPointAtLock(pc, registers, &mutex);
  const bool first = BlockOperation(
      kPpLock, &mutex,
      MakeOperation(OperationKind::kLock, MutexCell(mutex), pc, OperationDetail::kLock),
      &MutexIsFree);
  result = TakeMutexInLoop(thread, mutex, !first, 0, pc);
  AfterOperation(0);
  return result;
}

int TryLockMutex(MutexView& mutex, const timespec* deadline, uint64_t pc,
                 const EntryRegisters& registers) {
  Thread& thread = g_scheduler.current();
  int result;
  if (deadline != nullptr) {
    if (RelockByHolder(thread, mutex, pc, &result)) return result;
    if (!IsValidTime(*deadline)) return EINVAL;
  } else if (ViewAt<MutexView>(reinterpret_cast<uintptr_t>(&mutex)).recursive() &&
             RelockByHolder(thread, mutex, pc, &result)) {
    return result;
  }
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc,
                  deadline == nullptr ? OperationDetail::kTryLock : OperationDetail::kTimedLock);
  g_scheduler.RecordObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
  if (mutex.owner == 0) {
    result = TakeMutexInLoop(thread, mutex, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kTryFail)) RecordRefusal(mutex, kTry, pc);
    NoteMutexAttempt(mutex, LockStep::kRefused, pc);
    if (deadline != nullptr) RaiseClock(&thread.clock_ns, ClockAt(*deadline));
    result = deadline == nullptr ? EBUSY : ETIMEDOUT;
  }
  AfterOperation(0);
  return result;
}

int UnlockMutex(MutexView& mutex, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  if (mutex.owner == OwnerOf(thread) && mutex.recursion > 1) {
    --mutex.recursion;
    g_scheduler.Progress();
    return 0;
  }
  BeforeOperation(kPpUnlock, pc, OperationDetail::kUnlock);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
  if (mutex.owner != OwnerOf(thread)) return UnlockByStranger(thread, mutex, pc);
  if (mutex.robust() && mutex.robust_state == MutexView::kOwnerDied) {
    g_scheduler.NoteObjectChange(&mutex, sizeof(pthread_mutex_t));
    mutex.robust_state = MutexView::kNotRecoverable;
  }
  const uint16_t tentative = TentativeFlagFor(mutex);
  ReleaseMutex(thread, mutex, pc, tentative);
  if (mutex.robust()) g_scheduler.Progress();
  if (tentative != 0) NoteMutexAttempt(mutex, LockStep::kReleased, pc);
  AfterOperation(kPpUnlock);
  return 0;
}

int DestroyMutex(MutexView& mutex, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kMutexDestroy);
  g_scheduler.RecordCell(MutexCell(mutex), kReadWrite, kValueRelevant, pc);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kWrite, pc);
  if (mutex.destroyed()) {
    return Misuse(NameOfObject("mutex", &mutex) + " is destroyed twice", pc, EINVAL);
  }
  if (mutex.owner != 0) {
    return Misuse(
        NameOfObject("mutex", &mutex) + " is destroyed while held by " + NameOfOwner(mutex.owner),
        pc, EBUSY);
  }
  mutex.kind = -1;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

void MutexInitBegins(MutexView& mutex, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kMutexInit);
  g_scheduler.NoteObjectChange(&mutex, sizeof(pthread_mutex_t));
}

void MutexInitialised(MutexView& mutex, uint64_t pc) {
  const Cell cell = MutexCell(mutex);
  g_scheduler.RecordCell(cell, kWrite, 0, pc);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kWrite, pc);
  // Its place in memory may have been that of a mutex that was held when it went.
  g_scheduler.Ledger(cell, 0, 0);
  g_scheduler.Progress();
  AfterOperation(0);
}

void ReleaseRobustMutexes(Thread& thread) {
  for (size_t i = thread.held.size(); i-- > 0;) {
    if (!thread.held[i].robust) continue;
    // Others can find it locked after all that the thread did before it ended.
    BeforeOperation(kPpUnlock, thread.held[i].pc, OperationDetail::kUnlock);
    MutexView& mutex = ViewOf<MutexView>(reinterpret_cast<void*>(thread.held[i].object));
    if (!CanBeRead(&mutex) || mutex.owner != OwnerOf(thread)) continue;
    g_scheduler.NoteObjectChange(&mutex, sizeof(pthread_mutex_t));
    // Also if it had not made it consistent: only an unlock makes it unrecoverable then.
    mutex.robust_state = MutexView::kOwnerDied;
    TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, thread.held[i].pc);
    ReleaseMutex(thread, mutex, thread.held[i].pc);  // there is no call: where it was locked
  }
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_init(mutex, attributes);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  MutexInitBegins(ViewOf<MutexView>(mutex), pc);
  const int result = Real().pthread_mutex_init(mutex, attributes);
  if (result == 0) MutexInitialised(ViewOf<MutexView>(mutex), pc);
  return result;
}

MC_HOOK int pthread_mutex_destroy(pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_destroy(mutex);
  EngineScope scope;
  return DestroyMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_mutex_lock, mc_entry_mutex_lock);
MC_BEHIND_STUB int mc_entry_mutex_lock(pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_lock(mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return LockMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC(), registers);
}

MC_DISTANT_STUB(pthread_mutex_unlock, mc_entry_mutex_unlock);
MC_BEHIND_STUB int mc_entry_mutex_unlock(pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_unlock(mutex);
  EngineScope scope;
  return UnlockMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_mutex_trylock, mc_entry_mutex_trylock);
MC_BEHIND_STUB int mc_entry_mutex_trylock(pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_trylock(mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockMutex(ViewOf<MutexView>(mutex), nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_mutex_timedlock, mc_entry_mutex_timedlock);
MC_BEHIND_STUB int mc_entry_mutex_timedlock(pthread_mutex_t* mutex, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_timedlock(mutex, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockMutex(ViewOf<MutexView>(mutex), deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_mutex_clocklock, mc_entry_mutex_clocklock);
MC_BEHIND_STUB int mc_entry_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                            const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_mutex_clocklock(mutex, clock, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockMutex(ViewOf<MutexView>(mutex), deadline, MC_CALLER_PC(), registers);
}

MC_HOOK int pthread_mutex_consistent(pthread_mutex_t* mutex) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_consistent(mutex);
  EngineScope scope;
  MutexView& view = ViewOf<MutexView>(mutex);
  if (!view.robust() || view.robust_state != MutexView::kOwnerDied ||
      view.owner != OwnerOf(g_scheduler.current())) {
    return EINVAL;
  }
  view.robust_state = MutexView::kConsistent;
  g_scheduler.Progress();
  return 0;
}

MC_HOOK int pthread_mutex_setprioceiling(pthread_mutex_t* mutex, int ceiling, int* old) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_mutex_setprioceiling(mutex, ceiling, old);
  }
  *old = ceiling;
  return 0;
}
