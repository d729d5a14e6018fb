// What an execution does that takes more memory than it may (ExecutionOptions::memory_limit).
#ifndef MC_SCHED_INTERPOSE_MEMORY_LIMIT_H_
#define MC_SCHED_INTERPOSE_MEMORY_LIMIT_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

// The running thread asks for a block. If the process holds too much already, and most of that in
// blocks of the program, this is where it ends: its last words say where. Asked for every block; it
// looks when the blocks have grown by a part of the limit.
void LookAtMemory(uint64_t size, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_MEMORY_LIMIT_H_
