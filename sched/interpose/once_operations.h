// Initialisation that is done once: what pthread_once, call_once and function-local statics share.
//
// It is a lock that is given back when the routine has run (or was left by an exception), and a
// flag. The cell is that of a mutex at the object's address.
#ifndef MC_SCHED_INTERPOSE_ONCE_OPERATIONS_H_
#define MC_SCHED_INTERPOSE_ONCE_OPERATIONS_H_

#include <cstdint>

#include "sched/operation_detail.h"
#include "sched/thread.h"

namespace mc::sched {

// How the state of one kind of object is read. `owner` is ThreadId + 1, 0 if nobody runs it.
struct OnceKind {
  const char* name;
  OperationDetail detail;
  bool (*is_done)(const volatile void* object);
  uint32_t (*owner)(const volatile void* object);
  EnabledTest is_settled;  // nobody runs it: of the object at thread.wait_object
};

// Returns true if the caller is to run the routine, and then to call EndOnce; false if it has been
// run. Waits while another thread runs it. (The caller then marks the object as its own.)
bool BeginOnce(const OnceKind& kind, const volatile void* object, uint64_t pc);
void EndOnce(const volatile void* object, uint64_t pc);

// pthread_once and call_once. As program code, without an EngineScope. An exception of the routine
// passes through, and leaves the object as it was at first.
void RunOnce(void* control, void (*routine)(), uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_ONCE_OPERATIONS_H_
