// What a system call changes of what the kernel keeps for the program, by a table.
//
// Whatever the table does not know is taken to do the most: it opens descriptors and changes
// something that cannot be put back.
#ifndef MC_SCHED_INTERPOSE_SYSTEM_CALL_EFFECTS_H_
#define MC_SCHED_INTERPOSE_SYSTEM_CALL_EFFECTS_H_

#include <cstdint>

namespace mc::sched {

// 0: the call only looks.
enum SystemCallEffect : uint16_t {
  kOpens = 1 << 0,        // may make a new descriptor
  kCloses = 1 << 1,       // closes a descriptor, or puts another file in its place
  kMoves = 1 << 2,        // position or flags of an open file
  kHandles = 1 << 3,      // what is done on a signal
  kMasks = 1 << 4,        // which signals are blocked, or are pending
  kSignalStack = 1 << 5,  // the alternate signal stack
  kDirectory = 1 << 6,    // the working directory
  kFileMask = 1 << 7,     // the umask
  kLimits = 1 << 8,       // resource limits
  kTimers = 1 << 9,       // interval timers
  kMaps = 1 << 10,        // which memory there is, and what may be done to it
  kLasting = 1 << 11,     // something that can only be put back by doing the reverse, if at all
  kElse = 1 << 12,        // something that needs no putting back, as what it belongs to goes
};

struct SystemCallEffects {
  uint16_t bits = 0;
  const char* name = nullptr;  // if kLasting is set: the name of the call; null if it is not known
};

// Options of prctl for what belongs to the process, not to a thread.
bool SetsAttribute(long option);
bool AsksForAttribute(long option);
// The option that asks for what `option` sets; -1 if it sets none.
long AskingOption(long option);

// Of the call with these arguments, before it is made.
SystemCallEffects EffectsOf(long number, const long arguments[6]);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SYSTEM_CALL_EFFECTS_H_
