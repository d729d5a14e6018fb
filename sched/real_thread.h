// Creating one of the real OS threads that lend their thread-local storage to fibers.
#ifndef MC_SCHED_REAL_THREAD_H_
#define MC_SCHED_REAL_THREAD_H_

#include <cstddef>

namespace mc::sched {

// Starts a detached OS thread with the C library's own pthread_create on the given stack. The
// thread has all signals blocked. False with errno on failure.
bool CreateRealThread(void* stack, size_t size, void* (*function)(void*), void* argument);

}  // namespace mc::sched

#endif  // MC_SCHED_REAL_THREAD_H_
