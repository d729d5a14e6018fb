// pthread_create, pthread_join, ...: threads of the program. A pthread_t is the base of the
// thread's thread-local storage, which is its slot's and so a function of the thread's name.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "sched/allocation_hooks.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/object_views.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/system_call.h"
#include "sched/interpose/thread_operations.h"
#include "sched/interpose/virtual_time.h"
#include "sched/start.h"

namespace mc::sched {

namespace {

// The system calls that make a thread, when there is none yet to be used again, are no business of
// the program's.
class KeptErrno {
 public:
  KeptErrno() : value_(errno) {}
  ~KeptErrno() { errno = value_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int value_;
};

Cell ExitCell(const Thread& thread) { return MakeCell(CellKind::kThreadExit, thread.id); }

bool TargetHasEnded(const Thread& thread) {
  return HasEnded(g_scheduler.ThreadById(static_cast<ThreadId>(thread.wait_argument)));
}

// A thread gets the stack it asks for, if that is more than every thread has. (The memory of
// pthread_attr_setstack itself is not used.) False if there is no memory for it.
bool GiveStack(Thread& child, const pthread_attr_t& attributes) {
  size_t size = 0, usual = 0;
  pthread_attr_t defaults;
  if (pthread_attr_getstacksize(&attributes, &size) != 0) return true;
  if (pthread_getattr_default_np(&defaults) == 0) {
    pthread_attr_getstacksize(&defaults, &usual);
    pthread_attr_destroy(&defaults);
  }
  if (size == usual) return true;
  if (size > kMaxFiberStackSize) {
    Unsupported("a thread's stack of " + std::to_string(size >> 20) + " MiB (at most " +
                std::to_string(kMaxFiberStackSize >> 20) + ")");
  }
  return g_scheduler.GrowStackOf(child, size);
}

// Plain memory of the program that the call writes for it.
template <class T>
void Store(T* place, T value, uint64_t pc) {
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(place), sizeof *place, kWrite, 0, pc,
                           MemoryOrder::kRelaxed);
  *place = value;
}

// Who joins or detaches a thread first decides what the others are told.
void TouchHandle(const Thread& target, uint8_t mode, uint64_t pc) {
  g_scheduler.RecordCell(MakeCell(CellKind::kThreadHandle, target.id), mode, kValueRelevant, pc);
}

// The thread that a join is for, or nullptr: *error is then what the call returns.
Thread* TargetOfJoin(pthread_t handle, uint64_t pc, int* error) {
  Thread& self = g_scheduler.current();
  Thread* target = g_scheduler.FindByPthread(handle);
  if (target == nullptr) {
    *error = Misuse("join of something that is no thread", pc, ESRCH);
  } else if (target == &self) {
    *error = Misuse(NameOfOwner(OwnerOf(self)) + " joins itself", pc, EDEADLK);
    target = nullptr;
  }
  return target;
}

// Another thread joined or detached the target before. So which of the two did it first matters,
// and what a thread does after its join must not become part of the join's block (StayFresh).
int MisuseOfHandle(std::string message, uint64_t pc) {
  g_scheduler.mutable_result().needs_full_footprints = true;
  return Misuse(std::move(message), pc, EINVAL);
}

// What the join of a thread returns that was joined or detached before; 0 if it was not.
int ErrorOfJoin(const Thread& target, uint64_t pc) {
  if (!target.detached && !target.joined) return 0;
  const std::string name = NameOfOwner(OwnerOf(target));
  if (target.detached) return MisuseOfHandle("join of " + name + ", which is detached", pc);
  return MisuseOfHandle(name + " is joined twice", pc);
}

// The target is over. Returns what the join returns.
int FinishJoin(Thread& target, void** result, uint16_t flags, uint64_t pc) {
  if (!g_scheduler.Mutated(EventModelMutation::kJoin)) {
    g_scheduler.RecordCell(ExitCell(target), kRead, kAcquire | flags, pc);
  }
  TouchHandle(target, kReadWrite, pc);
  if (const int error = ErrorOfJoin(target, pc); error != 0) return error;
  target.joined = true;
  RaiseClock(&g_scheduler.current().clock_ns, target.clock_ns);
  if (result != nullptr) Store(result, target.result, pc);
  g_scheduler.Progress();
  return 0;
}

}  // namespace

int CreateThread(pthread_t* handle, const pthread_attr_t* attributes, void* (*entry)(void*),
                 void* argument, uint64_t pc) {
  const KeptErrno kept;
  g_scheduler.BeforeCreation(kPpEveryAccess, pc, static_cast<uint8_t>(OperationDetail::kCreate));
  Thread& child = g_scheduler.NextChild();
  if (child.creator == kNoThread) {
    // Whether the system gives one more is no function of the schedule.
    g_scheduler.HarnessError(g_scheduler.WhyNoMoreThreads());
  }
  int detach_state = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detach_state);
  if (attributes != nullptr && !GiveStack(child, *attributes)) return EAGAIN;
  Store(handle, static_cast<pthread_t>(child.thread_pointer), pc);
  g_scheduler.StartChild(child, entry, argument, pc);
  child.detached = detach_state == PTHREAD_CREATE_DETACHED;
  AfterOperation(kPpThread);
  return 0;
}

