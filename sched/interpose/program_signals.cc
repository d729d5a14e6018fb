#include "sched/interpose/program_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_cells.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/signal_state.h"
#include "sched/interpose/waiting.h"

namespace mc::sched {

namespace {

// ---- Sending

bool WaitsFor(const Thread& thread, int number) {
  return thread.wait_argument == kSignalWaiting && !thread.woken &&
         (thread.wait_object & SignalBit(number)) != 0;
}

void WakeWaiterFor(Thread& waiter) {
  WakeWaiter(waiter,
             MakeOperation(OperationKind::kFutexReturn, WakeCell(waiter), waiter.pending.pc,
                           OperationDetail::kSystemCall),
             nullptr, 0);
}

int Refuse(const char* what) {
  TheSignals().refused = what;
  return ENOSYS;
}

int SendToOther(Thread& target, const siginfo_t& info) {
  const int number = info.si_signo;
  RecordSignalsOf(target, kReadWrite);
  if (Blocks(target, number) || WaitsFor(target, number)) {
    Enqueue(target.id, info);
    if (WaitsFor(target, number)) WakeWaiterFor(target);
    return 0;
  }
  switch (ReactionTo(number)) {
    case Reaction::kIgnores:
      return 0;
    case Reaction::kEnds:  // all threads alike
      Enqueue(g_scheduler.current().id, info, true);
      return 0;
    default:
      return Refuse("a signal that interrupts another thread, which does not block it");
  }
}

// The caller blocks it: another thread takes it, or will.
int SendToProcess(const siginfo_t& info) {
  const int number = info.si_signo;
  RecordSignalsOfProcess(kReadWrite);
  Thread* interrupted = nullptr;
  std::vector<Thread*> waiters;
  for (uint32_t id = 0; id < g_scheduler.thread_limit(); ++id) {
    Thread& thread = g_scheduler.ThreadById(static_cast<ThreadId>(id));
    if (!thread.exists || thread.status != ThreadStatus::kRunnable) continue;
    RecordSignalsOf(thread, kRead);
    if (WaitsFor(thread, number)) {
      waiters.push_back(&thread);
    } else if (!Blocks(thread, number)) {
      interrupted = &thread;
    }
  }
  if (waiters.empty() && interrupted != nullptr) return SendToOther(*interrupted, info);
  Enqueue(kNoThread, info);
  if (waiters.empty()) return 0;
  Thread* const woken = waiters[g_scheduler.Choose(static_cast<uint32_t>(waiters.size()))];
  WakeWaiterFor(*woken);
  return 0;
}

// ---- System calls

long ChangeAction(const long a[6]) {
  SignalState& state = TheSignals();
  const long number = a[0];
  if (a[3] != sizeof(uint64_t) || number < 1 || number > kSignals) return -EINVAL;
  if (a[1] != 0 && (number == SIGKILL || number == SIGSTOP)) return -EINVAL;
  KernelAction& action = state.actions[number - 1];
  const KernelAction before = action;
  if (a[1] != 0) {
    memcpy(&action, reinterpret_cast<const void*>(a[1]), sizeof action);
    action.mask &= ~kNeverBlocked;
    if (ReactionTo(static_cast<int>(number)) == Reaction::kIgnores) {
      std::erase_if(state.pending,
                    [&](const PendingSignal& one) { return one.info.si_signo == number; });
    }
    const bool runs = number == SIGALRM && timerisset(&state.timers[ITIMER_REAL].it_value);
    if (runs && ReactionTo(SIGALRM) == Reaction::kHandles) {
      Refuse("alarm or setitimer, with a handler for its signal");
    }
  }
  if (a[2] != 0) memcpy(reinterpret_cast<void*>(a[2]), &before, sizeof before);
  return 0;
}

long ChangeMask(const long a[6]) {
  if (a[3] != sizeof(uint64_t)) return -EINVAL;
  Thread& self = g_scheduler.current();
  const uint64_t before = self.signal_mask;
  if (a[1] != 0) {
    uint64_t change;
    memcpy(&change, reinterpret_cast<const void*>(a[1]), sizeof change);
    uint64_t mask = before;
    switch (static_cast<int>(a[0])) {
      case SIG_BLOCK:
        mask |= change;
        break;
      case SIG_UNBLOCK:
        mask &= ~change;
        break;
      case SIG_SETMASK:
        mask = change;
        break;
      default:
        return -EINVAL;
    }
    self.signal_mask = mask & ~kNeverBlocked;
    if (self.signal_mask != before) {
      RecordSignalsOf(self, kReadWrite);
      g_scheduler.Progress();
    }
    RecordSignalsOfProcess(kRead);  // what is pending there may now be taken
  }
  if (a[2] != 0) memcpy(reinterpret_cast<void*>(a[2]), &before, sizeof before);
  return 0;
}

long AskForPending(const long a[6]) {
  const Thread& self = g_scheduler.current();
  RecordSignalsOf(self, kRead);
  RecordSignalsOfProcess(kRead);
  const uint64_t bits = PendingSignals(self.id) & self.signal_mask;
  memcpy(reinterpret_cast<void*>(a[0]), &bits, std::min<size_t>(sizeof bits, a[1]));
  return 0;
}

// Without waiting: who waits comes by WaitForSignal.
long TakeOfSet(const long a[6]) {
  uint64_t set;
  memcpy(&set, reinterpret_cast<const void*>(a[0]), sizeof set);
  siginfo_t info;
  const int number = WaitForSignal(set, false, &info, 0);
  if (number == 0 && a[2] == 0) return -Refuse("sigwait by a system call, that waits");
  if (number == 0) return -EAGAIN;
  if (a[1] != 0) memcpy(reinterpret_cast<void*>(a[1]), &info, sizeof info);
  return number;
}

// To the thread with this kernel's number (KernelThreadId). Returns an errno value.
int SendToKernelThread(long kernel_id, const siginfo_t& info) {
  const long id = kernel_id - getpid();
  if (id < 0 || id >= g_scheduler.thread_limit()) return ESRCH;
  Thread& target = g_scheduler.ThreadById(static_cast<ThreadId>(id));
  if (!target.exists) return ESRCH;
  if (&target != &g_scheduler.current()) {
    g_scheduler.RecordCell(MakeCell(CellKind::kThreadExit, target.id), kRead, kValueRelevant, 0);
    if (HasEnded(target)) return ESRCH;
  }
  return info.si_signo == 0 ? 0 : SendSignal(&target, info);
}

long SendByCall(long number, const long a[6]) {
  const long process = getpid();
  if (number == SYS_rt_sigqueueinfo || number == SYS_rt_tgsigqueueinfo) {
    const bool to_thread = number == SYS_rt_tgsigqueueinfo;
    if (a[0] != process) return -EPERM;
    siginfo_t info;
    memcpy(&info, reinterpret_cast<const void*>(a[to_thread ? 3 : 2]), sizeof info);
    info.si_signo = static_cast<int>(a[to_thread ? 2 : 1]);
    return to_thread ? -SendToKernelThread(a[1], info) : -SendSignal(nullptr, info);
  }
  if (number == SYS_kill && a[0] != process) return KernelCall(number, a[0], a[1]);
  if (number == SYS_kill) {
    return -SendSignal(nullptr, SignalInfo(static_cast<int>(a[1]), SI_USER));
  }
  const bool has_process = number == SYS_tgkill;
  if (has_process && a[0] != process) return KernelCall(number, a[0], a[1], a[2]);
  const auto signal = static_cast<int>(a[has_process ? 2 : 1]);
  return -SendToKernelThread(a[has_process ? 1 : 0], SignalInfo(signal, SI_TKILL));
}

// A timer is noted, and never goes off: time is virtual. That is no watchdog's loss.
long SetTimer(long which, const itimerval* wanted, itimerval* old) {
  if (which < 0 || which > ITIMER_PROF) return -EINVAL;
  SignalState& state = TheSignals();
  constexpr int kSignalOf[] = {SIGALRM, SIGVTALRM, SIGPROF};
  const itimerval before = state.timers[which];
  if (wanted != nullptr) {
    memcpy(&state.timers[which], wanted, sizeof *wanted);
    RecordAction(kSignalOf[which], kRead);
    const bool runs = timerisset(&state.timers[which].it_value);
    if (runs && ReactionTo(kSignalOf[which]) == Reaction::kHandles) {
      return -Refuse("alarm or setitimer, with a handler for its signal");
    }
  }
  if (old != nullptr) memcpy(old, &before, sizeof before);
  return 0;
}

long SetAlarm(long seconds) {
  itimerval wanted = {}, old;
  wanted.it_value.tv_sec = seconds;
  const long error = SetTimer(ITIMER_REAL, &wanted, &old);
  return error != 0 ? error : old.it_value.tv_sec + (old.it_value.tv_usec != 0 ? 1 : 0);
}

}  // namespace

bool IsSignalCall(long number) {
  switch (number) {
    case SYS_rt_sigaction:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigpending:
    case SYS_rt_sigtimedwait:
    case SYS_kill:
    case SYS_tkill:
    case SYS_tgkill:
    case SYS_rt_sigqueueinfo:
    case SYS_rt_tgsigqueueinfo:
    case SYS_setitimer:
    case SYS_getitimer:
    case SYS_alarm:
      return true;
    default:
      return false;
  }
}

long DoSignalCall(long number, const long a[6]) {
  switch (number) {
    case SYS_rt_sigaction:
      return ChangeAction(a);
    case SYS_rt_sigprocmask:
      return ChangeMask(a);
    case SYS_rt_sigpending:
      return AskForPending(a);
    case SYS_rt_sigtimedwait:
      return TakeOfSet(a);
    case SYS_setitimer:
      return SetTimer(a[0], reinterpret_cast<const itimerval*>(a[1]),
                      reinterpret_cast<itimerval*>(a[2]));
    case SYS_getitimer:
      return SetTimer(a[0], nullptr, reinterpret_cast<itimerval*>(a[1]));
    case SYS_alarm:
      return SetAlarm(a[0]);
    default:
      return SendByCall(number, a);
  }
}

const char* RefusedSignalCall() { return std::exchange(TheSignals().refused, nullptr); }

siginfo_t SignalInfo(int number, int code) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = number;
  info.si_code = code;
  info.si_pid = getpid();
  info.si_uid = getuid();
  return info;
}

