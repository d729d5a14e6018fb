// How the engine sees the bytes of the C library's synchronisation objects.
//
// The state of an object lives in its own bytes: they go back to the snapshot with the rest of the
// program's memory and die with it. The layouts agree with glibc's (64-bit) as far as an object
// that glibc initialised, statically or by a call, and nobody uses, means here what it means there:
// a program may initialise an object before its controlled execution begins, and glibc may use it
// after. Fields glibc uses otherwise are zero whenever the object is free.
//
// `clock_ns` carries virtual time from the thread that releases to the one that acquires.
#ifndef MC_SCHED_INTERPOSE_OBJECT_VIEWS_H_
#define MC_SCHED_INTERPOSE_OBJECT_VIEWS_H_

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include <cstddef>
#include <cstdint>

#include "sched/interpose/readable_memory.h"

namespace mc::sched {

inline constexpr uint32_t kDestroyedMark = 0x6d63dead;

struct MutexView {
  uint32_t owner;         // ThreadId + 1; 0: free                (glibc: __lock)
  uint32_t recursion;     // how often the owner holds it         (glibc: __count)
  uint32_t robust_state;  // (glibc: __owner)
  uint32_t unused;        // (glibc: __nusers)
  int32_t kind;           // glibc's; -1: destroyed
  uint32_t spins;
  uint64_t clock_ns;  // (glibc: __list, robust mutexes only)

  enum RobustState : uint32_t { kConsistent = 0, kOwnerDied = 1, kNotRecoverable = 2 };
  static constexpr int kKindMask = 3, kRobustBit = 16;
  bool destroyed() const { return kind == -1; }
  bool robust() const { return kind != -1 && (kind & kRobustBit) != 0; }
  bool recursive() const { return kind != -1 && (kind & kKindMask) == PTHREAD_MUTEX_RECURSIVE_NP; }
  bool error_checking() const {
    return kind != -1 && (kind & kKindMask) == PTHREAD_MUTEX_ERRORCHECK_NP;
  }
};
static_assert(sizeof(MutexView) <= sizeof(pthread_mutex_t));
static_assert(sizeof(MutexView) <= sizeof(mtx_t));
static_assert(offsetof(MutexView, kind) == offsetof(pthread_mutex_t, __data.__kind));
static_assert(offsetof(MutexView, recursion) == offsetof(pthread_mutex_t, __data.__count));
static_assert(offsetof(MutexView, clock_ns) == offsetof(pthread_mutex_t, __data.__list));

// The waiters of a condition variable are found in the threads; its bytes say only that it lives.
struct ConditionVariableView {
  uint64_t wait_sequence;
  uint64_t group_start;
  uint32_t unused[7];
  uint32_t mark;  // kDestroyedMark once destroyed                 (glibc: __g_signals[1])
};
static_assert(sizeof(ConditionVariableView) <= sizeof(pthread_cond_t));
static_assert(sizeof(ConditionVariableView) <= sizeof(cnd_t));

struct ReadWriteLockView {
  uint32_t unused;
  uint32_t
      announced;  // ThreadId + 1 of the writer that readers let pass; 0: none (glibc: __writers)
  uint32_t unused_too[2];
  uint32_t readers;  // read locks held                       (glibc: __pad3)
  uint32_t mark;     // kDestroyedMark once destroyed         (glibc: __pad4)
  uint32_t writer;   // ThreadId + 1 of the writer; 0: none   (glibc: __cur_writer)
  int32_t shared;
  uint64_t readers_clock_ns;  // latest time of a read unlock; for writers only
  uint64_t clock_ns;          // of the last write unlock       (glibc: __pad2)
  uint32_t flags;             // the kind (glibc: __flags)

