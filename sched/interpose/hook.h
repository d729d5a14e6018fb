// What every hook of a synchronisation operation needs: how it is declared, the preemption points
// around operations, names of threads and objects for messages, and misuse reports.
//
// A hook: if the program does not run in a controlled execution, call the C library; else open an
// EngineScope and do the operation as spec optimal-dpor 1.4 says. Functions declared in this folder
// without `extern "C"` expect that scope to be open.
#ifndef MC_SCHED_INTERPOSE_HOOK_H_
#define MC_SCHED_INTERPOSE_HOOK_H_

#include <cstdint>
#include <string>

#include "sched/cell.h"
#include "sched/engine_scope.h"
#include "sched/event.h"
#include "sched/interpose/caller.h"
#include "sched/interpose/readable_memory.h"
#include "sched/operation_detail.h"
#include "sched/preemption_points.h"
#include "sched/scheduler.h"
#include "sched/thread.h"

// Marks the definition of a function that stands in for one of the C library.
#define MC_HOOK extern "C" __attribute__((visibility("default")))
// Marks the C function behind an assembly stub (spin_stub.h).
#define MC_BEHIND_STUB extern "C" __attribute__((visibility("hidden"), used))

namespace mc::sched {

inline constexpr PreemptionPointClass operator|(PreemptionPointClass a, PreemptionPointClass b) {
  return static_cast<PreemptionPointClass>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}

// Under `all`, a preemption point lies before and after every synchronisation operation; otherwise
// only where its own class says. `unlock` also has one before the operation: without it no try
// operation of another thread would ever find a lock taken. It splits critical sections into two
// blocks, but makes no trace more: in between only operations on the lock itself make a difference.
//
// It is not enough to preempt before locks and after all else: what another thread sees of a lock
// without waiting for it (a try operation that fails) may come before a signal, say, that follows
// the lock. So every operation that others can tell from its absence has one before it, except
// where it only makes a thread able to run (create).
inline void BeforeOperation(uint32_t pp, uint64_t pc, OperationDetail detail) {
  g_scheduler.Before(static_cast<PreemptionPointClass>(pp | kPpEveryAccess), pc,
                     static_cast<uint8_t>(detail));
}
inline void AfterOperation(uint32_t pp) {
  g_scheduler.After(static_cast<PreemptionPointClass>(pp | kPpEveryAccess));
}

inline Operation MakeOperation(OperationKind kind, Cell object, uint64_t pc,
                               OperationDetail detail) {
  Operation operation;
  operation.kind = kind;
  operation.object = object;
  operation.pc = pc;
  operation.detail = static_cast<uint8_t>(detail);
  return operation;
}

// In the middle of a block: whether the thread goes on, has to wait or fails depends on whether the
// memory of the object is there. Recorded whichever it is, for what a block does first must not
// depend on what it finds.
void RecordLookAtObject(const volatile void* object, uint64_t pc);

// Scheduler::Block for an operation on `object`: the thread waits for it. What lies where a thread
// had its stack is reported first: nobody would ever release it.
inline bool BlockOperation(uint32_t pp, const volatile void* object, const Operation& operation,
                           EnabledTest can_run) {
  if (operation.kind != OperationKind::kJoin) {  // whose object is the thread
    g_scheduler.BeforeAccessToThread(reinterpret_cast<uintptr_t>(object), 1, kRead, operation.pc);
  }
  Thread& self = g_scheduler.current();
  self.wait_object = reinterpret_cast<uintptr_t>(object);
  const auto point = static_cast<PreemptionPointClass>(pp | kPpEveryAccess);
  if (!self.preemption_due && !g_scheduler.PreemptionPointOn(point) &&
      operation.kind != OperationKind::kJoin) {
    RecordLookAtObject(object, operation.pc);
  }
  return g_scheduler.Block(point, operation, can_run);
}

inline Cell CellOf(CellKind kind, const volatile void* object) {
  return MakeCell(kind, reinterpret_cast<uintptr_t>(object));
}
inline Cell WakeCell(const Thread& thread) { return MakeCell(CellKind::kWake, thread.id); }

inline uint32_t OwnerOf(const Thread& thread) { return thread.id + 1u; }

inline void RaiseClock(uint64_t* clock_ns, uint64_t other) {
  if (*clock_ns < other) *clock_ns = other;
}

// The operation reads or writes the object's bytes: reports freed memory, records the access. To be
// called before the state in the object changes.
void TouchObject(const volatile void* object, size_t size, uint8_t mode, uint64_t pc);

// "thread 3"; "no thread" for owner 0. `owner` is ThreadId + 1.
std::string NameOfOwner(uint32_t owner);
// "mutex 0x55..."
std::string NameOfObject(const char* kind, const volatile void* object);

// Reports a misuse of a synchronisation object, and returns `error` for the caller to return.
int Misuse(std::string message, uint64_t pc, int error);

// The program asked for something that mc does not support: the check ends with an error.
[[noreturn]] void Unsupported(const std::string& what);

// Remembers in Thread::held, for reports and deadlock cycles, what the thread holds.
void RememberHeld(Thread& thread, const volatile void* object, uint64_t pc, bool robust = false);
void ForgetHeld(Thread& thread, const volatile void* object);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_HOOK_H_
