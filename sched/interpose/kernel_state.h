// Noting what system calls of the program are about to change (sched/kernel_state.h).
#ifndef MC_SCHED_INTERPOSE_KERNEL_STATE_H_
#define MC_SCHED_INTERPOSE_KERNEL_STATE_H_

#include <signal.h>

#include <cstdint>

#include "sched/interpose/system_call_effects.h"
#include "sched/thread.h"

namespace mc::sched {

// Bits of g_kernel_effects: something of the program's signals has changed.
inline constexpr uint32_t kSignalEffects = kHandles | kMasks | kTimers;

// The alternate signal stack that the thread has asked for.
stack_t AlternateStackOf(ThreadId thread);

// Is it one that the engine made (OwnDescriptor)?
bool IsOwnDescriptor(long descriptor);

// What the thread is called: 16 bytes.
void CopyThreadName(const Thread& thread, char* name);

// The program is about to make this call, or the engine makes it for the program. True if it must
// not be made: *result is then what it returns. Not for the calls of the dynamic loader, whose
// state is not put back either.
bool NoteSystemCall(long number, const long arguments[6], long* result);

// What cannot be put back was changed; `name` lives for good, null: a call without a known name.
void NoteLastingCall(const char* name);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_KERNEL_STATE_H_
