// Mappings that the program makes in an execution: where they lie, whose they are, and their end.
//
// To map memory is to allocate it, to unmap it is to free it. As with the heap (sched/heap.h), an
// address must be a function of the calling thread's own past: each thread has a part of the
// address space for the mappings for which the program names no address, and takes places in it
// one after the other, never twice in an execution. Where that is used up the kernel chooses.
//
// All functions make the system call in place of the program, record it as the beginning or the end
// of a lifetime, and return what the kernel returns: -errno on failure.
#ifndef MC_SCHED_INTERPOSE_MAPPINGS_H_
#define MC_SCHED_INTERPOSE_MAPPINGS_H_

#include <cstdint>

namespace mc::sched {

// Is this one of the calls that DoMappingCall makes?
bool IsMappingCall(long number);
// mmap, munmap, mremap, mprotect, madvise and brk; `pc` is where the program does it.
long DoMappingCall(long number, const long arguments[6], uint64_t pc);

// Unmaps what the last execution has mapped.
void RestoreMappings();
// Forgets the mappings that DescribeMapping tells of.
void ForgetMappings();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_MAPPINGS_H_
