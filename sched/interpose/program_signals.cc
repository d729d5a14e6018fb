#include "sched/interpose/program_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_cells.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/signal_frame.h"
#include "sched/interpose/waiting.h"
#include "sched/kernel_state.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

uint64_t g_initial_signal_mask = 0;

namespace {

constexpr int kSignals = 64;
constexpr int kFirstQueued = 32;  // of these, several may be pending
constexpr uint64_t kNeverBlocked = SignalBit(SIGKILL) | SignalBit(SIGSTOP);

struct Pending {
  ThreadId thread;  // kNoThread: of the process
  bool forced;      // taken even if it is blocked
  siginfo_t info;
};

struct State {
  KernelAction initial[kSignals];
  KernelAction actions[kSignals];
  std::vector<Pending> pending;
  itimerval timers[3] = {};
  const char* refused = nullptr;
  // What TakeSignals is about to run, and the signal by which it gets a context.
  bool trap_expected = false;
  siginfo_t taken;
};

State& TheState() {
  static State* state = nullptr;  // for good; no guard: the program would be seen to take it
  if (state == nullptr) state = new State;
  return *state;
}

enum class Reaction { kIgnores, kEnds, kHandles };

uintptr_t HandlerOf(int number) {
  return reinterpret_cast<uintptr_t>(TheState().actions[number - 1].handler);
}

Reaction ReactionTo(int number) {
  const uintptr_t handler = HandlerOf(number);
  if (handler == reinterpret_cast<uintptr_t>(SIG_IGN)) return Reaction::kIgnores;
  if (handler != reinterpret_cast<uintptr_t>(SIG_DFL)) return Reaction::kHandles;
  switch (number) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
      return Reaction::kIgnores;
    default:
      return Reaction::kEnds;
  }
}

void RecordAction(int number, uint8_t mode) {
  g_scheduler.RecordCell(SignalActionCell(number), mode, kValueRelevant, 0);
}
// Who sends a signal tells something to who takes it.
void RecordSignalsOf(const Thread& thread, uint8_t mode) {
  g_scheduler.RecordCell(ThreadSignalsCell(thread.id), mode, kValueRelevant | kAcquire | kRelease,
                         0);
}
void RecordSignalsOfProcess(uint8_t mode) {
  g_scheduler.RecordCell(ProcessSignalsCell(), mode, kValueRelevant | kAcquire | kRelease, 0);
}

uint64_t PendingSignals(ThreadId thread) {
  uint64_t bits = 0;
  for (const Pending& one : TheState().pending) {
    if (one.thread == thread || one.thread == kNoThread) bits |= SignalBit(one.info.si_signo);
  }
  return bits;
}

void Enqueue(ThreadId thread, const siginfo_t& info, bool forced = false) {
  std::vector<Pending>& pending = TheState().pending;
  for (const Pending& one : pending) {
    if (info.si_signo < kFirstQueued && one.thread == thread &&
        one.info.si_signo == info.si_signo && !forced) {
      return;
    }
  }
  pending.push_back({thread, forced, info});
}

// Takes the next signal of the set, those with the lowest numbers first.
bool Dequeue(const Thread& thread, uint64_t set, siginfo_t* info) {
  std::vector<Pending>& pending = TheState().pending;
  size_t best = pending.size();
  for (size_t i = 0; i < pending.size(); ++i) {
    const Pending& one = pending[i];
    if (one.thread != thread.id && one.thread != kNoThread) continue;
    if (!one.forced && (set & SignalBit(one.info.si_signo)) == 0) continue;
    if (best < pending.size() && one.info.si_signo >= pending[best].info.si_signo) continue;
    best = i;
  }
  if (best == pending.size()) return false;
  *info = pending[best].info;
  RecordSignalsOf(thread, kReadWrite);
  if (pending[best].thread == kNoThread) RecordSignalsOfProcess(kReadWrite);
  pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(best));
  return true;
}

// ---- Sending

bool WaitsFor(const Thread& thread, int number) {
  return thread.wait_argument == kSignalWaiting && !thread.woken &&
         (thread.wait_object & SignalBit(number)) != 0;
}

bool Blocks(const Thread& thread, int number) {
  return (thread.signal_mask & SignalBit(number)) != 0;
}

void WakeWaiterFor(Thread& waiter) {
  WakeWaiter(waiter,
             MakeOperation(OperationKind::kFutexReturn, WakeCell(waiter), waiter.pending.pc,
                           OperationDetail::kSystemCall),
             nullptr, 0);
}

