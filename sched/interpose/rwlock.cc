// pthread_rwlock_*. A reader-writer lock is two cells: the writer half and the readers half (spec
// optimal-dpor 1.2). Whoever can take it may.
//
// Under PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, readers wait while a writer waits. Such a
// lock consists of two: before a writer waits for the lock proper it takes the *announcement* for
// writing, and gives it back in the block in which it gets the lock; a reader takes the
// announcement for reading and gives it back in the same step, so that it only waits for writers to
// pass. That readers wait is thus a lock wait like all others, for the search, for deadlock cycles
// and for reports. (The other kinds make no difference in glibc.) A timed writer does not announce
// itself: its wait is being scheduled later.
#include <errno.h>
#include <pthread.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/lock_attempt.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

namespace mc::sched {

namespace {

constexpr uint16_t kTested = kValueRelevant;

Cell WriterCell(const ReadWriteLockView& lock) { return CellOf(CellKind::kWriterHalf, &lock); }
Cell ReadersCell(const ReadWriteLockView& lock) { return CellOf(CellKind::kReadersHalf, &lock); }

bool HasNoWriter(const Thread& thread) {
  return ViewAt<ReadWriteLockView>(thread.wait_object).writer == 0;
}
bool IsFree(const Thread& thread) {
  const ReadWriteLockView& lock = ViewAt<ReadWriteLockView>(thread.wait_object);
  return lock.writer == 0 && lock.readers == 0;
}

static_assert(offsetof(ReadWriteLockView, announced) == kAnnouncementOffset);
Cell AnnouncementCell(const ReadWriteLockView& lock) {
  return CellOf(CellKind::kWriterHalf, &lock.announced);
}
Cell AnnouncementReadersCell(const ReadWriteLockView& lock) {
  return CellOf(CellKind::kReadersHalf, &lock.announced);
}
bool NobodyIsAnnounced(const Thread& thread) {
  return ViewAt<ReadWriteLockView>(thread.wait_object).announced == 0;
}

void Touch(const ReadWriteLockView& lock, uint8_t mode, uint64_t pc) {
  TouchObject(&lock, sizeof(pthread_rwlock_t), mode, pc);
}

// How many read locks the thread holds: a reference that lives until the next call.
uint32_t& ReadHoldsOf(Thread& thread, const ReadWriteLockView& lock) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(&lock);
  for (Thread::ReadHold& hold : thread.read_holds) {
    if (hold.lock == address) return hold.count;
  }
  thread.read_holds.push_back({address, 0});
  return thread.read_holds.back().count;
}

// Read locks and unlocks commute among themselves; without that refinement they are also writes.
void RecordReaders(Cell readers, uint16_t flags, uint64_t pc) {
  g_scheduler.RecordCell(readers, kAdd, flags, pc);
  if (!g_scheduler.Refined(kRefineReadLocks)) {
    g_scheduler.RecordCell(readers, kWrite, flags & kTentative, pc);
  }
}

// A loop that takes the lock for reading does not care about other readers.
void NoteReadAttempt(const ReadWriteLockView& lock, LockStep step, uint64_t pc) {
  NoteAttempt(&lock, sizeof(pthread_rwlock_t), step, pc, WriterCell(lock));
}
void NoteWriteAttempt(const ReadWriteLockView& lock, LockStep step, uint64_t pc) {
  NoteAttempt(&lock, sizeof(pthread_rwlock_t), step, pc, WriterCell(lock), ReadersCell(lock));
}

int RefuseDestroyed(const ReadWriteLockView& lock, const char* what, uint64_t pc) {
  return Misuse(std::string(what) + " the destroyed " + NameOfObject("reader-writer lock", &lock),
                pc, EINVAL);
}

int TakeForReading(ReadWriteLockView& lock, bool value_relevant, uint16_t flags, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  flags |= TentativeFlag();
  // Only the readers half is acquired: detectors take a reader for one (racedet/held_locks.h).
  g_scheduler.RecordCell(WriterCell(lock), kRead, flags | (value_relevant ? kValueRelevant : 0),
                         pc);
  RecordReaders(ReadersCell(lock), flags | kAcquire, pc);
  Touch(lock, kRead, pc);
  if (lock.mark == kDestroyedMark) return RefuseDestroyed(lock, "read lock of", pc);
  uint32_t& holds = ReadHoldsOf(thread, lock);
  g_scheduler.Ledger(ReadersCell(lock), holds, holds + 1);
  ++holds;
  ++lock.readers;
  RememberHeld(thread, &lock, pc);
  RaiseClock(&thread.clock_ns, lock.clock_ns);
  NoteReadAttempt(lock, LockStep::kTaken, pc);
  return 0;
}

int TakeForWriting(ReadWriteLockView& lock, bool value_relevant, uint16_t flags, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  flags |= TentativeFlag() | (value_relevant ? kTested : 0);
  // Likewise, only the writer half.
  g_scheduler.RecordCell(ReadersCell(lock), kRead, flags, pc);
  g_scheduler.RecordCell(WriterCell(lock), WriteMode(flags), flags | kAcquire, pc);
  Touch(lock, kRead, pc);
  if (lock.mark == kDestroyedMark) return RefuseDestroyed(lock, "write lock of", pc);
  lock.writer = OwnerOf(thread);
  g_scheduler.Ledger(WriterCell(lock), 0, lock.writer);
  RememberHeld(thread, &lock, pc);
  RaiseClock(&thread.clock_ns, lock.clock_ns);
  RaiseClock(&thread.clock_ns, lock.readers_clock_ns);
  NoteWriteAttempt(lock, LockStep::kTaken, pc);
  return 0;
}

// Asked before the operation: it is not here that it fails if the lock's memory is gone.
bool PrefersWriters(const ReadWriteLockView& lock) {
  return ViewAt<ReadWriteLockView>(reinterpret_cast<uintptr_t>(&lock)).prefers_writers();
}

// The C library refuses a lock to the thread that holds it for writing.
bool RefusesWriter(const ReadWriteLockView& lock, uint64_t pc) {
  if (!CanBeRead(&lock) || lock.writer != OwnerOf(g_scheduler.current())) return false;
  BeforeOperation(kPpLock, pc, OperationDetail::kReadLock);
  g_scheduler.RecordCell(WriterCell(lock), kRead, kTested, pc);
  Touch(lock, kRead, pc);
  return true;
}

Operation ReadLockOperation(Cell writer_half, uint64_t pc) {
  return MakeOperation(OperationKind::kReadLock, writer_half, pc, OperationDetail::kReadLock);
}
Operation WriteLockOperation(Cell writer_half, uint64_t pc) {
  return MakeOperation(OperationKind::kWriteLock, writer_half, pc, OperationDetail::kWriteLock);
}

// Waits until no writer is announced, and the lock is free for readers in the same step. Loops that
// take such a lock are not recognised as spinning: what is announced counts as a change.
int LetWritersPassAndLock(ReadWriteLockView& lock, uint64_t pc) {
  g_scheduler.Progress();
  for (;;) {
    const bool first = BlockOperation(kPpLock, &lock, ReadLockOperation(AnnouncementCell(lock), pc),
                                      &NobodyIsAnnounced);
    g_scheduler.RecordCell(AnnouncementCell(lock), kRead, first ? 0 : kTested, pc);
    RecordReaders(AnnouncementReadersCell(lock), 0, pc);
    if (lock.writer == 0) return TakeForReading(lock, true, 0, pc);
    // The writer has it already.
    g_scheduler.RecordCell(WriterCell(lock), kRead, kTested | kBlockingTest, pc);
    g_scheduler.EndBlock(ReadLockOperation(WriterCell(lock), pc), &HasNoWriter);
    g_scheduler.RecordCell(AnnouncementCell(lock), kRead, kTested, pc);
    if (lock.announced == 0) return TakeForReading(lock, false, 0, pc);
    // It was free, but the next writer is announced.
    g_scheduler.RecordCell(WriterCell(lock), kRead, kTested | kBlockingTest, pc);
    RecordReaders(ReadersCell(lock), kBlockingTest, pc);
  }
}

int LockForReading(ReadWriteLockView& lock, uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.SpinPointAtLock(pc, registers, &lock);
  if (RefusesWriter(lock, pc)) return EDEADLK;
  int result;
  if (PrefersWriters(lock)) {
    result = LetWritersPassAndLock(lock, pc);
  } else {
    const bool first =
        BlockOperation(kPpLock, &lock, ReadLockOperation(WriterCell(lock), pc), &HasNoWriter);
    result = TakeForReading(lock, !first, 0, pc);
  }
  AfterOperation(0);
  return result;
}

void Announce(ReadWriteLockView& lock, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  g_scheduler.Progress();
  const bool first = BlockOperation(kPpLock, &lock, WriteLockOperation(AnnouncementCell(lock), pc),
                                    &NobodyIsAnnounced);
  const uint16_t tested = first ? 0 : kTested;
  g_scheduler.RecordCell(AnnouncementReadersCell(lock), kRead, tested, pc);
  g_scheduler.RecordCell(AnnouncementCell(lock), first ? kWrite : kReadWrite, tested, pc);
  Touch(lock, kRead, pc);
  lock.announced = OwnerOf(thread);
  g_scheduler.Ledger(AnnouncementCell(lock), 0, lock.announced);
  RememberHeld(thread, &lock.announced, pc);
}

void Withdraw(ReadWriteLockView& lock, uint64_t pc) {
  g_scheduler.Progress();
  g_scheduler.RecordCell(AnnouncementCell(lock), kWrite, 0, pc);
  g_scheduler.Ledger(AnnouncementCell(lock), lock.announced, 0);
  lock.announced = 0;
  ForgetHeld(g_scheduler.current(), &lock.announced);
}

int LockForWriting(ReadWriteLockView& lock, uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.SpinPointAtLock(pc, registers, &lock);
  if (RefusesWriter(lock, pc)) return EDEADLK;
  const bool announces = PrefersWriters(lock);
  if (announces) Announce(lock, pc);
  const bool first =
      BlockOperation(kPpLock, &lock, WriteLockOperation(WriterCell(lock), pc), &IsFree);
  const int result = TakeForWriting(lock, !first, 0, pc);
  if (announces) Withdraw(lock, pc);
  AfterOperation(0);
  return result;
}

// What a failed attempt returns: EBUSY, or ETIMEDOUT for a timed one, whose clock then shows its
// deadline.
int Refused(const timespec* deadline) {
  if (deadline == nullptr) return EBUSY;
  RaiseClock(&g_scheduler.current().clock_ns, ClockAt(*deadline));
  return ETIMEDOUT;
}

int TryLockForReading(ReadWriteLockView& lock, const timespec* deadline, uint64_t pc,
                      const EntryRegisters& registers) {
  if (deadline != nullptr) {
    if (!IsValidTime(*deadline)) return EINVAL;
    if (RefusesWriter(lock, pc)) return EDEADLK;
  }
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc, OperationDetail::kTryReadLock);
  Touch(lock, kRead, pc);
  int result;
  if (lock.prefers_writers()) {
    g_scheduler.RecordCell(AnnouncementCell(lock), kRead, kTested | kTry, pc);
  }
  if (lock.writer == 0 && lock.announced == 0) {
    result = TakeForReading(lock, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kTryFail)) {
      g_scheduler.RecordCell(WriterCell(lock), kRead, kTested | kTry, pc);
      Touch(lock, kRead, pc);
    }
    NoteReadAttempt(lock, LockStep::kRefusedReading, pc);
    result = Refused(deadline);
  }
  AfterOperation(0);
  return result;
}

