// The boundary between the program's code and the kernel.
//
// The C library makes system calls from inside (fread into a large buffer, posix_spawn, a lock of
// its own), where no function can stand in for it; so does a program that uses the instruction. The
// kernel can be asked to hand back a thread's system calls as SIGSYS while a byte says so (Linux
// 5.11 and later: syscall user dispatch). That byte is g_program_running: what the engine calls
// goes to the kernel, what the program's code calls comes to the handler here, which looks at the
// arguments (kernel_arguments.h), and then has the program make the call.
//
// Where the kernel cannot do that, only calls through the functions of kernel_writes.cc are seen.
#ifndef MC_SCHED_INTERPOSE_KERNEL_BOUNDARY_H_
#define MC_SCHED_INTERPOSE_KERNEL_BOUNDARY_H_

#include <signal.h>

#include <cstdint>

namespace mc::sched {

using FaultHandler = void (*)(int, siginfo_t*, void*);

// struct sigaction as the kernel has it.
struct KernelAction {
  FaultHandler handler;
  uint64_t flags;
  const char* restorer;
  uint64_t mask;
};

// Installs a handler whose return the kernel lets pass while the program runs. It runs on the
// alternate stack.
void InstallBoundarySafeHandler(int number, FaultHandler handler);

// From now on the calling OS thread's system calls are looked at, where the kernel can do that.
// Called once, after the alternate signal stack is set.
void GuardKernelBoundary();

// Goes on, in place of the code that a signal interrupted, in `function` on the engine's emergency
// stack (signals.cc).
void ContinueOnEmergencyStack(void* context, void (*function)());

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_KERNEL_BOUNDARY_H_
