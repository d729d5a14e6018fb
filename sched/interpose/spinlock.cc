// pthread_spin_*: a spin lock blocks like a mutex; that it burns time is not modelled.
#include <errno.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/lock_attempt.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"

namespace mc::sched {

namespace {

Cell LockCell(const SpinLockView& lock) { return CellOf(CellKind::kMutex, &lock); }

uint32_t OwnerOfLock(const SpinLockView& lock) {
  return lock.free() || lock.destroyed() ? 0 : lock.state - SpinLockView::kFirstOwner + 1;
}

bool LockCanBeTaken(const Thread& thread) {
  const SpinLockView& lock = ViewAt<SpinLockView>(thread.wait_object);
  return lock.free() || lock.destroyed();
}

void NoteSpinLockAttempt(const SpinLockView& lock, LockStep step, uint64_t pc) {
  NoteAttempt(&lock, sizeof lock, step, pc, LockCell(lock));
}

int Take(SpinLockView& lock, bool value_relevant, uint16_t flags, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  flags |= TentativeFlag() | (value_relevant ? kValueRelevant : 0);
  g_scheduler.RecordCell(LockCell(lock), WriteMode(flags), flags | kAcquire, pc);
  TouchObject(&lock, sizeof lock, kRead, pc);
  if (lock.destroyed()) {
    return Misuse("lock of the destroyed " + NameOfObject("spin lock", &lock), pc, EINVAL);
  }
  lock.state = SpinLockView::kFirstOwner + thread.id;
  g_scheduler.Ledger(LockCell(lock), 0, OwnerOf(thread));
  RememberHeld(thread, &lock, pc);
  NoteSpinLockAttempt(lock, LockStep::kTaken, pc);
  return 0;
}

int Lock(SpinLockView& lock, uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.SpinPointAtLock(pc, registers, &lock);
  const bool first = BlockOperation(
      kPpLock, &lock,
      MakeOperation(OperationKind::kLock, LockCell(lock), pc, OperationDetail::kSpinLock),
      &LockCanBeTaken);
  const int result = Take(lock, !first, 0, pc);
  AfterOperation(0);
  return result;
}

int TryLock(SpinLockView& lock, uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc, OperationDetail::kSpinTryLock);
  g_scheduler.RecordObject(&lock, sizeof lock, kRead, pc);
  int result = EBUSY;
  if (lock.free() || lock.destroyed()) {
    result = Take(lock, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kTryFail)) {
      g_scheduler.RecordCell(LockCell(lock), kRead, kValueRelevant | kTry, pc);
      TouchObject(&lock, sizeof lock, kRead, pc);
    }
    NoteSpinLockAttempt(lock, LockStep::kRefused, pc);
  }
  AfterOperation(0);
  return result;
}

int Unlock(SpinLockView& lock, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpUnlock, pc, OperationDetail::kSpinUnlock);
  TouchObject(&lock, sizeof lock, kRead, pc);
  const uint32_t owner = OwnerOfLock(lock);
  if (owner != OwnerOf(thread)) {
    g_scheduler.RecordCell(LockCell(lock), kRead, kValueRelevant, pc);
    return Misuse(
        NameOfOwner(OwnerOf(thread)) + " unlocks " + NameOfObject("spin lock", &lock) +
            (owner == 0 ? ", which is not locked" : ", which is held by " + NameOfOwner(owner)),
        pc, 0);
  }
  if (!g_scheduler.Mutated(EventModelMutation::kUnlock)) {
    const uint16_t tentative = TentativeFlag();
    g_scheduler.RecordCell(LockCell(lock), WriteMode(tentative), tentative | kRelease, pc);
  }
  g_scheduler.Ledger(LockCell(lock), OwnerOf(thread), 0);
  ForgetHeld(thread, &lock);
  lock.state = SpinLockView::kFree;
  NoteSpinLockAttempt(lock, LockStep::kReleased, pc);
  AfterOperation(kPpUnlock);
  return 0;
}

int Initialise(SpinLockView& lock, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kSpinInit);
  g_scheduler.RecordCell(LockCell(lock), kWrite, 0, pc);
  TouchObject(&lock, sizeof lock, kWrite, pc);
  g_scheduler.Ledger(LockCell(lock), 0, 0);
  lock.state = SpinLockView::kFree;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

int Destroy(SpinLockView& lock, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kSpinDestroy);
  g_scheduler.RecordCell(LockCell(lock), kReadWrite, kValueRelevant, pc);
  TouchObject(&lock, sizeof lock, kWrite, pc);
  if (lock.destroyed()) {
    return Misuse(NameOfObject("spin lock", &lock) + " is destroyed twice", pc, EINVAL);
  }
  if (!lock.free()) {
    return Misuse(NameOfObject("spin lock", &lock) + " is destroyed while held by " +
                      NameOfOwner(OwnerOfLock(lock)),
                  pc, EBUSY);
  }
  lock.state = SpinLockView::kDestroyed;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_spin_init(pthread_spinlock_t* lock, int shared) {
  if (!g_scheduler.program_running()) return Real().pthread_spin_init(lock, shared);
  EngineScope scope;
  return Initialise(ViewOf<SpinLockView>(lock), MC_CALLER_PC());
}

MC_HOOK int pthread_spin_destroy(pthread_spinlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_spin_destroy(lock);
  EngineScope scope;
  return Destroy(ViewOf<SpinLockView>(lock), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_spin_lock, mc_entry_spin_lock);
MC_BEHIND_STUB int mc_entry_spin_lock(pthread_spinlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_spin_lock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return Lock(ViewOf<SpinLockView>(lock), MC_CALLER_PC(), registers);
}

MC_DISTANT_STUB(pthread_spin_unlock, mc_entry_spin_unlock);
MC_BEHIND_STUB int mc_entry_spin_unlock(pthread_spinlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_spin_unlock(lock);
  EngineScope scope;
  return Unlock(ViewOf<SpinLockView>(lock), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_spin_trylock, mc_entry_spin_trylock);
MC_BEHIND_STUB int mc_entry_spin_trylock(pthread_spinlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_spin_trylock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLock(ViewOf<SpinLockView>(lock), MC_CALLER_PC(), registers);
}
