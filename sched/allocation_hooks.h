// What the interposed allocation functions (interpose/allocation.cc) ask of the scheduler.
//
// A call belongs to one of three phases. Before the engine has started, the dynamic loader and
// static constructors allocate from the program heap, unrecorded, as thread 0. Program code goes
// through the functions below. Engine code gets the engine's heap. Which heap a *freed* block
// belongs to is told from its address, whoever frees it.
#ifndef MC_SCHED_ALLOCATION_HOOKS_H_
#define MC_SCHED_ALLOCATION_HOOKS_H_

#include <cstddef>
#include <cstdint>

#include "sched/heap_block.h"

namespace mc::sched {

// Has the engine been set up, so that code is either the engine's or the program's? While this is
// false, everything is taken for the program's start-up.
bool EngineStarted();
// Does code of the program run (in a controlled execution), not of the engine? False while
// EngineStarted() is.
bool ProgramCodeRunning();

// Called only while ProgramCodeRunning(); `pc` is the caller's return address. They record the
// accesses of spec optimal-dpor 1.4 and report double, invalid and mismatched frees.
//
// A block as ProgramHeap::Allocate describes it; nullptr if memory is out (already reported).
void* ProgramAllocate(size_t size, size_t alignment, AllocationKind kind, bool zeroed, uint64_t pc);
// `pointer` is not null; `kind` is that of the allocation function that goes with the release.
void ProgramFree(void* pointer, AllocationKind kind, uint64_t pc);
// As realloc with a non-null `pointer` and a size that is not 0.
void* ProgramReallocate(void* pointer, size_t size, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_ALLOCATION_HOOKS_H_
