// The mutex operations behind pthread_mutex_*, mtx_* and the condition variables. All return 0 or
// an errno value.
#ifndef MC_SCHED_INTERPOSE_MUTEX_OPERATIONS_H_
#define MC_SCHED_INTERPOSE_MUTEX_OPERATIONS_H_

#include <time.h>

#include <cstdint>

#include "sched/interpose/object_views.h"
#include "sched/spin.h"
#include "sched/thread.h"

namespace mc::sched {

int LockMutex(MutexView& mutex, uint64_t pc, const EntryRegisters& registers);
// `deadline` null: trylock, EBUSY if it is taken. Else a timed lock: it runs out exactly when it is
// scheduled while the mutex is taken (ETIMEDOUT).
int TryLockMutex(MutexView& mutex, const timespec* deadline, uint64_t pc,
                 const EntryRegisters& registers);
int UnlockMutex(MutexView& mutex, uint64_t pc);
int DestroyMutex(MutexView& mutex, uint64_t pc);
// A mutex was initialised by the C library's function: records that. Call MutexInitBegins before.
void MutexInitBegins(MutexView& mutex, uint64_t pc);
void MutexInitialised(MutexView& mutex, uint64_t pc);

// The parts of a lock and an unlock that condition waits share. `value_relevant`: the thread did
// not know that the mutex is free. TakeMutex returns 0, EOWNERDEAD (taken), ENOTRECOVERABLE or
// EINVAL (not taken).
int TakeMutex(Thread& thread, MutexView& mutex, bool value_relevant, uint16_t flags, uint64_t pc);
void ReleaseMutex(Thread& thread, MutexView& mutex, uint64_t pc, uint16_t flags = 0);

// The thread ends: its robust mutexes go to whoever locks them next, with EOWNERDEAD.
void ReleaseRobustMutexes(Thread& thread);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_MUTEX_OPERATIONS_H_
