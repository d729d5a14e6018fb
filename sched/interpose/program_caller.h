// Whose code a function of the C++ library works for.
#ifndef MC_SCHED_INTERPOSE_PROGRAM_CALLER_H_
#define MC_SCHED_INTERPOSE_PROGRAM_CALLER_H_

#include <cstdint>

namespace mc::sched {

// To be called before main; until then no code is known to be the library's.
void FindStandardLibrary();
bool IsInStandardLibrary(uint64_t pc);

// A hook was called from `pc`. If that is in the C++ library, which calls its own functions, the
// place in the program from where it was called; else `pc`. The EngineScope must be open.
uint64_t ProgramCaller(uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_PROGRAM_CALLER_H_
