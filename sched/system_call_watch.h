// Tells whether an execution has made a system call, at the price of one signal for the first.
//
// What lies in memory can be saved and put back, what lies in the kernel (open files and their
// positions, mappings, signal masks) cannot. So a checkpoint may be made only of an execution that
// has made no system call yet, in whatever library. Linux (5.11 and later, x86-64) can turn system
// calls of a thread into signals as long as a byte says so (prctl PR_SET_SYSCALL_USER_DISPATCH):
// the handler notes that there was one, clears the byte, and lets the call be made again.
#ifndef MC_SCHED_SYSTEM_CALL_WATCH_H_
#define MC_SCHED_SYSTEM_CALL_WATCH_H_

namespace mc::sched {

// What the kernel looks at: 1 while system calls are turned into signals.
extern volatile char g_system_calls_blocked;

// Makes the calling OS thread's system calls watchable. False if this system cannot.
bool InstallSystemCallWatch();

// From now on a system call is noticed.
void WatchSystemCalls();
inline void StopWatchingSystemCalls() { g_system_calls_blocked = 0; }
// Has there been none since WatchSystemCalls()?
inline bool NoSystemCallYet() { return g_system_calls_blocked != 0; }

}  // namespace mc::sched

#endif  // MC_SCHED_SYSTEM_CALL_WATCH_H_
