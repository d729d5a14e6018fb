// What threads are called, where they may run and how urgently, and whether they may be cancelled.
// Nothing of this makes a difference to the search: it is kept for those who ask.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_state.h"
#include "sched/interpose/system_call.h"

namespace mc::sched {
namespace {

// One operation on the properties of `thread`, which may be null: then nothing is done, and there
// is no such thread. `call` returns the result.
template <typename Call>
int Operate(Thread* thread, uint8_t mode, uint64_t pc, Call call) {
  if (thread == nullptr) return ESRCH;
  BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  g_scheduler.RecordCell(ThreadPropertiesCell(thread->id), mode, kValueRelevant, pc);
  const int result = call(*thread);
  g_scheduler.Progress();
  AfterOperation(kPpUnlock);
  return result;
}

// 0 is the calling thread.
Thread* FindByKernelId(pid_t id) {
  if (id == 0) return &g_scheduler.current();
  const auto index = static_cast<uint32_t>(id - getpid());
  if (index >= g_scheduler.thread_limit()) return nullptr;
  Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(index));
  return thread.exists ? &thread : nullptr;
}

// Where main may run.
size_t ProcessorsOfSystem(cpu_set_t* to) {
  CPU_ZERO(to);
  static int (*known)(pid_t, size_t, cpu_set_t*);
  Find(&known, "sched_getaffinity")(0, sizeof *to, to);
  return sizeof *to;
}

int SetProcessors(Thread* thread, size_t size, const cpu_set_t* set, uint64_t pc) {
  RecordTouchedInScope({In(set, size)}, pc);
  return Operate(thread, kReadWrite, pc, [&](Thread& t) {
    cpu_set_t allowed;
    const size_t most = std::min(size, ProcessorsOfSystem(&allowed));
    const auto* const there = reinterpret_cast<const unsigned char*>(&allowed);
    const auto* const wanted = reinterpret_cast<const unsigned char*>(set);
    std::vector<unsigned char> processors(most);
    for (size_t i = 0; i < most; ++i) processors[i] = there[i] & wanted[i];
    if (std::ranges::all_of(processors, [](unsigned char bits) { return bits == 0; })) {
      return EINVAL;
    }
    t.processors = processors;
    return 0;
  });
}

int GetProcessors(Thread* thread, size_t size, cpu_set_t* to, uint64_t pc) {
  return Operate(thread, kRead, pc, [&](Thread& t) {
    cpu_set_t all;
    const size_t known = ProcessorsOfSystem(&all);
    const void* const from = t.processors.empty() ? &all : static_cast<void*>(t.processors.data());
    const size_t most = std::min(size, t.processors.empty() ? known : t.processors.size());
    memset(to, 0, size);
    memcpy(to, from, most);
    RecordTouchedInScope({Out(to, size)}, pc);
    return 0;
  });
}

int SetScheduling(Thread* thread, int policy, const sched_param* parameters, uint64_t pc) {
  RecordTouchedInScope({In(parameters)}, pc);
  return Operate(thread, kReadWrite, pc, [&](Thread& t) {
    const int wanted = policy < 0 ? t.policy : policy;
    const int priority = parameters->sched_priority;
    const int least = sched_get_priority_min(wanted), most = sched_get_priority_max(wanted);
    if (least < 0 || priority < least || priority > most) return EINVAL;
    t.policy = wanted;
    t.priority = priority;
    return 0;
  });
}

// The program's own, as it was at the start: 0 is neither more nor less urgent.
int NiceOfProcess() { return 20 - static_cast<int>(KernelCall(SYS_getpriority, PRIO_PROCESS, 0)); }
int NiceOf(const Thread& thread) { return std::clamp(NiceOfProcess() + thread.nice, -20, 19); }

int SetNice(Thread* thread, int value, uint64_t pc) {
  return Operate(thread, kReadWrite, pc, [&](Thread& t) {
    const int wanted = std::clamp(value, -20, 19);
    rlimit limit = {};
    KernelCall(SYS_getrlimit, RLIMIT_NICE, AddressOf(&limit));
    const bool may = wanted >= NiceOf(t) || static_cast<rlim_t>(20 - wanted) <= limit.rlim_cur ||
                     KernelCall(SYS_geteuid) == 0;
    if (!may) return EACCES;
    t.nice = wanted - NiceOfProcess();
    return 0;
  });
}

int Failed(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

// ---- Names

MC_HOOK int pthread_setname_np(pthread_t handle, const char* name) {
  if (!g_scheduler.program_running()) return Real().pthread_setname_np(handle, name);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  const size_t length = LengthOf(name);
  RecordTouchedInScope({In(name, length + 1)}, pc);
  if (length >= sizeof Thread::name) return ERANGE;
  return Operate(g_scheduler.FindByPthread(handle), kReadWrite, pc, [&](Thread& thread) {
    memcpy(thread.name, name, length + 1);
    return 0;
  });
}

MC_HOOK int pthread_getname_np(pthread_t handle, char* buffer, size_t size) {
  if (!g_scheduler.program_running()) return Real().pthread_getname_np(handle, buffer, size);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  return Operate(g_scheduler.FindByPthread(handle), kRead, pc, [&](const Thread& thread) {
    char name[sizeof Thread::name];
    CopyThreadName(thread, name);
    const size_t length = LengthOf(name);
    if (length >= size) return ERANGE;
    memcpy(buffer, name, length + 1);
    RecordTouchedInScope({Out(buffer, length + 1)}, pc);
    return 0;
  });
}

// ---- Where it may run

MC_HOOK int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t* set) {
  if (!g_scheduler.program_running()) return Real().pthread_setaffinity_np(handle, size, set);
  EngineScope scope;
  return SetProcessors(g_scheduler.FindByPthread(handle), size, set, MC_CALLER_PC());
}
MC_HOOK int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t* to) {
  MC_REAL_OF(pthread_getaffinity_np);
  if (!g_scheduler.program_running()) return real(handle, size, to);
  EngineScope scope;
  return GetProcessors(g_scheduler.FindByPthread(handle), size, to, MC_CALLER_PC());
}
MC_HOOK int sched_setaffinity(pid_t id, size_t size, const cpu_set_t* set) {
  if (!g_scheduler.program_running()) return Real().sched_setaffinity(id, size, set);
  EngineScope scope;
  return Failed(SetProcessors(FindByKernelId(id), size, set, MC_CALLER_PC()));
}
MC_HOOK int sched_getaffinity(pid_t id, size_t size, cpu_set_t* to) {
  MC_REAL_OF(sched_getaffinity);
  if (!g_scheduler.program_running()) return real(id, size, to);
  EngineScope scope;
  return Failed(GetProcessors(FindByKernelId(id), size, to, MC_CALLER_PC()));
}

