// Mutexes of three kinds, spin locks, reader-writer locks. Instrumented.
#include "tests/campaign/objects.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

#define BODY(name) long name(long, long)

BODY(LockM) { return pthread_mutex_lock(&objects.m); }
BODY(UnlockM) { return pthread_mutex_unlock(&objects.m); }
BODY(TryLockM) { return pthread_mutex_trylock(&objects.m); }
BODY(TimedLockM) { return pthread_mutex_timedlock(&objects.m, &kDeadline); }
BODY(LockN) { return pthread_mutex_lock(&objects.n); }
BODY(UnlockN) { return pthread_mutex_unlock(&objects.n); }
BODY(TryLockN) { return pthread_mutex_trylock(&objects.n); }
BODY(LockRecursive) { return pthread_mutex_lock(&objects.recursive); }
BODY(UnlockRecursive) { return pthread_mutex_unlock(&objects.recursive); }
BODY(TryLockRecursive) { return pthread_mutex_trylock(&objects.recursive); }
BODY(LockErrorChecking) { return pthread_mutex_lock(&objects.error_checking); }
BODY(UnlockErrorChecking) { return pthread_mutex_unlock(&objects.error_checking); }
BODY(TryLockErrorChecking) { return pthread_mutex_trylock(&objects.error_checking); }

BODY(LockSpin) { return pthread_spin_lock(&objects.spin); }
BODY(TryLockSpin) { return pthread_spin_trylock(&objects.spin); }
BODY(UnlockSpin) { return pthread_spin_unlock(&objects.spin); }

BODY(ReadLock) { return pthread_rwlock_rdlock(&objects.w); }
BODY(TryReadLock) { return pthread_rwlock_tryrdlock(&objects.w); }
BODY(TimedReadLock) { return pthread_rwlock_timedrdlock(&objects.w, &kDeadline); }
BODY(WriteLock) { return pthread_rwlock_wrlock(&objects.w); }
BODY(TryWriteLock) { return pthread_rwlock_trywrlock(&objects.w); }
BODY(TimedWriteLock) { return pthread_rwlock_timedwrlock(&objects.w, &kDeadline); }
BODY(ReadWriteUnlock) { return pthread_rwlock_unlock(&objects.w); }

BODY(ReadLockV) { return pthread_rwlock_rdlock(&objects.v); }
BODY(TryReadLockV) { return pthread_rwlock_tryrdlock(&objects.v); }
BODY(TimedReadLockV) { return pthread_rwlock_timedrdlock(&objects.v, &kDeadline); }
BODY(WriteLockV) { return pthread_rwlock_wrlock(&objects.v); }
BODY(TryWriteLockV) { return pthread_rwlock_trywrlock(&objects.v); }
BODY(ReadWriteUnlockV) { return pthread_rwlock_unlock(&objects.v); }

// A mutex of the thread's own, from its beginning to its end.
BODY(OwnMutex) {
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, nullptr);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return pthread_mutex_destroy(&mutex);
}
BODY(DestroyN) { return pthread_mutex_destroy(&objects.n); }
BODY(InitialiseN) { return pthread_mutex_init(&objects.n, nullptr); }

constexpr Success kZero = Success::kZero;
constexpr Needs kHeld = Needs::kHeld, kNotHeld = Needs::kNotHeld, kNothing = Needs::kNothing;
constexpr Takes kHold = Takes::kHold, kRelease = Takes::kRelease;

constexpr Operation kOperations[] = {
    {"lock m", LockM, kZero, kNotHeld, kHold, kMutexM, MutexMIsTaken},
    {"unlock m", UnlockM, kZero, kHeld, kRelease, kMutexM},
    {"r=trylock m", TryLockM, kZero, kNothing, kHold, kMutexM},
    {"r=timedlock m", TimedLockM, kZero, kNothing, kHold, kMutexM},
    {"lock n", LockN, kZero, kNothing, kHold, kMutexN, MutexNIsTaken},
    {"unlock n", UnlockN, kZero, kHeld, kRelease, kMutexN},
    {"r=trylock n", TryLockN, kZero, kNothing, kHold, kMutexN},
    {"lock q", LockRecursive, kZero, kNothing, kHold, kRecursive, RecursiveIsTaken},
    {"unlock q", UnlockRecursive, kZero, kNothing, kRelease, kRecursive},
    {"r=trylock q", TryLockRecursive, kZero, kNothing, kHold, kRecursive},
    {"lock e", LockErrorChecking, kZero, kNothing, kHold, kErrorChecking, ErrorCheckingIsTaken},
    {"unlock e", UnlockErrorChecking, kZero, kNothing, kRelease, kErrorChecking},
    {"r=trylock e", TryLockErrorChecking, kZero, kNothing, kHold, kErrorChecking},
    {"lock spin", LockSpin, kZero, kNotHeld, kHold, kSpin, SpinIsTaken},
    {"r=trylock spin", TryLockSpin, kZero, kNothing, kHold, kSpin},
    {"unlock spin", UnlockSpin, kZero, kHeld, kRelease, kSpin},
    {"rdlock w", ReadLock, kZero, kNothing, kHold, kReaderWriter, CannotReadLock},
    {"r=tryrdlock w", TryReadLock, kZero, kNothing, kHold, kReaderWriter},
    {"r=timedrdlock w", TimedReadLock, kZero, kNothing, kHold, kReaderWriter},
    {"wrlock w", WriteLock, kZero, kNothing, kHold, kReaderWriter, CannotWriteLock},
    {"r=trywrlock w", TryWriteLock, kZero, kNothing, kHold, kReaderWriter},
    {"r=timedwrlock w", TimedWriteLock, kZero, kNothing, kHold, kReaderWriter},
    {"rwunlock w", ReadWriteUnlock, kZero, kHeld, kRelease, kReaderWriter},
    {"rdlock v", ReadLockV, kZero, kNothing, kHold, kWriterPreferring, CannotReadLockV},
    {"r=tryrdlock v", TryReadLockV, kZero, kNothing, kHold, kWriterPreferring},
    {"r=timedrdlock v", TimedReadLockV, kZero, kNothing, kHold, kWriterPreferring},
    {"wrlock v", WriteLockV, kZero, kNothing, kHold, kWriterPreferring, CannotWriteLockV},
    {"r=trywrlock v", TryWriteLockV, kZero, kNothing, kHold, kWriterPreferring},
    {"rwunlock v", ReadWriteUnlockV, kZero, kHeld, kRelease, kWriterPreferring},
    {"own mutex", OwnMutex, kZero},
    {"destroy n", DestroyN, kZero, kNothing, kHold, kDestroyedN},
    {"init n", InitialiseN, kZero, kHeld, kRelease, kDestroyedN},
};

}  // namespace

std::span<const Operation> LockOperations() { return kOperations; }

}  // namespace mc::campaign
