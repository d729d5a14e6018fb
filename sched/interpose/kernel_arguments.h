// What the kernel does with the arguments of a system call: which memory of the program it writes,
// and whether the call has to wait.
//
// Pages of the snapshot are write-protected until they are first written (sched/snapshot.h). The
// program's own writes fault and are let through; the kernel's would fail with EFAULT. So those
// pages are opened before the call.
//
// A call that waits for what another thread of the program has to do cannot be scheduled: it would
// stop them all. That is an error of its own, not a loop.
#ifndef MC_SCHED_INTERPOSE_KERNEL_ARGUMENTS_H_
#define MC_SCHED_INTERPOSE_KERNEL_ARGUMENTS_H_

#include <cstddef>

namespace mc::sched {

// Opens the pages of `size` bytes at `address` (null: none) for the kernel.
void OpenForKernel(const void* address, size_t size);

// Opens the pages that system call `number` may write. Calls that the table does not know: a page
// at every argument that points into memory of the snapshot, which covers all structures of fixed
// size.
void OpenWhatKernelWrites(long number, const long arguments[6]);

// What the call is named, if it would wait now while there are other threads that could do what it
// waits for; else nullptr. Leaves errno alone and takes nothing from anywhere.
const char* WaitsForOthers(long number, const long arguments[6]);

// Both, before the C library's function that makes this system call: ends the check with an error
// if it would wait.
template <typename... Arguments>
void BeforeSystemCall(long number, Arguments... arguments);

void BeforeSystemCallOf(long number, const long arguments[6]);

template <typename... Arguments>
void BeforeSystemCall(long number, Arguments... arguments) {
  const long all[6] = {(long)arguments...};  // NOLINT: pointers and integers alike, as the kernel
  BeforeSystemCallOf(number, all);
}

// What the call is named, if mc supports it nowhere; else nullptr.
const char* RefusedSystemCall(long number);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_KERNEL_ARGUMENTS_H_