// ---- How urgently it runs

MC_HOOK int pthread_setschedparam(pthread_t handle, int policy, const sched_param* parameters) {
  if (!g_scheduler.program_running()) {
    return Real().pthread_setschedparam(handle, policy, parameters);
  }
  if (policy < 0) return EINVAL;
  EngineScope scope;
  return SetScheduling(g_scheduler.FindByPthread(handle), policy, parameters, MC_CALLER_PC());
}
MC_HOOK int pthread_getschedparam(pthread_t handle, int* policy, sched_param* parameters) {
  MC_REAL_OF(pthread_getschedparam);
  if (!g_scheduler.program_running()) return real(handle, policy, parameters);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  return Operate(g_scheduler.FindByPthread(handle), kRead, pc, [&](const Thread& thread) {
    *policy = thread.policy;
    memset(parameters, 0, sizeof *parameters);
    parameters->sched_priority = thread.priority;
    RecordTouchedInScope({Out(policy), Out(parameters)}, pc);
    return 0;
  });
}
MC_HOOK int pthread_setschedprio(pthread_t handle, int priority) {
  if (!g_scheduler.program_running()) return Real().pthread_setschedprio(handle, priority);
  EngineScope scope;
  const uint64_t pc = MC_CALLER_PC();
  return Operate(g_scheduler.FindByPthread(handle), kReadWrite, pc, [&](Thread& thread) {
    thread.priority = priority;
    return 0;
  });
}

