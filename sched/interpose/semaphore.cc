// sem_*: unnamed POSIX semaphores.
#include <errno.h>
#include <limits.h>
#include <semaphore.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

namespace mc::sched {

namespace {

Cell SemaphoreCell(const SemaphoreView& semaphore) {
  return CellOf(CellKind::kSemaphore, &semaphore);
}

bool IsPositive(const Thread& thread) {
  return ViewAt<SemaphoreView>(thread.wait_object).value > 0;
}

void Touch(const SemaphoreView& semaphore, uint8_t mode, uint64_t pc) {
  TouchObject(&semaphore, sizeof(sem_t), mode, pc);
}

int Fail(int error) {
  errno = error;
  return -1;
}

int RefuseDestroyed(const SemaphoreView& semaphore, const char* what, uint64_t pc) {
  Misuse(std::string(what) + " the destroyed " + NameOfObject("semaphore", &semaphore), pc, EINVAL);
  return Fail(EINVAL);
}

int TakeOne(SemaphoreView& semaphore, bool value_relevant, uint16_t flags, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  // Without v it only takes one away: what others added or took does not matter to it.
  g_scheduler.RecordCell(SemaphoreCell(semaphore), value_relevant ? kReadWrite : kWrite,
                         flags | kAcquire | kRelative | (value_relevant ? kValueRelevant : 0), pc);
  Touch(semaphore, kRead, pc);
  if (semaphore.mark == kDestroyedMark) return RefuseDestroyed(semaphore, "wait on", pc);
  g_scheduler.Ledger(SemaphoreCell(semaphore), semaphore.value, int64_t{semaphore.value} - 1);
  --semaphore.value;
  if (semaphore.mark == SemaphoreView::kOurs) RaiseClock(&thread.clock_ns, semaphore.clock_ns);
  g_scheduler.Progress();
  return 0;
}

int Wait(SemaphoreView& semaphore, uint64_t pc) {
  const bool first =
      BlockOperation(kPpLock, &semaphore,
                     MakeOperation(OperationKind::kSemaphoreWait, SemaphoreCell(semaphore), pc,
                                   OperationDetail::kSemaphoreWait),
                     &IsPositive);
  const int result = TakeOne(semaphore, !first, 0, pc);
  AfterOperation(0);
  return result;
}

// `deadline` null: sem_trywait.
int TryWait(SemaphoreView& semaphore, const timespec* deadline, uint64_t pc,
            const EntryRegisters& registers) {
  if (deadline != nullptr && !IsValidTime(*deadline)) return Fail(EINVAL);
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc, OperationDetail::kSemaphoreTryWait);
  g_scheduler.RecordObject(&semaphore, sizeof(sem_t), kRead, pc);
  int result;
  if (semaphore.value > 0) {
    result = TakeOne(semaphore, true, kTry, pc);
  } else {
    if (!g_scheduler.Mutated(EventModelMutation::kSemFail)) {
      g_scheduler.RecordCell(SemaphoreCell(semaphore), kRead, kValueRelevant | kTry, pc);
      Touch(semaphore, kRead, pc);
    }
    if (deadline != nullptr) RaiseClock(&g_scheduler.current().clock_ns, ClockAt(*deadline));
    result = Fail(deadline == nullptr ? EAGAIN : ETIMEDOUT);
  }
  AfterOperation(0);
  return result;
}

int Post(SemaphoreView& semaphore, uint64_t pc) {
  Thread& thread = g_scheduler.current();
  BeforeOperation(kPpUnlock, pc, OperationDetail::kSemaphorePost);
  Touch(semaphore, kRead, pc);
  if (semaphore.value == SEM_VALUE_MAX || semaphore.mark == kDestroyedMark) {
    g_scheduler.RecordCell(SemaphoreCell(semaphore), kRead, kValueRelevant, pc);
    if (semaphore.mark == kDestroyedMark) return RefuseDestroyed(semaphore, "post to", pc);
    return Fail(EOVERFLOW);
  }
  const bool commutes = g_scheduler.Refined(kRefinePosts);
  g_scheduler.RecordCell(SemaphoreCell(semaphore), commutes ? kAdd : kWrite,
                         kRelease | kRelative | (semaphore.value == 0 ? kEnables : 0), pc);
  g_scheduler.Ledger(SemaphoreCell(semaphore), semaphore.value, int64_t{semaphore.value} + 1);
  if (semaphore.mark != SemaphoreView::kOurs) {
    semaphore.mark = SemaphoreView::kOurs;
    semaphore.clock_ns = 0;
  }
  RaiseClock(&semaphore.clock_ns, thread.clock_ns);
  ++semaphore.value;
  g_scheduler.Progress();
  AfterOperation(kPpUnlock);
  return 0;
}

int GetValue(SemaphoreView& semaphore, int* value, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kSemaphoreValue);
  g_scheduler.RecordCell(SemaphoreCell(semaphore), kRead, kValueRelevant, pc);
  Touch(semaphore, kRead, pc);
  const int result = static_cast<int>(semaphore.value);
  // A loop that polls the value writes the same again: no change.
  if (*value != result) {
    g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(value), sizeof *value, kWrite, 0, pc,
                             MemoryOrder::kRelaxed);
    *value = result;
  }
  AfterOperation(0);
  return 0;
}

