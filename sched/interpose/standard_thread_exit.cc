// What the C++ library does for a thread that ends: std::promise::set_value_at_thread_exit and its
// like make a shared state ready then.
//
// The library keeps a list of such duties for each thread, with a function for each, and calls them
// when thread-specific values are destroyed. That function is compiled into it; the one here does
// the same, access by access. (std::notify_all_at_thread_exit calls functions that have hooks.)
#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>

#include "sched/allocation_hooks.h"
#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call.h"

namespace mc::sched {
namespace {

// As std::_Sp_counted_base, the part of a shared pointer that counts its users. (No class of ours
// with virtual functions: the compiler would take it that nothing derives from it.)
struct SharedCounts {
  struct Functions {
    void (*destructors[2])(SharedCounts*);
    void (*dispose)(SharedCounts*);
    void (*destroy)(SharedCounts*);
  };

  const Functions* functions;
  int users;
  int weak_users;  // and one more while there are users
};

// As std::__future_base::_State_baseV2.
struct FutureState {
  void* virtual_functions;
  void* result;
  uint32_t status;

  static constexpr uint32_t kReady = 1, kWaiters = 1u << 31;
};

// As std::__future_base::_State_baseV2::_Make_ready, a weak pointer to the state.
struct MakeReady {
  MakeReady* next;
  void (*run)(void*);
  FutureState* state;
  SharedCounts* counts;
};

void (*g_run_by_library)(void*);
uint64_t g_place;  // stands for where it is done: the thread's own code is at its end

// Reads and writes `place`, which the caller does next.
template <typename T>
T& Atomically(T& place, MemoryOrder order, uint64_t pc) {
  AccessByLibrary(&place, sizeof place, kReadWrite, pc, kAtomic, order);
  return place;
}

// Becomes a user, unless there is none any more.
bool Lock(SharedCounts* counts, uint64_t pc) {
  int& users = counts->users;
  {
    EngineScope scope;
    const auto address = reinterpret_cast<uintptr_t>(&users);
    g_scheduler.BeforeAccess(address, sizeof users, kReadWrite, kAtomic, pc);
    g_scheduler.RecordMemory(address, sizeof users, users == 0 ? kRead : kReadWrite, kAtomic, pc,
                             MemoryOrder::kAcqRel);
  }
  if (users == 0) return false;
  ++users;
  return true;
}
void ReleaseWeak(SharedCounts* counts, uint64_t pc) {
  if (Atomically(counts->weak_users, MemoryOrder::kAcqRel, pc)-- != 1) return;
  counts->functions->destroy(counts);
}
void Release(SharedCounts* counts, uint64_t pc) {
  if (Atomically(counts->users, MemoryOrder::kAcqRel, pc)-- != 1) return;
  counts->functions->dispose(counts);
  ReleaseWeak(counts, pc);
}

void SetReady(FutureState* state, uint64_t pc) {
  uint32_t& status = Atomically(state->status, MemoryOrder::kRelease, pc);
  const uint32_t before = status;
  status = FutureState::kReady;
  if ((before & FutureState::kWaiters) == 0) return;
  EngineScope scope;
  DoFutex(&status, FUTEX_WAKE, INT_MAX, nullptr, FUTEX_BITSET_MATCH_ANY, pc, EntryRegisters());
}

void Run(void* argument) {
  if (!g_program_running) return g_run_by_library(argument);
  const uint64_t pc = g_place;
  auto* const duty = static_cast<MakeReady*>(argument);
  AccessByLibrary(&duty->state, sizeof duty->state + sizeof duty->counts, kRead, pc);
  if (duty->counts != nullptr && Lock(duty->counts, pc)) {
    if (duty->state != nullptr) SetReady(duty->state, pc);
    Release(duty->counts, pc);
  }
  if (duty->counts != nullptr) ReleaseWeak(duty->counts, pc);
  ProgramFree(duty, AllocationKind::kNew, pc);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

MC_EXPORT void _ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(MakeReady* self) {
  static void (*known)(MakeReady*);
  AccessByLibrary(&self->next, sizeof self->next + sizeof self->run, kWrite, MC_CALLER_PC());
  Find(&known, "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv")(self);
  g_place = reinterpret_cast<uint64_t>(known) + 1;
  g_run_by_library = self->run;
  self->run = &Run;
}