// By its number; of another process, it is the system's business.
MC_HOOK int sched_setscheduler(pid_t id, int policy, const sched_param* parameters) {
  MC_REAL_OF(sched_setscheduler);
  if (!g_scheduler.program_running()) return real(id, policy, parameters);
  EngineScope scope;
  Thread* const thread = FindByKernelId(id);
  if (thread == nullptr) return real(id, policy, parameters);
  if (policy < 0) return Failed(EINVAL);
  return Failed(SetScheduling(thread, policy, parameters, MC_CALLER_PC()));
}
MC_HOOK int sched_setparam(pid_t id, const sched_param* parameters) {
  MC_REAL_OF(sched_setparam);
  if (!g_scheduler.program_running()) return real(id, parameters);
  EngineScope scope;
  Thread* const thread = FindByKernelId(id);
  if (thread == nullptr) return real(id, parameters);
  return Failed(SetScheduling(thread, -1, parameters, MC_CALLER_PC()));
}
MC_HOOK int sched_getscheduler(pid_t id) {
  MC_REAL_OF(sched_getscheduler);
  if (!g_scheduler.program_running()) return real(id);
  EngineScope scope;
  Thread* const thread = FindByKernelId(id);
  if (thread == nullptr) return real(id);
  return Operate(thread, kRead, MC_CALLER_PC(), [](const Thread& t) { return t.policy; });
}
MC_HOOK int sched_getparam(pid_t id, sched_param* parameters) {
  MC_REAL_OF(sched_getparam);
  if (!g_scheduler.program_running()) return real(id, parameters);
  EngineScope scope;
  Thread* const thread = FindByKernelId(id);
  if (thread == nullptr) return real(id, parameters);
  const uint64_t pc = MC_CALLER_PC();
  return Failed(Operate(thread, kRead, pc, [&](const Thread& t) {
    memset(parameters, 0, sizeof *parameters);
    parameters->sched_priority = t.priority;
    RecordTouchedInScope({Out(parameters)}, pc);
    return 0;
  }));
}

// In Linux, each thread has one of its own.
MC_HOOK int setpriority(__priority_which_t which, id_t who, int value) {
  MC_REAL_OF(setpriority);
  if (!g_scheduler.program_running()) return real(which, who, value);
  EngineScope scope;
  Thread* const thread = which == PRIO_PROCESS ? FindByKernelId(static_cast<pid_t>(who)) : nullptr;
  if (thread == nullptr) return real(which, who, value);
  return Failed(SetNice(thread, value, MC_CALLER_PC()));
}
MC_HOOK int getpriority(__priority_which_t which, id_t who) {
  MC_REAL_OF(getpriority);
  if (!g_scheduler.program_running()) return real(which, who);
  EngineScope scope;
  Thread* const thread = which == PRIO_PROCESS ? FindByKernelId(static_cast<pid_t>(who)) : nullptr;
  if (thread == nullptr) return real(which, who);
  return Operate(thread, kRead, MC_CALLER_PC(), [](const Thread& t) { return NiceOf(t); });
}
MC_HOOK int nice(int more) {
  MC_REAL_OF(nice);
  if (!g_scheduler.program_running()) return real(more);
  EngineScope scope;
  Thread& self = g_scheduler.current();
  const int error = SetNice(&self, NiceOf(self) + more, MC_CALLER_PC());
  return error == 0 ? NiceOf(self) : Failed(EPERM);
}

// ---- Whether it may be cancelled, which nobody tries

namespace {
int Change(int* now, int wanted, int most, int* old, uint64_t pc) {
  if (wanted < 0 || wanted > most) return EINVAL;
  if (old != nullptr) {
    *old = *now;
    RecordTouchedInScope({Out(old)}, pc);
  }
  *now = wanted;
  return 0;
}
}  // namespace
MC_HOOK int pthread_setcancelstate(int state, int* old) {
  MC_REAL_OF(pthread_setcancelstate);
  if (!g_scheduler.program_running()) return real(state, old);
  EngineScope scope;
  return Change(&g_scheduler.current().cancel_state, state, PTHREAD_CANCEL_DISABLE, old,
                MC_CALLER_PC());
}
MC_HOOK int pthread_setcanceltype(int type, int* old) {
  MC_REAL_OF(pthread_setcanceltype);
  if (!g_scheduler.program_running()) return real(type, old);
  EngineScope scope;
  return Change(&g_scheduler.current().cancel_type, type, PTHREAD_CANCEL_ASYNCHRONOUS, old,
                MC_CALLER_PC());
}
