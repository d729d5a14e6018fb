// pthread_mutex_*: normal, recursive, error-checking, adaptive and robust mutexes. Priority
// protocols are accepted and mean nothing here.
#include <errno.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
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

// The holder locks once more. Only the holder itself can make that so, hence no access. True if
// this was one; *result is then what the call returns.
bool RelockByHolder(Thread& thread, MutexView& mutex, uint64_t pc, int* result) {
  if (mutex.owner != OwnerOf(thread)) return false;
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
  RecordRefusal(mutex, 0, pc);
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

// A thread that may be in a loop locked or unlocked the mutex, or failed to (spin.h).
void RecordAttempt(const MutexView& mutex, SpinTracker::MutexStep step, uint64_t pc) {
  SpinTracker& spin = g_scheduler.current().spin;
  spin.OnMutexOperation(&mutex, step);
  if (!spin.used_mutexes()) return;
  g_scheduler.NoteRead(MutexCell(mutex));
  g_scheduler.RecordCell(CellOf(CellKind::kMutexChange, &mutex), kRead, 0, pc);
}

bool IsTentative(const Thread& thread, const MutexView& mutex) {
  return thread.spin.watched() && !mutex.robust();
}

}  // namespace

int TakeMutex(Thread& thread, MutexView& mutex, bool value_relevant, uint16_t flags, uint64_t pc) {
  const Cell cell = MutexCell(mutex);
  // What locking a robust mutex returns depends on how its last owner left it.
  value_relevant |= mutex.robust();
  const bool reads = value_relevant || (flags & kTentative) != 0;
  g_scheduler.RecordCell(cell, reads ? kReadWrite : kWrite,
                         flags | kAcquire | (value_relevant ? kValueRelevant : 0), pc);
  TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
  if (mutex.destroyed()) {
    return Misuse("lock of the destroyed " + NameOfObject("mutex", &mutex), pc, EINVAL);
  }
  if (mutex.robust() && mutex.robust_state == MutexView::kNotRecoverable) return ENOTRECOVERABLE;
  g_scheduler.NoteObjectChange(&mutex, sizeof(pthread_mutex_t));
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
    g_scheduler.RecordCell(cell, (flags & kTentative) != 0 ? kReadWrite : kWrite, flags | kRelease,
                           pc);
  }
  TouchObject(&mutex, sizeof(pthread_mutex_t), kRead, pc);
  g_scheduler.NoteObjectChange(&mutex, sizeof(pthread_mutex_t));
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
  if (!IsTentative(thread, mutex)) {
    const int result = TakeMutex(thread, mutex, value_relevant, flags, pc);
    if (mutex.robust()) g_scheduler.Progress();
    return result;
  }
  const int result = TakeMutex(thread, mutex, value_relevant, flags | kTentative, pc);
  if (result == 0) RecordAttempt(mutex, SpinTracker::MutexStep::kTaken, pc);
  return result;
}

}  // namespace

int LockMutex(MutexView& mutex, uint64_t pc, const EntryRegisters& registers) {
  Thread& thread = g_scheduler.current();
  int result;
  if (RelockByHolder(thread, mutex, pc, &result)) return result;
  if (thread.spin.watched() || thread.spin.CountRead() > kReadsBeforeWatching) {
    g_scheduler.SpinPoint(pc, registers, true);
  }
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
  } else if (mutex.recursive() && RelockByHolder(thread, mutex, pc, &result)) {
    return result;
  }
  g_scheduler.SpinPoint(pc, registers, true);
  BeforeOperation(kPpLock, pc,
                  deadline == nullptr ? OperationDetail::kTryLock : OperationDetail::kTimedLock);
  if (mutex.owner == 0) {
    result = TakeMutexInLoop(thread, mutex, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kTryFail)) RecordRefusal(mutex, kTry, pc);
    if (thread.spin.watched()) RecordAttempt(mutex, SpinTracker::MutexStep::kRefused, pc);
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
  if (mutex.owner != OwnerOf(thread)) return UnlockByStranger(thread, mutex, pc);
  if (mutex.robust() && mutex.robust_state == MutexView::kOwnerDied) {
    mutex.robust_state = MutexView::kNotRecoverable;
  }
  if (IsTentative(thread, mutex)) {
    ReleaseMutex(thread, mutex, pc, kTentative);
    RecordAttempt(mutex, SpinTracker::MutexStep::kReleased, pc);
  } else {
    ReleaseMutex(thread, mutex, pc);
    if (mutex.robust()) g_scheduler.Progress();
  }
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

void MutexInitBegins(uint64_t pc) { BeforeOperation(kPpLock, pc, OperationDetail::kMutexInit); }

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
    MutexView& mutex = ViewOf<MutexView>(reinterpret_cast<void*>(thread.held[i].object));
    if (mutex.owner != OwnerOf(thread)) continue;
    mutex.robust_state = mutex.robust_state == MutexView::kConsistent ? MutexView::kOwnerDied
                                                                      : MutexView::kNotRecoverable;
    ReleaseMutex(thread, mutex, thread.held[i].pc);  // there is no call: where it was locked
  }
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_mutex_init(pthread_mutex_t* mutex, const pthread_mutexattr_t* attributes) {
  if (!g_scheduler.program_running()) return Real().pthread_mutex_init(mutex, attributes);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  MutexInitBegins(pc);
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

MC_HOOK int pthread_mutex_unlock(pthread_mutex_t* mutex) {
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