int Initialise(SemaphoreView& semaphore, int shared, unsigned value, uint64_t pc) {
  if (value > SEM_VALUE_MAX) return Fail(EINVAL);
  BeforeOperation(kPpLock, pc, OperationDetail::kSemaphoreInit);
  g_scheduler.RecordCell(SemaphoreCell(semaphore), kWrite, 0, pc);
  Touch(semaphore, kWrite, pc);
  g_scheduler.Ledger(SemaphoreCell(semaphore), 0, value);
  semaphore = SemaphoreView{};
  semaphore.value = value;
  semaphore.shared = shared != 0 ? 128 : 0;  // FUTEX_PRIVATE_FLAG, as the C library stores it
  semaphore.mark = SemaphoreView::kOurs;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

int Destroy(SemaphoreView& semaphore, uint64_t pc) {
  BeforeOperation(kPpLock, pc, OperationDetail::kSemaphoreDestroy);
  const uint16_t enables = semaphore.value == 0 ? kRelease | kEnables : 0;
  g_scheduler.RecordCell(SemaphoreCell(semaphore), kReadWrite, kValueRelevant | enables, pc);
  Touch(semaphore, kWrite, pc);
  if (semaphore.mark == kDestroyedMark) {
    Misuse(NameOfObject("semaphore", &semaphore) + " is destroyed twice", pc, EINVAL);
    return Fail(EINVAL);
  }
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    const Thread& other = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (!other.exists || other.status != ThreadStatus::kRunnable ||
        other.pending.kind != OperationKind::kSemaphoreWait ||
        other.pending.object != SemaphoreCell(semaphore) || semaphore.value != 0) {
      continue;
    }
    Misuse(NameOfObject("semaphore", &semaphore) + " is destroyed while " +
               NameOfOwner(OwnerOf(other)) + " waits on it",
           pc, 0);
    break;
  }
  // Whoever waits on it from now on does not block: that is reported.
  g_scheduler.Ledger(SemaphoreCell(semaphore), semaphore.value, 1);
  semaphore.value = 1;
  semaphore.mark = kDestroyedMark;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

}  // namespace

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int sem_init(sem_t* semaphore, int shared, unsigned value) {
  if (!g_scheduler.program_running()) return Real().sem_init(semaphore, shared, value);
  EngineScope scope;
  return Initialise(ViewOf<SemaphoreView>(semaphore), shared, value, MC_CALLER_PC());
}

MC_HOOK int sem_destroy(sem_t* semaphore) {
  if (!g_scheduler.program_running()) return Real().sem_destroy(semaphore);
  EngineScope scope;
  return Destroy(ViewOf<SemaphoreView>(semaphore), MC_CALLER_PC());
}

MC_HOOK int sem_wait(sem_t* semaphore) {
  if (!g_scheduler.program_running()) return Real().sem_wait(semaphore);
  EngineScope scope;
  return Wait(ViewOf<SemaphoreView>(semaphore), MC_CALLER_PC());
}

MC_HOOK int sem_post(sem_t* semaphore) {
  if (!g_scheduler.program_running()) return Real().sem_post(semaphore);
  EngineScope scope;
  return Post(ViewOf<SemaphoreView>(semaphore), MC_CALLER_PC());
}

MC_SPIN_STUB(sem_getvalue, mc_entry_sem_getvalue);
MC_BEHIND_STUB int mc_entry_sem_getvalue(sem_t* semaphore, int* value) {
  if (!g_scheduler.program_running()) return Real().sem_getvalue(semaphore, value);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  g_scheduler.WaitingPoint(MC_CALLER_PC(), registers);
  return GetValue(ViewOf<SemaphoreView>(semaphore), value, MC_CALLER_PC());
}

MC_SPIN_STUB(sem_trywait, mc_entry_sem_trywait);
MC_BEHIND_STUB int mc_entry_sem_trywait(sem_t* semaphore) {
  if (!g_scheduler.program_running()) return Real().sem_trywait(semaphore);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryWait(ViewOf<SemaphoreView>(semaphore), nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(sem_timedwait, mc_entry_sem_timedwait);
MC_BEHIND_STUB int mc_entry_sem_timedwait(sem_t* semaphore, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().sem_timedwait(semaphore, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryWait(ViewOf<SemaphoreView>(semaphore), deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(sem_clockwait, mc_entry_sem_clockwait);
MC_BEHIND_STUB int mc_entry_sem_clockwait(sem_t* semaphore, clockid_t clock,
                                          const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().sem_clockwait(semaphore, clock, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryWait(ViewOf<SemaphoreView>(semaphore), deadline, MC_CALLER_PC(), registers);
}
