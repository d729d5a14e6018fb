// What a system call of the program has to do with those of other threads, as accesses to cells.
//
// The kernel's state is shared by all threads: whether a file is there, what a pipe holds, which
// number the next descriptor gets. Two calls that touch the same of it are dependent, as two
// accesses to memory are: each call is recorded as reads and writes of cells (kSharedState) that
// stand for names, directories, contents of files, descriptors, and what belongs to the process. A
// file is known by its path, whichever way it is spelled. Memory is not
// ordered by it, but for what goes through pipes, sockets and the like.
#ifndef MC_SCHED_INTERPOSE_KERNEL_CELLS_H_
#define MC_SCHED_INTERPOSE_KERNEL_CELLS_H_

#include <cstdint>

#include "sched/cell.h"

namespace mc::sched {

// Around a call that makes up a name (mkstemp): other executions get other names, so another stands
// for it. `path`: the name; null if none was made.
void BeginTemporaryName();
void EndTemporaryName(const char* path);
// At the beginning of an execution.
void ForgetTemporaryNames();

// What is done on a signal; a thread's mask and pending signals; those pending of the process.
Cell SignalActionCell(int number);
Cell ThreadSignalsCell(uint32_t thread);
Cell ProcessSignalsCell();

// Before the call; `effects` are SystemCallEffect bits.
void RecordKernelCells(long number, const long arguments[6], uint32_t effects);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_KERNEL_CELLS_H_