int JoinThread(pthread_t handle, void** result, uint64_t pc) {
  Thread& self = g_scheduler.current();
  int error;
  Thread* target = TargetOfJoin(handle, pc, &error);
  if (target == nullptr) return error;
  self.wait_argument = target->id;
  // A switch under every set of PPs. Else whether the block goes on tells who ended before whom,
  // and the orders of 200 threads that have nothing in common would all be different.
  if (self.atomic_depth == 0) self.preemption_due = true;
  const bool first = BlockOperation(
      kPpThread, reinterpret_cast<void*>(handle),
      MakeOperation(OperationKind::kJoin, ExitCell(*target), pc, OperationDetail::kJoin),
      &TargetHasEnded);
  self.wait_argument = 0;
  error = FinishJoin(*target, result, first ? 0 : kValueRelevant, pc);
  AfterOperation(0);
  g_scheduler.StayFresh();
  return error;
}

int TryJoinThread(pthread_t handle, void** result, const timespec* deadline, uint64_t pc,
                  const EntryRegisters& registers) {
  if (deadline != nullptr && !IsValidTime(*deadline)) return EINVAL;
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpThread, pc, OperationDetail::kTryJoin);
  int error;
  if (deadline == nullptr && g_scheduler.FindByPthread(handle) == &g_scheduler.current()) {
    return EBUSY;  // it has not ended
  }
  Thread* target = TargetOfJoin(handle, pc, &error);
  if (target == nullptr) return error;
  int outcome = 0;
  if (HasEnded(*target)) {
    outcome = FinishJoin(*target, result, kValueRelevant | kTry, pc);
  } else {
    g_scheduler.RecordCell(ExitCell(*target), kRead, kValueRelevant | kTry, pc);
    if (deadline != nullptr) RaiseClock(&g_scheduler.current().clock_ns, ClockAt(*deadline));
    outcome = deadline == nullptr ? EBUSY : ETIMEDOUT;
  }
  AfterOperation(0);
  return outcome;
}

// Without a deadline it is a join like any other.
int TimedJoinThread(pthread_t handle, void** result, const timespec* deadline, uint64_t pc,
                    const EntryRegisters& registers) {
  return deadline == nullptr ? JoinThread(handle, result, pc)
                             : TryJoinThread(handle, result, deadline, pc, registers);
}