int TryLockForWriting(ReadWriteLockView& lock, const timespec* deadline, uint64_t pc,
                      const EntryRegisters& registers) {
  if (deadline != nullptr) {
    if (!IsValidTime(*deadline)) return EINVAL;
    if (RefusesWriter(lock, pc)) return EDEADLK;
  }
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc, OperationDetail::kTryWriteLock);
  Touch(lock, kRead, pc);
  int result;
  if (lock.writer == 0 && lock.readers == 0) {
    result = TakeForWriting(lock, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kTryFail)) {
      g_scheduler.RecordCell(ReadersCell(lock), kRead, kTested | kTry, pc);
      g_scheduler.RecordCell(WriterCell(lock), kRead, kTested | kTry, pc);
      Touch(lock, kRead, pc);
    }
    NoteWriteAttempt(lock, LockStep::kRefused, pc);
    result = Refused(deadline);
  }
  AfterOperation(0);
  return result;
}

int Unlock(ReadWriteLockView& lock, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpUnlock, pc, OperationDetail::kReadWriteUnlock);
  Touch(lock, kRead, pc);
  const bool record = !g_scheduler.Mutated(EventModelMutation::kUnlock);
  const uint16_t tentative = TentativeFlag();
  uint32_t& holds = ReadHoldsOf(thread, lock);
  if (lock.writer == OwnerOf(thread)) {
    if (record) {
      g_scheduler.RecordCell(WriterCell(lock), WriteMode(tentative), tentative | kRelease, pc);
    }
    g_scheduler.Ledger(WriterCell(lock), lock.writer, 0);
    lock.writer = 0;
    RaiseClock(&lock.clock_ns, thread.clock_ns);
    NoteWriteAttempt(lock, LockStep::kReleased, pc);
  } else if (holds != 0 && lock.mark != kDestroyedMark) {
    if (record) RecordReaders(ReadersCell(lock), tentative | kRelease, pc);
    g_scheduler.Ledger(ReadersCell(lock), holds, holds - 1);
    --holds;
    --lock.readers;
    RaiseClock(&lock.readers_clock_ns, thread.clock_ns);
    NoteReadAttempt(lock, LockStep::kReleased, pc);
  } else {
    g_scheduler.RecordCell(WriterCell(lock), kRead, kTested, pc);
    return Misuse(NameOfOwner(OwnerOf(thread)) + " unlocks " +
                      NameOfObject("reader-writer lock", &lock) + ", which it does not hold",
                  pc, 0);
  }
  ForgetHeld(thread, &lock);
  AfterOperation(kPpUnlock);
  return 0;
}

