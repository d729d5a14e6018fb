// The functions that send signals, wait for them, and say what is done on them
// (program_signals.h).
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_boundary.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/program_signals.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/virtual_time.h"
#include "sched/kernel_state.h"
#include "sched/start.h"
#include "sched/system_call_watch.h"

namespace mc::sched {
namespace {

void EndIfRefused() {
  if (const char* const what = RefusedSignalCall()) Unsupported(what);
}

void NoteSignals() {
  g_system_call_made = true;
  g_kernel_effects |= kSignalEffects;
}

// Else the supervisor takes it for one that somebody else sent.
void NoteOwnSignal(int number) {
  if (LastWords* words = g_scheduler.last_words()) {
    words->own_signal = static_cast<uint32_t>(number);
  }
}

// Sends, and takes what has come of it. `target`: null for the process. Returns an errno value,
// `if_ended` for another thread that has ended.
int Send(Thread* target, const siginfo_t& info, uint64_t pc, int if_ended = 0) {
  int error;
  {
    const SystemCallPoint point(pc);
    EngineScope scope;
    if (target != nullptr && target != &g_scheduler.current()) {
      g_scheduler.RecordCell(MakeCell(CellKind::kThreadExit, target->id), kRead, kValueRelevant,
                             pc);
      if (HasEnded(*target)) return if_ended;
      if (info.si_signo == 0) return 0;
    }
    NoteSignals();
    if (info.si_signo == SIGKILL) {
      NoteOwnSignal(SIGKILL);
      RealKill(getpid(), SIGKILL);
    }
    error = SendSignal(target, info);
    EndIfRefused();
  }
  EngineScope scope;
  TakeSignals(pc);
  return error;
}

// To a thread by its handle.
int SendToThread(pthread_t handle, int number, const sigval* value, uint64_t pc) {
  Thread* target;
  {
    EngineScope scope;
    target = g_scheduler.FindByPthread(handle);
    if (target == nullptr || target->joined) return ESRCH;
    if (number == 0 && value == nullptr) return 0;  // whether it has ended or not
  }
  siginfo_t info = SignalInfo(number, value == nullptr ? SI_TKILL : SI_QUEUE);
  if (value != nullptr) info.si_value = *value;
  return Send(target, info, pc, value == nullptr ? 0 : ESRCH);
}

int Failed(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

struct sigaction ToProgram(const KernelAction& from) {
  struct sigaction to = {};
  to.sa_sigaction = from.handler;
  to.sa_flags = static_cast<int>(from.flags);
  memcpy(&to.sa_mask, &from.mask, sizeof from.mask);
  return to;
}
KernelAction ToKernel(const struct sigaction& from) {
  KernelAction to = {};
  to.handler = from.sa_sigaction;
  to.flags = static_cast<unsigned>(from.sa_flags);
  memcpy(&to.mask, &from.sa_mask, sizeof to.mask);
  return to;
}

int ChangeAction(int number, const struct sigaction* action, struct sigaction* old, uint64_t pc) {
  const KernelAction wanted = action == nullptr ? KernelAction{} : ToKernel(*action);
  KernelAction before = {};
  const long result = SignalCall(SYS_rt_sigaction, pc, number,
                                 action == nullptr ? 0 : AddressOf(&wanted), AddressOf(&before), 8);
  if (result == 0 && old != nullptr) *old = ToProgram(before);
  return static_cast<int>(result);
}

// What comes out of a wait is acquired from who sent it. Returns the number; 0 if none came.
int Wait(const sigset_t* set, siginfo_t* to, bool waits, uint64_t pc) {
  uint64_t wanted;
  memcpy(&wanted, set, sizeof wanted);
  const SystemCallPoint point(pc);
  EngineScope scope;
  NoteSignals();
  siginfo_t info;
  const int number = WaitForSignal(wanted, waits, &info, pc);
  if (number != 0 && to != nullptr) *to = info;
  return number;
}

void Suspend(const sigset_t* mask, uint64_t pc) {
  EngineScope scope;
  NoteSignals();
  uint64_t wanted = g_scheduler.current().signal_mask;
  if (mask != nullptr) memcpy(&wanted, mask, sizeof wanted);
  BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  SuspendForSignal(wanted, pc);
}

}  // namespace

long SignalCall(long number, uint64_t pc, long a, long b, long c, long d) {
  const long arguments[6] = {a, b, c, d, 0, 0};
  long result;
  {
    const SystemCallPoint point(pc);
    EngineScope scope;
    NoteSystemCall(number, arguments, &result);
    NoteSignals();
    EndIfRefused();
  }
  {
    EngineScope scope;
    TakeSignals(pc);
  }
  return result >= 0 ? result : Failed(static_cast<int>(-result));
}

}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

// ---- What is done on a signal, and which are blocked

MC_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* old) {
  if (!g_program_running) return RealSigaction(number, action, old);
  const uint64_t pc = MC_CALLER_PC();
  RecordTouched({In(action, action == nullptr ? 0 : sizeof *action)}, pc);
  const int result = ChangeAction(number, action, old, pc);
  RecordTouched({Out(old, old == nullptr || result != 0 ? 0 : sizeof *old)}, pc);
  return result;
}
MC_EXPORT sighandler_t signal(int number, sighandler_t handler) {
  MC_REAL_OF(signal);
  if (!g_program_running) return real(number, handler);
  struct sigaction action = {}, old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (number >= 1 && number <= 64) {
    const uint64_t itself = SignalBit(number);
    memcpy(&action.sa_mask, &itself, sizeof itself);
  }
  return ChangeAction(number, &action, &old, MC_CALLER_PC()) == 0 ? old.sa_handler : SIG_ERR;
}

