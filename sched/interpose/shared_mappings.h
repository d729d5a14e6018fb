// Memory that shows a file: what mmap with MAP_SHARED makes of one.
//
// A system call that reads or writes the file reads or writes that memory, and is recorded so. Two
// mappings that show the same bytes would be two addresses for one variable, which the rest of mc
// cannot follow: if one of them may be written, that is an error.
//
// Cleared with the mappings (mappings.h), whose file calls all but the first and the last function.
#ifndef MC_SCHED_INTERPOSE_SHARED_MAPPINGS_H_
#define MC_SCHED_INTERPOSE_SHARED_MAPPINGS_H_

#include <cstdint>

namespace mc::sched {

// Before mmap or mprotect with these arguments: ends the check with an error if from then on two
// addresses would stand for one byte. The EngineScope is open, and the caller runs on the program's
// stack.
void RefuseSecondAddress(long number, const long arguments[6]);

// mmap with these arguments has made a mapping at `begin`.
void BeginSharedMapping(uintptr_t begin, const long arguments[6]);
// What was mapped at `from` now is at `to`, and of another size.
void MoveSharedMapping(uintptr_t from, uintptr_t old_size, uintptr_t to, uintptr_t size);
void EndSharedMapping(uintptr_t begin, uintptr_t end);
void ForgetSharedMappings();

// The program is about to make this system call: records what it reads and writes of files that are
// mapped.
void RecordMappedFile(long number, const long arguments[6]);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SHARED_MAPPINGS_H_