int Destroy(ReadWriteLockView& lock, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kReadWriteDestroy);
  g_scheduler.RecordCell(WriterCell(lock), kReadWrite, kValueRelevant, pc);
  g_scheduler.RecordCell(ReadersCell(lock), kReadWrite, kValueRelevant, pc);
  Touch(lock, kWrite, pc);
  if (lock.mark == kDestroyedMark) {
    return Misuse(NameOfObject("reader-writer lock", &lock) + " is destroyed twice", pc, EINVAL);
  }
  if (lock.writer != 0 || lock.readers != 0) {
    return Misuse(NameOfObject("reader-writer lock", &lock) + " is destroyed while held by " +
                      (lock.writer != 0 ? NameOfOwner(lock.writer) : std::string("a reader")),
                  pc, EBUSY);
  }
  lock.mark = kDestroyedMark;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

void Initialised(ReadWriteLockView& lock, uint64_t pc) {
  g_scheduler.RecordCell(WriterCell(lock), kWrite, 0, pc);
  g_scheduler.RecordCell(ReadersCell(lock), kWrite, 0, pc);
  Touch(lock, kWrite, pc);
  g_scheduler.Ledger(WriterCell(lock), 0, 0);
  g_scheduler.Progress();
  AfterOperation(0);
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_rwlock_init(pthread_rwlock_t* lock, const pthread_rwlockattr_t* attributes) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_init(lock, attributes);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  BeforeOperation(kPpLock, pc, OperationDetail::kReadWriteInit);
  g_scheduler.NoteObjectChange(lock, sizeof *lock);
  const int result = Real().pthread_rwlock_init(lock, attributes);
  if (result == 0) Initialised(ViewOf<ReadWriteLockView>(lock), pc);
  return result;
}