namespace {
long ChangeMask(int how, const sigset_t* set, sigset_t* old, uint64_t pc) {
  RecordTouched({In(set, set == nullptr ? 0 : sizeof *set)}, pc);
  if (old != nullptr) memset(old, 0, sizeof *old);
  const long result = SignalCall(SYS_rt_sigprocmask, pc, how, AddressOf(set), AddressOf(old), 8);
  RecordTouched({Out(old, old == nullptr ? 0 : sizeof *old)}, pc);
  return result;
}
}  // namespace
MC_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  MC_REAL_OF(sigprocmask);
  if (!g_program_running) return real(how, set, old);
  return static_cast<int>(ChangeMask(how, set, old, MC_CALLER_PC()));
}
MC_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) noexcept {
  MC_REAL_OF(pthread_sigmask);
  if (!g_program_running) return real(how, set, old);
  return ChangeMask(how, set, old, MC_CALLER_PC()) == 0 ? 0 : errno;
}
MC_EXPORT int sigpending(sigset_t* to) noexcept {
  MC_REAL_OF(sigpending);
  if (!g_program_running) return real(to);
  const uint64_t pc = MC_CALLER_PC();
  memset(to, 0, sizeof *to);
  const long result = SignalCall(SYS_rt_sigpending, pc, AddressOf(to), 8);
  RecordTouched({Out(to)}, pc);
  return static_cast<int>(result);
}

// ---- Sending

MC_EXPORT int raise(int number) noexcept {
  MC_REAL_OF(raise);
  if (!g_program_running) return real(number);
  return Failed(Send(&g_scheduler.current(), SignalInfo(number, SI_TKILL), MC_CALLER_PC()));
}
MC_EXPORT int kill(pid_t process, int number) noexcept {
  if (!g_program_running) return RealKill(process, number);
  if (process == getpid()) {
    return Failed(Send(nullptr, SignalInfo(number, SI_USER), MC_CALLER_PC()));
  }
  // To its group, or to whoever may be sent to.
  if (process <= 0) NoteOwnSignal(number);
  EngineScope scope;
  return Failed(static_cast<int>(-KernelCall(SYS_kill, process, number)));
}
MC_EXPORT int sigqueue(pid_t process, int number, const sigval value) noexcept {
  MC_REAL_OF(sigqueue);
  if (!g_program_running || process != getpid()) return real(process, number, value);
  siginfo_t info = SignalInfo(number, SI_QUEUE);
  info.si_value = value;
  return Failed(Send(nullptr, info, MC_CALLER_PC()));
}
MC_HOOK int pthread_kill(pthread_t handle, int number) {
  if (!g_program_running) return Real().pthread_kill(handle, number);
  return SendToThread(handle, number, nullptr, MC_CALLER_PC());
}
MC_HOOK int pthread_sigqueue(pthread_t handle, int number, const sigval value) {
  if (!g_program_running) return Real().pthread_sigqueue(handle, number, value);
  return SendToThread(handle, number, &value, MC_CALLER_PC());
}
MC_EXPORT int tgkill(pid_t process, pid_t thread, int number) {
  MC_REAL_OF(tgkill);
  if (!g_program_running) return real(process, thread, number);
  return static_cast<int>(SignalCall(SYS_tgkill, MC_CALLER_PC(), process, thread, number));
}

// ---- Waiting

MC_EXPORT int sigwait(const sigset_t* set, int* to) {
  MC_REAL_OF(sigwait);
  if (!g_program_running) return real(set, to);
  const uint64_t pc = MC_CALLER_PC();
  RecordTouched({In(set)}, pc);
  const int number = Wait(set, nullptr, true, pc);
  *to = number;
  RecordTouched({Out(to)}, pc);
  return 0;
}
MC_EXPORT int sigwaitinfo(const sigset_t* set, siginfo_t* to) {
  MC_REAL_OF(sigwaitinfo);
  if (!g_program_running) return real(set, to);
  const uint64_t pc = MC_CALLER_PC();
  RecordTouched({In(set)}, pc);
  const int number = Wait(set, to, true, pc);
  RecordTouched({Out(to, to == nullptr ? 0 : sizeof *to)}, pc);
  return number;
}
MC_EXPORT int sigtimedwait(const sigset_t* set, siginfo_t* to, const timespec* time) {
  MC_REAL_OF(sigtimedwait);
  if (!g_program_running) return real(set, to, time);
  const uint64_t pc = MC_CALLER_PC();
  RecordTouched({In(set), In(time, time == nullptr ? 0 : sizeof *time)}, pc);
  const int number = Wait(set, to, time == nullptr, pc);
  if (number == 0) {
    g_scheduler.current().clock_ns += IntervalOf(*time);
    return Failed(EAGAIN);
  }
  RecordTouched({Out(to, to == nullptr ? 0 : sizeof *to)}, pc);
  return number;
}
MC_EXPORT int sigsuspend(const sigset_t* mask) {
  MC_REAL_OF(sigsuspend);
  if (!g_program_running) return real(mask);
  const uint64_t pc = MC_CALLER_PC();
  RecordTouched({In(mask)}, pc);
  Suspend(mask, pc);
  return Failed(EINTR);
}
MC_EXPORT int pause() {
  MC_REAL_OF(pause);
  if (!g_program_running) return real();
  Suspend(nullptr, MC_CALLER_PC());
  return Failed(EINTR);
}
