// The operations behind pthread_cond_* and cnd_*. All return 0 or an errno value.
#ifndef MC_SCHED_INTERPOSE_CONDITION_VARIABLE_OPERATIONS_H_
#define MC_SCHED_INTERPOSE_CONDITION_VARIABLE_OPERATIONS_H_

#include <time.h>

#include <cstdint>

#include "sched/interpose/object_views.h"
#include "sched/spin.h"

namespace mc::sched {

// `deadline` null: waits for a wake-up (with the option spurious_wakeups, or until one comes for no
// reason).
int WaitOnCondition(ConditionVariableView& condition, MutexView& mutex, const timespec* deadline,
                    uint64_t pc, const EntryRegisters& registers);
int WakeConditionWaiters(ConditionVariableView& condition, bool all, uint64_t pc);
int DestroyCondition(ConditionVariableView& condition, uint64_t pc);
// A condition variable was initialised by the C library's function: records that.
void ConditionInitBegins(ConditionVariableView& condition, uint64_t pc);
void ConditionInitialised(ConditionVariableView& condition, uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_CONDITION_VARIABLE_OPERATIONS_H_
