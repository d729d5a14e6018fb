// Code of the C library. There a thread may hold one of the library's own locks (setenv allocates
// under one, for instance), which mc cannot schedule: no thread is preempted there.
#ifndef MC_SCHED_C_LIBRARY_H_
#define MC_SCHED_C_LIBRARY_H_

#include <cstdint>

namespace mc::sched {

extern uint64_t g_c_library_begin, g_c_library_size;

// Finds it. Called before the first execution; until then no code is.
void FindCLibrary();

inline bool IsCLibraryCode(uint64_t pc) { return pc - g_c_library_begin < g_c_library_size; }

// Code of the dynamic loader: what it keeps is not part of the snapshot.
bool IsLoaderCode(uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_C_LIBRARY_H_