int SendSignal(Thread* target, const siginfo_t& info) {
  const int number = info.si_signo;
  if (number < 0 || number > kSignals) return EINVAL;
  if (number == 0) return 0;
  RecordAction(number, kRead);
  g_scheduler.Progress();
  Thread& self = g_scheduler.current();
  if (target != nullptr && target != &self) return SendToOther(*target, info);
  RecordSignalsOf(self, kReadWrite);
  if (!Blocks(self, number) && ReactionTo(number) == Reaction::kIgnores) return 0;
  if (target == nullptr && Blocks(self, number)) return SendToProcess(info);
  Enqueue(self.id, info);
  return 0;
}

int WaitForSignal(uint64_t set, bool waits, siginfo_t* info, uint64_t pc) {
  const Thread& self = g_scheduler.current();
  for (;;) {
    if (Dequeue(self, set, info)) {
      g_scheduler.Progress();
      return info->si_signo;
    }
    if (!waits) {
      RecordSignalsOf(self, kRead);
      RecordSignalsOfProcess(kRead);
      return 0;
    }
    RecordSignalsOf(self, kReadWrite);
    RecordSignalsOfProcess(kReadWrite);
    WaitPoint(false, pc, {})
        .Wait(kSignalWaiting, ProcessSignalsCell(), set, OperationDetail::kSystemCall);
  }
}

void SuspendForSignal(uint64_t mask, uint64_t pc) {
  Thread& self = g_scheduler.current();
  const uint64_t before = self.signal_mask;
  self.signal_mask = mask & ~kNeverBlocked;
  while ((PendingSignals(self.id) & ~self.signal_mask) == 0) {
    RecordSignalsOf(self, kReadWrite);
    RecordSignalsOfProcess(kReadWrite);
    WaitPoint(false, pc, {})
        .Wait(kSignalWaiting, ProcessSignalsCell(), ~self.signal_mask,
              OperationDetail::kSystemCall);
  }
  TakeSignals(pc);
  self.signal_mask = before;
  RecordSignalsOf(self, kReadWrite);
  TakeSignals(pc);
}

}  // namespace mc::sched