  bool prefers_writers() const { return flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP; }
};
static_assert(offsetof(ReadWriteLockView, flags) == offsetof(pthread_rwlock_t, __data.__flags));
static_assert(offsetof(ReadWriteLockView, announced) ==
              offsetof(pthread_rwlock_t, __data.__writers));
static_assert(sizeof(ReadWriteLockView) <= sizeof(pthread_rwlock_t));
static_assert(offsetof(ReadWriteLockView, readers) == offsetof(pthread_rwlock_t, __data.__pad3));
static_assert(offsetof(ReadWriteLockView, writer) ==
              offsetof(pthread_rwlock_t, __data.__cur_writer));
static_assert(offsetof(ReadWriteLockView, clock_ns) == offsetof(pthread_rwlock_t, __data.__pad2));

// Only the first 12 bytes are glibc's; the others hold anything if glibc initialised the semaphore,
// so they count only when `mark` says that they are ours.
struct SemaphoreView {
  uint32_t value;
  uint32_t waiters;
  int32_t shared;
  uint32_t mark;  // kOurs, kDestroyedMark, or anything
  uint64_t clock_ns;

  static constexpr uint32_t kOurs = 0x6d635e30;
};
static_assert(sizeof(SemaphoreView) <= sizeof(sem_t));

struct BarrierView {
  uint32_t arrived;     // threads waiting in this generation   (glibc: in)
  uint32_t generation;  // (glibc: current_round)
  uint32_t count;
  int32_t shared;
  uint32_t departed;  // glibc's
  uint32_t mark;      // kDestroyedMark once destroyed
  uint64_t clock_ns;  // latest time of those waiting; meaningless while nobody waits
};
static_assert(sizeof(BarrierView) <= sizeof(pthread_barrier_t));

// A spin lock is one int. glibc has 1 for free on x86 and 0 elsewhere; both are taken for free.
struct SpinLockView {
  uint32_t state;

#if defined(__x86_64__)
  static constexpr uint32_t kFree = 1;
#else
  static constexpr uint32_t kFree = 0;
#endif
  static constexpr uint32_t kDestroyed = kDestroyedMark;
  static constexpr uint32_t kFirstOwner = 2;  // state = kFirstOwner + ThreadId when held
  bool free() const { return state <= 1; }
  bool destroyed() const { return state == kDestroyed; }
};
static_assert(sizeof(SpinLockView) == sizeof(pthread_spinlock_t));

// pthread_once_t and once_flag: 0 at first, then who runs the routine, then glibc's value for done.
struct OnceView {
  uint32_t state;

  static constexpr uint32_t kFresh = 0, kDone = 2;
  static constexpr uint32_t kRunningBit = 1;  // state = (ThreadId + 1) << 2 | kRunningBit
  bool running() const { return (state & 3) == kRunningBit; }
  bool done() const { return (state & 3) == kDone; }
  uint32_t owner() const { return running() ? state >> 2 : 0; }  // ThreadId + 1
};
static_assert(sizeof(OnceView) == sizeof(pthread_once_t));
static_assert(sizeof(OnceView) == sizeof(once_flag));

// The guard of a function-local static (Itanium C++ ABI): the first byte is 1 once it is done.
struct StaticGuardView {
  uint8_t done;
  uint8_t unused[3];
  uint32_t owner;  // ThreadId + 1 of the thread that initialises; 0: none
};
static_assert(sizeof(StaticGuardView) == 8);

template <class View>
View& ViewOf(const volatile void* object) {
  return *reinterpret_cast<View*>(const_cast<void*>(object));
}

// Of an object whose memory is gone. Whoever waits for it then goes on, and fails by itself.
template <class View>
inline constexpr View kFreeObject{};
template <>
inline constexpr SemaphoreView kFreeObject<SemaphoreView>{1, 0, 0, 0, 0};

// For looks that no thread is to fail for.
template <class View>
const View& ViewAt(uintptr_t address) {
  const auto* const object = reinterpret_cast<const View*>(address);
  return CanBeRead(object) ? *object : kFreeObject<View>;
}

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_OBJECT_VIEWS_H_
