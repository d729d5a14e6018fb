// Which access of the program made a fault of memory.
//
// Plain accesses are recorded before the program makes them, those that hooks make when they are
// made: of these the search has to be told what failed. What it is told is what would have been
// recorded, so that the access is known as the same where another order lets it succeed. Detectors
// see a relaxed read: memory that was taken away is in conflict with it, but it orders nothing.
#ifndef MC_SCHED_INTERPOSE_FAULT_ACCESS_H_
#define MC_SCHED_INTERPOSE_FAULT_ACCESS_H_

#include <signal.h>
#include <ucontext.h>

#include "sched/event.h"

namespace mc::sched {

// Is this a fault of memory at an address that the program could use?
bool IsMemoryFault(const siginfo_t& info);

// What the program was about to do with the memory when the fault came: what it has said, if it has
// said something. The program's own code was running.
MicroAccess FaultingAccess(const ucontext_t& context, const siginfo_t& info);

// The same where a hook was running, on behalf of the program: at the place where that called it.
// Of other faults than those of memory, only that place.
MicroAccess FaultingAccessOfHook(const ucontext_t& context, const siginfo_t& info);

// Records it for the running block.
void RecordFaultOfHook(const MicroAccess& access);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_FAULT_ACCESS_H_
