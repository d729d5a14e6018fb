// Names of what functions of the C library keep between calls (interpose/hidden_state.cc).
#ifndef MC_SCHED_HIDDEN_STATE_H_
#define MC_SCHED_HIDDEN_STATE_H_

#include <cstdint>

namespace mc::sched {

// "the environment"; null if the address belongs to nothing of the kind.
const char* NameOfHiddenState(uintptr_t address);

}  // namespace mc::sched

#endif  // MC_SCHED_HIDDEN_STATE_H_