int DetachThread(pthread_t handle, uint64_t pc) {
  Thread* target = g_scheduler.FindByPthread(handle);
  if (target == nullptr) return Misuse("detach of something that is no thread", pc, ESRCH);
  BeforeOperation(kPpThread, pc, OperationDetail::kDetach);
  TouchHandle(*target, kReadWrite, pc);
  if (target->detached || target->joined) {
    return MisuseOfHandle(
        "detach of " + NameOfOwner(OwnerOf(*target)) +
            (target->detached ? ", which is detached already" : ", which was joined"),
        pc);
  }
  target->detached = true;
  g_scheduler.Progress();
  AfterOperation(0);
  return 0;
}

pid_t KernelThreadId() {
  // Main's is the process id, which only the C library knows; the others follow it.
  return getpid() + g_scheduler.current().id;
}

}  // namespace mc::sched

using namespace mc::sched;

MC_HOOK int pthread_create(pthread_t* handle, const pthread_attr_t* attributes,
                           void* (*entry)(void*), void* argument) {
  if (!g_scheduler.program_running()) {
    g_thread_before_main = g_thread_before_main || !EngineStarted();
    return Real().pthread_create(handle, attributes, entry, argument);
  }
  EngineScope scope;
  return CreateThread(handle, attributes, entry, argument, MC_CALLER_PC());
}

MC_HOOK int pthread_join(pthread_t handle, void** result) {
  if (!g_scheduler.program_running()) return Real().pthread_join(handle, result);
  EngineScope scope;
  return JoinThread(handle, result, MC_CALLER_PC());
}

MC_SPIN_STUB(pthread_tryjoin_np, mc_entry_tryjoin);
MC_BEHIND_STUB int mc_entry_tryjoin(pthread_t handle, void** result) {
  if (!g_scheduler.program_running()) return Real().pthread_tryjoin_np(handle, result);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TryJoinThread(handle, result, nullptr, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_timedjoin_np, mc_entry_timedjoin);
MC_BEHIND_STUB int mc_entry_timedjoin(pthread_t handle, void** result, const timespec* deadline) {
  if (!g_scheduler.program_running()) return Real().pthread_timedjoin_np(handle, result, deadline);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TimedJoinThread(handle, result, deadline, MC_CALLER_PC(), registers);
}

MC_SPIN_STUB(pthread_clockjoin_np, mc_entry_clockjoin);
MC_BEHIND_STUB int mc_entry_clockjoin(pthread_t handle, void** result, clockid_t clock,
                                      const timespec* deadline) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_clockjoin_np(handle, result, clock, deadline);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return TimedJoinThread(handle, result, deadline, MC_CALLER_PC(), registers);
}

MC_HOOK int pthread_detach(pthread_t handle) {
  if (!g_scheduler.program_running()) return Real().pthread_detach(handle);
  EngineScope scope;
  return DetachThread(handle, MC_CALLER_PC());
}

MC_HOOK void pthread_exit(void* result) {
  if (!g_scheduler.program_running()) Real().pthread_exit(result);
  LeaveThread(result);
}

MC_HOOK int pthread_getattr_np(pthread_t handle, pthread_attr_t* attributes) {
  if (!g_scheduler.program_running()) return Real().pthread_getattr_np(handle, attributes);
  EngineScope scope;
  const Thread* thread = g_scheduler.FindByPthread(handle);
  if (thread == nullptr) return ESRCH;
  const int result = pthread_attr_init(attributes);
  if (result != 0) return result;
  pthread_attr_setstack(attributes, reinterpret_cast<void*>(thread->stack_low),
                        thread->stack_high - thread->stack_low);
  pthread_attr_setdetachstate(attributes,
                              thread->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
  return 0;
}

MC_HOOK pid_t gettid() {
  if (!g_scheduler.program_running()) return Real().gettid();
  return KernelThreadId();
}

// fork handlers: no program forks under mc.
MC_HOOK int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library) {
  if (!g_scheduler.program_running()) {
    return Real().__register_atfork(prepare, parent, child, library);
  }
  return 0;
}
