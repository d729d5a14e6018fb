// The signals of the program: what it wants done on each, which of them each thread blocks, and
// which are pending.
//
// To the kernel all threads of the program are one, so its mask and its pending signals would be
// shared by all. Hence they are kept here: the system calls that ask for them or change them are
// done by DoSignalCall and never reach the kernel, where none of the program's handlers is
// installed. A signal that a thread sends to its own process or to itself is queued, and taken as
// the kernel does it: by a frame on the thread's stack, or on its alternate stack, from which the
// handler returns by rt_sigreturn. What the kernel itself sends because of what the running thread
// does (SIGSEGV and its like, SIGPIPE, SIGXFSZ) is taken in the same way.
//
// Which threads can tell of each other: what is done on a signal, the signals of each thread (mask
// and queue), and those of the process are cells (kernel_cells.h).
//
// Not supported: a signal that would interrupt another thread than the one that sends it, and
// timers whose signals the program handles.
#ifndef MC_SCHED_INTERPOSE_PROGRAM_SIGNALS_H_
#define MC_SCHED_INTERPOSE_PROGRAM_SIGNALS_H_

#include <signal.h>

#include <cstdint>
#include <string>

#include "sched/thread.h"

namespace mc::sched {

constexpr uint64_t SignalBit(int number) { return uint64_t{1} << (number - 1); }

// As things are now is how every execution begins. Called once, before the engine's handlers are
// installed.
void SaveSignalState();
// How they were at the beginning.
void RestoreSignalState();

// The system calls that are done here. The result is as the kernel's; the caller has recorded
// the action's cell (rt_sigaction). Where the call cannot be done, RefusedSignalCall() is not null.
bool IsSignalCall(long number);
long DoSignalCall(long number, const long arguments[6]);
// What the program has asked for that is not supported; null if nothing.
const char* RefusedSignalCall();

// The same for a function of the program that stands for the call: a point where threads are
// preempted, and signals are taken. -1 with errno on failure.
long SignalCall(long number, uint64_t pc, long a, long b = 0, long c = 0, long d = 0);

// Sends a signal from the running thread: to `target`, or to the process (null). Queues it, unless
// it is ignored, and wakes who waits for it. Returns an errno value.
int SendSignal(Thread* target, const siginfo_t& info);
siginfo_t SignalInfo(int number, int code);

// The running thread takes the signals it does not block: handlers run, or the thread fails. In a
// hook, with the EngineScope open; `pc` is the hook's.
void TakeSignals(uint64_t pc);
// The same for the code that the kernel has interrupted, in a handler on the engine's alternate
// stack. Returns false if it has nothing to take.
bool TakeSignalsIn(void* context);
// A fault of that code. False if no handler of the program is to run.
bool TakeFaultIn(int number, const siginfo_t& info, void* context, bool program_was_running);
// Is this the signal by which TakeSignals gets a context? Then it is dealt with.
bool IsOwnTrap(int number, void* context);
// Runs the program's handler for SIGABRT, if there is one, as abort() does.
void RunAbortHandler();

// Takes a signal of the set out of the running thread's queue or that of the process, and waits for
// one if `waits`. Returns its number, or 0.
int WaitForSignal(uint64_t set, bool waits, siginfo_t* info, uint64_t pc);
// Replaces the mask and waits until a signal was handled (sigsuspend).
void SuspendForSignal(uint64_t mask, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_PROGRAM_SIGNALS_H_
