// <threads.h>: the same operations under C11's names.
#include <errno.h>
#include <threads.h>

#include "sched/interpose/condition_variable_operations.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/mutex_operations.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/once_operations.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/thread_operations.h"
#include "sched/interpose/thread_specific.h"
#include "sched/interpose/virtual_time.h"

namespace mc::sched {

namespace {

int ThreadResult(int error) {
  switch (error) {
    case 0:
      return thrd_success;
    case EBUSY:
      return thrd_busy;
    case ENOMEM:
      return thrd_nomem;
    case ETIMEDOUT:
      return thrd_timedout;
    default:
      return thrd_error;
  }
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int thrd_create(thrd_t* handle, thrd_start_t function, void* argument) {
  if (!g_scheduler.program_running()) return Real().thrd_create(handle, function, argument);
  EngineScope scope;
  // The int that the function returns is the low half of the register a pointer is returned in.
  const auto entry = reinterpret_cast<void* (*)(void*)>(reinterpret_cast<void*>(function));
  return ThreadResult(CreateThread(handle, nullptr, entry, argument, MC_CALLER_PC()));
}

MC_HOOK int thrd_join(thrd_t handle, int* result) {
  if (!g_scheduler.program_running()) return Real().thrd_join(handle, result);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  void* value = nullptr;
  const Thread* target = g_scheduler.FindByPthread(handle);
  const int error = JoinThread(handle, nullptr, pc);
  if (error == 0 && result != nullptr) {
    value = target->result;
    g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(result), sizeof *result, kWrite, 0, pc,
                             MemoryOrder::kRelaxed);
    *result = static_cast<int>(reinterpret_cast<intptr_t>(value));
  }
  return ThreadResult(error);
}

MC_HOOK int thrd_detach(thrd_t handle) {
  if (!g_scheduler.program_running()) return Real().thrd_detach(handle);
  EngineScope scope;
  return ThreadResult(DetachThread(handle, MC_CALLER_PC()));
}

MC_HOOK void thrd_exit(int result) {
  if (!g_scheduler.program_running()) Real().thrd_exit(result);
  LeaveThread(reinterpret_cast<void*>(static_cast<intptr_t>(result)));
}

MC_SPIN_STUB(thrd_yield, mc_entry_thrd_yield);
MC_BEHIND_STUB void mc_entry_thrd_yield() {
  if (!g_scheduler.program_running()) return Real().thrd_yield();
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Yield(MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(thrd_sleep, mc_entry_thrd_sleep);
MC_BEHIND_STUB int mc_entry_thrd_sleep(const timespec* interval, timespec* remaining) {
  if (!g_scheduler.program_running()) return Real().thrd_sleep(interval, remaining);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (!IsValidTime(*interval)) return -2;
  Sleep(IntervalOf(*interval), MC_CALLER_PC(), registers);
  return 0;
}

MC_HOOK int mtx_init(mtx_t* mutex, int type) {
  if (!g_scheduler.program_running()) return Real().mtx_init(mutex, type);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  MutexInitBegins(ViewOf<MutexView>(mutex), pc);
  const int result = Real().mtx_init(mutex, type);
  if (result == thrd_success) MutexInitialised(ViewOf<MutexView>(mutex), pc);
  return result;
}

MC_HOOK void mtx_destroy(mtx_t* mutex) {
  if (!g_scheduler.program_running()) return Real().mtx_destroy(mutex);
  EngineScope scope;
  DestroyMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC());
}

MC_SPIN_STUB(mtx_lock, mc_entry_mtx_lock);
MC_BEHIND_STUB int mc_entry_mtx_lock(mtx_t* mutex) {
  if (!g_scheduler.program_running()) return Real().mtx_lock(mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return ThreadResult(LockMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC(), registers));
}

MC_DISTANT_STUB(mtx_unlock, mc_entry_mtx_unlock);
MC_BEHIND_STUB int mc_entry_mtx_unlock(mtx_t* mutex) {
  if (!g_scheduler.program_running()) return Real().mtx_unlock(mutex);
  EngineScope scope;
  return ThreadResult(UnlockMutex(ViewOf<MutexView>(mutex), MC_CALLER_PC()));
}

MC_SPIN_STUB(mtx_trylock, mc_entry_mtx_trylock);
MC_BEHIND_STUB int mc_entry_mtx_trylock(mtx_t* mutex) {
  if (!g_scheduler.program_running()) return Real().mtx_trylock(mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return ThreadResult(TryLockMutex(ViewOf<MutexView>(mutex), nullptr, MC_CALLER_PC(), registers));
}

MC_SPIN_STUB(mtx_timedlock, mc_entry_mtx_timedlock);
MC_BEHIND_STUB int mc_entry_mtx_timedlock(mtx_t* mutex, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().mtx_timedlock(mutex, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return ThreadResult(TryLockMutex(ViewOf<MutexView>(mutex), deadline, MC_CALLER_PC(), registers));
}

MC_HOOK int cnd_init(cnd_t* condition) {
  if (!g_scheduler.program_running()) return Real().cnd_init(condition);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  ConditionInitBegins(ViewOf<ConditionVariableView>(condition), pc);
  const int result = Real().cnd_init(condition);
  ConditionInitialised(ViewOf<ConditionVariableView>(condition), pc);
  return result;
}

MC_HOOK void cnd_destroy(cnd_t* condition) {
  if (!g_scheduler.program_running()) return Real().cnd_destroy(condition);
  EngineScope scope;
  DestroyCondition(ViewOf<ConditionVariableView>(condition), MC_CALLER_PC());
}

MC_HOOK int cnd_signal(cnd_t* condition) {
  if (!g_scheduler.program_running()) return Real().cnd_signal(condition);
  EngineScope scope;
  return ThreadResult(
      WakeConditionWaiters(ViewOf<ConditionVariableView>(condition), false, MC_CALLER_PC()));
}

MC_HOOK int cnd_broadcast(cnd_t* condition) {
  if (!g_scheduler.program_running()) return Real().cnd_broadcast(condition);
  EngineScope scope;
  return ThreadResult(
      WakeConditionWaiters(ViewOf<ConditionVariableView>(condition), true, MC_CALLER_PC()));
}

MC_SPIN_STUB(cnd_wait, mc_entry_cnd_wait);
MC_BEHIND_STUB int mc_entry_cnd_wait(cnd_t* condition, mtx_t* mutex) {
  if (!g_scheduler.program_running()) return Real().cnd_wait(condition, mutex);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return ThreadResult(WaitOnCondition(ViewOf<ConditionVariableView>(condition),
                                      ViewOf<MutexView>(mutex), nullptr, MC_CALLER_PC(),
                                      registers));
}

MC_SPIN_STUB(cnd_timedwait, mc_entry_cnd_timedwait);
MC_BEHIND_STUB int mc_entry_cnd_timedwait(cnd_t* condition, mtx_t* mutex,
                                          const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().cnd_timedwait(condition, mutex, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return ThreadResult(WaitOnCondition(ViewOf<ConditionVariableView>(condition),
                                      ViewOf<MutexView>(mutex), deadline, MC_CALLER_PC(),
                                      registers));
}

MC_HOOK void call_once(once_flag* flag, void (*routine)()) {
  if (!g_scheduler.program_running()) return Real().call_once(flag, routine);
  RunOnce(flag, routine, MC_CALLER_PC());
}

MC_HOOK int tss_create(tss_t* key, tss_dtor_t destructor) {
  if (!g_scheduler.program_running()) {
    const int result = Real().tss_create(key, destructor);
    if (result == thrd_success) RememberKey(*key, destructor);
    return result;
  }
  EngineScope scope;
  return ThreadResult(CreateKey(key, destructor, MC_CALLER_PC()));
}

MC_HOOK void tss_delete(tss_t key) {
  if (!g_scheduler.program_running()) return Real().tss_delete(key);
  EngineScope scope;
  DeleteKey(key, MC_CALLER_PC());
}

MC_HOOK int tss_set(tss_t key, void* value) {
  if (!g_scheduler.program_running()) return Real().tss_set(key, value);
  EngineScope scope;
  return ThreadResult(SetSpecific(key, value, MC_CALLER_PC()));
}

MC_HOOK void* tss_get(tss_t key) {
  if (!g_scheduler.program_running()) return Real().tss_get(key);
  EngineScope scope;
  return GetSpecific(key, MC_CALLER_PC());
}
