#include "sched/interpose/signal_state.h"

#include <string.h>
#include <sys/syscall.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_cells.h"

namespace mc::sched {

uint64_t g_initial_signal_mask = 0;

SignalState& TheSignals() {
  static SignalState* state = nullptr;  // for good; no guard: the program would be seen to take it
  if (state == nullptr) state = new SignalState;
  return *state;
}

namespace {

uintptr_t HandlerOf(int number) {
  return reinterpret_cast<uintptr_t>(TheSignals().actions[number - 1].handler);
}

}  // namespace

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
  for (const PendingSignal& one : TheSignals().pending) {
    if (one.thread == thread || one.thread == kNoThread) bits |= SignalBit(one.info.si_signo);
  }
  return bits;
}

void Enqueue(ThreadId thread, const siginfo_t& info, bool forced) {
  std::vector<PendingSignal>& pending = TheSignals().pending;
  for (const PendingSignal& one : pending) {
    if (info.si_signo < kFirstQueued && one.thread == thread &&
        one.info.si_signo == info.si_signo && !forced) {
      return;
    }
  }
  pending.push_back({thread, forced, info});
}

// Takes the next signal of the set, those with the lowest numbers first.
bool Dequeue(const Thread& thread, uint64_t set, siginfo_t* info) {
  std::vector<PendingSignal>& pending = TheSignals().pending;
  size_t best = pending.size();
  for (size_t i = 0; i < pending.size(); ++i) {
    const PendingSignal& one = pending[i];
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

bool Blocks(const Thread& thread, int number) {
  return (thread.signal_mask & SignalBit(number)) != 0;
}

void SaveSignalState() {
  SignalState& state = TheSignals();
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
  SignalState& state = TheSignals();
  memcpy(state.actions, state.initial, sizeof state.actions);
  state.pending.clear();
  for (itimerval& timer : state.timers) timer = {};
  state.refused = nullptr;
  state.trap_expected = false;
}

}  // namespace mc::sched
