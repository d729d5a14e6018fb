// What the interposed syscall() hands to the files that know the call. All return the value of
// syscall(): -1 with errno on failure.
#ifndef MC_SCHED_INTERPOSE_SYSTEM_CALL_H_
#define MC_SCHED_INTERPOSE_SYSTEM_CALL_H_

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>

#include "sched/spin.h"

namespace mc::sched {

// futex(2): FUTEX_WAIT, FUTEX_WAKE and their bitset forms with all bits set.
long DoFutex(uint32_t* word, int operation, uint32_t value, const timespec* timeout, uint32_t mask,
             uint64_t pc, const EntryRegisters& registers);

// The thread id of the calling thread: a function of its name.
pid_t KernelThreadId();

// Fills the buffer with the calling thread's random bytes.
void FillRandom(void* buffer, size_t size);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SYSTEM_CALL_H_
