// Tells whether an execution has made a system call.
//
// What lies in memory can be saved and put back, what lies in the kernel (open files and their
// positions, mappings, signal masks) cannot. So a checkpoint may be made only of an execution that
// has made no system call yet, in whatever library. interpose/kernel_boundary.h sees them all,
// where the kernel lets it.
#ifndef MC_SCHED_SYSTEM_CALL_WATCH_H_
#define MC_SCHED_SYSTEM_CALL_WATCH_H_

namespace mc::sched {

// Are all system calls of the program seen?
extern bool g_system_calls_seen;
// Has the program made one that changed what the kernel keeps? Set for good until cleared.
extern bool g_system_call_made;

}  // namespace mc::sched

#endif  // MC_SCHED_SYSTEM_CALL_WATCH_H_