MC_HOOK int pthread_rwlock_destroy(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_destroy(lock);
  EngineScope scope;
  return Destroy(ViewOf<ReadWriteLockView>(lock), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_rwlock_rdlock, mc_entry_rwlock_rdlock);
MC_BEHIND_STUB int mc_entry_rwlock_rdlock(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_rdlock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return LockForReading(ViewOf<ReadWriteLockView>(lock), MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_wrlock, mc_entry_rwlock_wrlock);
MC_BEHIND_STUB int mc_entry_rwlock_wrlock(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_wrlock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return LockForWriting(ViewOf<ReadWriteLockView>(lock), MC_CALLER_PC(), registers);
}

MC_DISTANT_STUB(pthread_rwlock_unlock, mc_entry_rwlock_unlock);
MC_BEHIND_STUB int mc_entry_rwlock_unlock(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_unlock(lock);
  EngineScope scope;
  return Unlock(ViewOf<ReadWriteLockView>(lock), MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_rwlock_tryrdlock, mc_entry_rwlock_tryrdlock);
MC_BEHIND_STUB int mc_entry_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_tryrdlock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForReading(ViewOf<ReadWriteLockView>(lock), nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_trywrlock, mc_entry_rwlock_trywrlock);
MC_BEHIND_STUB int mc_entry_rwlock_trywrlock(pthread_rwlock_t* lock) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_trywrlock(lock);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForWriting(ViewOf<ReadWriteLockView>(lock), nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_timedrdlock, mc_entry_rwlock_timedrdlock);
MC_BEHIND_STUB int mc_entry_rwlock_timedrdlock(pthread_rwlock_t* lock, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_timedrdlock(lock, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForReading(ViewOf<ReadWriteLockView>(lock), deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_timedwrlock, mc_entry_rwlock_timedwrlock);
MC_BEHIND_STUB int mc_entry_rwlock_timedwrlock(pthread_rwlock_t* lock, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().pthread_rwlock_timedwrlock(lock, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForWriting(ViewOf<ReadWriteLockView>(lock), deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_clockrdlock, mc_entry_rwlock_clockrdlock);
MC_BEHIND_STUB int mc_entry_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                               const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_rwlock_clockrdlock(lock, clock, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForReading(ViewOf<ReadWriteLockView>(lock), deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_rwlock_clockwrlock, mc_entry_rwlock_clockwrlock);
MC_BEHIND_STUB int mc_entry_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                               const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_rwlock_clockwrlock(lock, clock, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryLockForWriting(ViewOf<ReadWriteLockView>(lock), deadline, MC_CALLER_PC(), registers);
}
