// Whose code an address belongs to, where that makes a difference.
#ifndef MC_SCHED_INTERPOSE_PROGRAM_CODE_H_
#define MC_SCHED_INTERPOSE_PROGRAM_CODE_H_

#include <cstdint>

namespace mc::sched {

// The code of the dynamic loader: what it keeps is not part of the snapshot.
bool IsLoaderCode(uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_PROGRAM_CODE_H_
