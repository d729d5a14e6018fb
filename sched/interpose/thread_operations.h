// The operations behind pthread_create, pthread_join, ... and thrd_*. All return 0 or an errno
// value.
#ifndef MC_SCHED_INTERPOSE_THREAD_OPERATIONS_H_
#define MC_SCHED_INTERPOSE_THREAD_OPERATIONS_H_

#include <pthread.h>
#include <time.h>

#include <cstdint>

#include "sched/spin.h"

namespace mc::sched {

int CreateThread(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                 void* argument, uint64_t pc);
// `result` may be null.
int JoinThread(pthread_t thread, void** result, uint64_t pc);
// `deadline` null: EBUSY if the thread has not ended, else ETIMEDOUT.
int TryJoinThread(pthread_t thread, void** result, const timespec* deadline, uint64_t pc,
                  const EntryRegisters& registers);
int DetachThread(pthread_t thread, uint64_t pc);
// Ends the calling thread: runs the clean-up handlers and destructors of what is on its stack, then
// its exit handlers. To be called as program code, without an EngineScope.
[[noreturn]] void LeaveThread(void* result);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_THREAD_OPERATIONS_H_
