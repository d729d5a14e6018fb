// How the signals of the program are taken (program_signals.h).
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "sched/interpose/fault_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/signal_state.h"
#include "sched/kernel_state.h"
#include "sched/system_call_watch.h"

namespace mc::sched {

namespace {

// In the program: a hook that made it did so on behalf of its caller.
uint64_t PlaceOfFault(const SignalFrame& frame) {
  return frame.program_was_running ? static_cast<uint64_t>(frame.context.machine.gregs[REG_RIP])
                                   : frame.attempt.pc;
}

// Another thread may have changed what may be done to the memory, or what is done on the fault; or
// may do so first.
void DecideAboutFault(SignalFrame* frame) {
  const uint64_t pc = PlaceOfFault(*frame);
  const int number = frame->info.si_signo;
  if (!frame->program_was_running) {
    RecordFaultOfHook(frame->attempt);
  } else {
    if (IsMemoryFault(frame->info)) {
      const auto address = reinterpret_cast<uintptr_t>(frame->info.si_addr);
      g_scheduler.RecordFailedAccess(address, 1, kRead, kAtomic, pc);
    }
    BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  }
  RecordAction(number, kRead);
  if (ReactionTo(number) != Reaction::kHandles) {
    g_scheduler.FailThread(BugKind::kSignal, strsignal(number), pc);
  }
  frame->action = TheSignals().actions[number - 1];
}

void BeginHandler(SignalFrame* frame) {
  if (frame->is_fault) DecideAboutFault(frame);
  const int number = frame->info.si_signo;
  const KernelAction& action = frame->action;
  Thread& self = g_scheduler.current();
  self.signal_mask |= action.mask;
  if ((action.flags & SA_NODEFER) == 0) self.signal_mask |= SignalBit(number);
  if ((action.flags & SA_RESETHAND) != 0) {
    TheSignals().actions[number - 1].handler = nullptr;
    RecordAction(number, kReadWrite);
  }
}

void EndHandler(SignalFrame* frame) {
  Thread& self = g_scheduler.current();
  self.signal_mask = frame->context.mask & ~kNeverBlocked;
  RecordSignalsOf(self, kReadWrite);
  TakeSignals(0);
  frame->context.mask = frame->kernel_mask;
  if (!frame->is_fault) return;
  const MicroAccess& again = frame->failed;
  // Others may run between what the handler did and what it did it for.
  BeforeOperation(kPpLock, PlaceOfFault(*frame), OperationDetail::kSystemCall);
  if (!frame->program_was_running) self.attempt = frame->attempt;
  if (again.size == 0) return;
  g_scheduler.RecordMemory(again.begin, again.size, again.mode, again.flags, again.pc, again.order);
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
  const KernelAction& action = TheSignals().actions[info.si_signo - 1];
  SignalFrame* const frame = PlaceOfFrame(*context, action, AlternateStackOf(self.id));
  if (IsStackGuard(reinterpret_cast<uintptr_t>(frame))) return false;
  PushFrame(frame, context, info, action, &RunHandler);
  frame->kernel_mask = frame->context.mask;
  frame->context.mask = self.signal_mask;
  frame->is_fault = is_fault;
  frame->failed = {};  // what a hook does it records when it has done it
  frame->attempt = {};
  if (is_fault && program_was_running) frame->failed = FaultingAccess(*context, info);
  if (is_fault && !program_was_running) {
    frame->attempt = FaultingAccessOfHook(*context, info);
    g_scheduler.EndAttempt();
  }
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
  SignalState& state = TheSignals();
  state.taken = info;
  state.trap_expected = true;
  KernelCall(SYS_tgkill, KernelCall(SYS_getpid), KernelCall(SYS_gettid), SIGTRAP);
}

}  // namespace

bool IsOwnTrap(int number, void* context) {
  SignalState& state = TheSignals();
  if (number != SIGTRAP || !state.trap_expected) return false;
  state.trap_expected = false;
  EnterHandler(static_cast<ucontext_t*>(context), state.taken, false, false);
  return true;
}

void TakeSignals(uint64_t pc) {
  siginfo_t info;
  Reaction reaction;
  while (!TheSignals().pending.empty() && NextSignal(g_scheduler.current(), &info, &reaction)) {
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
  if (TheSignals().pending.empty() || !NextSignal(g_scheduler.current(), &info, &reaction)) {
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
