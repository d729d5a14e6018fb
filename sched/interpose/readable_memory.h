// Whether memory can be read, without making a fault.
//
// The state of a synchronisation object lies in the program's memory, which another thread may
// unmap. The engine looks at it also where no thread is to fail for it: in order to know whether
// the thread that waits for the object can run.
#ifndef MC_SCHED_INTERPOSE_READABLE_MEMORY_H_
#define MC_SCHED_INTERPOSE_READABLE_MEMORY_H_

#include <cstdint>

extern "C" __attribute__((visibility("hidden"))) int mc_try_to_read(const volatile void* address);

namespace mc::sched {

inline bool CanBeRead(const volatile void* address) { return mc_try_to_read(address) != 0; }

// Is this the fault by which CanBeRead learns that it cannot? Then it is dealt with.
bool IsFaultOfTry(void* raw_context);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_READABLE_MEMORY_H_
