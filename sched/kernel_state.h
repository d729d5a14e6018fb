// What the kernel keeps for the program, put back between executions.
//
// Memory goes back to the snapshot; what the kernel keeps does not by itself: descriptors and the
// positions of open files, mappings, signal handlers and masks, the working directory, the umask,
// limits, timers. An execution that found what an earlier one left would not be a function of its
// schedule. So before the first change of each kind it is noted how things were, and before the
// next execution they are made so again. Whoever changes nothing pays nothing.
//
// Files that were made, written or removed, and what went to other processes, cannot be put back.
// It is remembered which system calls did that, for when an execution is not as it was.
//
// Implemented by interpose/kernel_state.cc and interpose/mappings.cc.
#ifndef MC_SCHED_KERNEL_STATE_H_
#define MC_SCHED_KERNEL_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace mc::sched {

// SystemCallEffect bits of what the running execution has done (interpose/system_call_effects.h).
extern uint32_t g_kernel_effects;

// The signals that main blocks when an execution begins (interpose/program_signals.h).
extern uint64_t g_initial_signal_mask;

// Called once, at the snapshot.
void SaveKernelState();
// At the end of an execution, if g_kernel_effects is not 0. Before that the program's memory is to
// be read once more: RestoreProtections takes back what keeps from it.
void RestoreProtections();
void RestoreKernelState();
// When the next one begins, just before memory goes back. Unmaps what the program has mapped, which
// its memory refers to until then (the C library's tables of a locale, say), and forgets the rest.
void ForgetKernelEffects();

// The names of the system calls by which the program, in any execution so far, changed what cannot
// be put back, separated by ", "; "" if there was none.
std::string LastingSystemCalls();
// Was there any?
bool HasLastingEffects();

// "mapping of 8192 bytes at 0x..., made by T1 at ...", and who unmapped it, if it was; "" if the
// running or last execution had no mapping there.
std::string DescribeMapping(uintptr_t address);
// Is there any mapping that the running or last execution has made and not unmapped?
bool HasMappings();
// Calls visit(copy, size, context) with a copy of each page of those mappings that was touched.
void VisitMappedPages(void (*visit)(const void* copy, size_t size, void* context), void* context);

}  // namespace mc::sched

#endif  // MC_SCHED_KERNEL_STATE_H_