int Refuse(const char* what) {
  TheState().refused = what;
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
  State& state = TheState();
  const long number = a[0];
  if (a[3] != sizeof(uint64_t) || number < 1 || number > kSignals) return -EINVAL;
  if (a[1] != 0 && (number == SIGKILL || number == SIGSTOP)) return -EINVAL;
  KernelAction& action = state.actions[number - 1];
  const KernelAction before = action;
  if (a[1] != 0) {
    memcpy(&action, reinterpret_cast<const void*>(a[1]), sizeof action);
    action.mask &= ~kNeverBlocked;
    if (ReactionTo(static_cast<int>(number)) == Reaction::kIgnores) {
      std::erase_if(state.pending, [&](const Pending& one) { return one.info.si_signo == number; });
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

long SendByCall(long number, const long a[6]) {
  const long process = getpid();
  if (number == SYS_rt_sigqueueinfo || number == SYS_rt_tgsigqueueinfo) {
    const bool to_thread = number == SYS_rt_tgsigqueueinfo;
    if (a[0] != process) return -EPERM;
    siginfo_t info;
    memcpy(&info, reinterpret_cast<const void*>(a[to_thread ? 3 : 2]), sizeof info);
    info.si_signo = static_cast<int>(a[to_thread ? 2 : 1]);
    return -SendSignal(to_thread ? &g_scheduler.current() : nullptr, info);
  }
  if (number == SYS_kill && a[0] != process) return KernelCall(number, a[0], a[1]);
  const bool to_thread = number != SYS_kill;
  const auto signal = static_cast<int>(a[number == SYS_tgkill ? 2 : 1]);
  return -SendSignal(to_thread ? &g_scheduler.current() : nullptr,
                     SignalInfo(signal, to_thread ? SI_TKILL : SI_USER));
}

// A timer is noted, and never goes off: time is virtual. That is no watchdog's loss.
long SetTimer(long which, const itimerval* wanted, itimerval* old) {
  if (which < 0 || which > ITIMER_PROF) return -EINVAL;
  State& state = TheState();
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

void SaveSignalState() {
  State& state = TheState();
  for (int number = 1; number <= kSignals; ++number) {
    KernelAction& action = state.initial[number - 1];
    action = {};
    KernelCall(SYS_rt_sigaction, number, 0, AddressOf(&action), sizeof action.mask);
  }
  KernelCall(SYS_rt_sigprocmask, SIG_BLOCK, 0, AddressOf(&g_initial_signal_mask),
             sizeof g_initial_signal_mask);
  RestoreSignalState();
}

void RestoreSignalState() {
  State& state = TheState();
  memcpy(state.actions, state.initial, sizeof state.actions);
  state.pending.clear();
  for (itimerval& timer : state.timers) timer = {};
  state.refused = nullptr;
  state.trap_expected = false;
}

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

const char* RefusedSignalCall() { return std::exchange(TheState().refused, nullptr); }

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

// ---- Taking

namespace {

// Another thread may have changed what is done on the fault, or may do so first.
void DecideAboutFault(SignalFrame* frame) {
  const auto pc = static_cast<uint64_t>(frame->context.machine.gregs[REG_RIP]);
  const int number = frame->info.si_signo;
  if (frame->program_was_running) BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  RecordAction(number, kRead);
  if (ReactionTo(number) != Reaction::kHandles) {
    g_scheduler.FailThread(BugKind::kSignal, strsignal(number), pc);
  }
  frame->action = TheState().actions[number - 1];
}

void BeginHandler(SignalFrame* frame) {
  if (frame->is_fault) DecideAboutFault(frame);
  const int number = frame->info.si_signo;
  const KernelAction& action = frame->action;
  Thread& self = g_scheduler.current();
  self.signal_mask |= action.mask;
  if ((action.flags & SA_NODEFER) == 0) self.signal_mask |= SignalBit(number);
  if ((action.flags & SA_RESETHAND) != 0) {
    TheState().actions[number - 1].handler = nullptr;
    RecordAction(number, kReadWrite);
  }
}

void EndHandler(SignalFrame* frame) {
  Thread& self = g_scheduler.current();
  self.signal_mask = frame->context.mask & ~kNeverBlocked;
  RecordSignalsOf(self, kReadWrite);
  TakeSignals(0);
  frame->context.mask = frame->kernel_mask;
}

// On the stack of the interrupted code, or on the alternate one.
void RunHandler(int number, siginfo_t* info, void* context) {
  SignalFrame* const frame = FrameOf(context);
  BeginHandler(frame);
  const uintptr_t handler = reinterpret_cast<uintptr_t>(frame->action.handler);
  {
    ProgramScope scope;
    if ((frame->action.flags & SA_SIGINFO) != 0) {
      reinterpret_cast<void (*)(int, siginfo_t*, void*)>(handler)(number, info, context);
    } else {
      reinterpret_cast<void (*)(int)>(handler)(number);
    }
  }
  EndHandler(frame);
  g_program_running = frame->program_was_running;
}

// Has the code of this context run the handler of the signal. False if there is no room for it.
bool EnterHandler(ucontext_t* context, const siginfo_t& info, bool is_fault,
                  bool program_was_running) {
  const Thread& self = g_scheduler.current();
  const KernelAction& action = TheState().actions[info.si_signo - 1];
  SignalFrame* const frame = PlaceOfFrame(*context, action, AlternateStackOf(self.id));
  if (IsStackGuard(reinterpret_cast<uintptr_t>(frame))) return false;
  PushFrame(frame, context, info, action, &RunHandler);
  frame->kernel_mask = frame->context.mask;
  frame->context.mask = self.signal_mask;
  frame->is_fault = is_fault;
  frame->program_was_running = program_was_running;
  g_kernel_effects |= kSignalEffects;
  g_system_call_made = true;
  return true;
}

BugKind KindOfEnd(int number) { return number == SIGABRT ? BugKind::kAbort : BugKind::kSignal; }

// The next signal that the thread has to handle, or that ends the program.
bool NextSignal(const Thread& self, siginfo_t* info, Reaction* reaction) {
  while (Dequeue(self, ~self.signal_mask, info)) {
    RecordAction(info->si_signo, kRead);
    *reaction = ReactionTo(info->si_signo);
    if (*reaction != Reaction::kIgnores) return true;
  }
  return false;
}

siginfo_t g_fatal;

[[noreturn]] void EndForSignal() {
  const int number = g_fatal.si_signo;
  g_scheduler.FailThread(KindOfEnd(number), strsignal(number), 0);
}

// Gets the context of this place by a signal of the kernel, and has it run the handler.
void HandleHere(const siginfo_t& info) {
  State& state = TheState();
  state.taken = info;
  state.trap_expected = true;
  KernelCall(SYS_tgkill, KernelCall(SYS_getpid), KernelCall(SYS_gettid), SIGTRAP);
}

}  // namespace

bool IsOwnTrap(int number, void* context) {
  State& state = TheState();
  if (number != SIGTRAP || !state.trap_expected) return false;
  state.trap_expected = false;
  EnterHandler(static_cast<ucontext_t*>(context), state.taken, false, false);
  return true;
}

void TakeSignals(uint64_t pc) {
  siginfo_t info;
  Reaction reaction;
  while (!TheState().pending.empty() && NextSignal(g_scheduler.current(), &info, &reaction)) {
    if (reaction == Reaction::kEnds) {
      g_scheduler.FailThread(KindOfEnd(info.si_signo),
                             std::string("raise(") + strsignal(info.si_signo) + ")", pc);
    }
    HandleHere(info);
  }
}

bool TakeSignalsIn(void* context) {
  siginfo_t info;
  Reaction reaction;
  if (TheState().pending.empty() || !NextSignal(g_scheduler.current(), &info, &reaction)) {
    return false;
  }
  if (reaction == Reaction::kEnds) {
    g_fatal = info;
    std::vector<uint64_t> stack;
    CaptureStack(&stack);
    g_scheduler.SetSignalStack(std::move(stack));
    ContinueOnEmergencyStack(context, &EndForSignal);
    return true;
  }
  return EnterHandler(static_cast<ucontext_t*>(context), info, false, true);
}

bool TakeFaultIn(int number, const siginfo_t& info, void* context, bool program_was_running) {
  if (ReactionTo(number) != Reaction::kHandles || Blocks(g_scheduler.current(), number)) {
    return false;
  }
  return EnterHandler(static_cast<ucontext_t*>(context), info, true, program_was_running);
}

void RunAbortHandler() {
  Thread& self = g_scheduler.current();
  self.signal_mask &= ~SignalBit(SIGABRT);
  RecordSignalsOf(self, kReadWrite);
  RecordAction(SIGABRT, kRead);
  if (ReactionTo(SIGABRT) == Reaction::kHandles) HandleHere(SignalInfo(SIGABRT, SI_TKILL));
}

}  // namespace mc::sched
