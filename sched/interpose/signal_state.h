// What the parts of program_signals.h share: the actions and the pending signals of the program.
#ifndef MC_SCHED_INTERPOSE_SIGNAL_STATE_H_
#define MC_SCHED_INTERPOSE_SIGNAL_STATE_H_

#include <signal.h>
#include <sys/time.h>

#include <cstdint>
#include <vector>

#include "sched/interpose/kernel_state.h"
#include "sched/interpose/program_signals.h"
#include "sched/interpose/signal_frame.h"

namespace mc::sched {

inline constexpr int kSignals = 64;
inline constexpr int kFirstQueued = 32;  // of these, several may be pending
inline constexpr uint64_t kNeverBlocked = SignalBit(SIGKILL) | SignalBit(SIGSTOP);

struct PendingSignal {
  ThreadId thread;  // kNoThread: of the process
  bool forced;      // taken even if it is blocked
  siginfo_t info;
};

struct SignalState {
  KernelAction initial[kSignals];
  KernelAction actions[kSignals];
  std::vector<PendingSignal> pending;
  itimerval timers[3] = {};
  const char* refused = nullptr;
  // What TakeSignals is about to run, and the signal by which it gets a context.
  bool trap_expected = false;
  siginfo_t taken;
};

// Of the whole program, and of the running execution.
SignalState& TheSignals();

// What happens when a signal is taken: nothing, the program ends, or its handler runs.
enum class Reaction { kIgnores, kEnds, kHandles };
Reaction ReactionTo(int number);

// Accesses to what is done on a signal, to the signals of a thread, and to those of the process.
void RecordAction(int number, uint8_t mode);
void RecordSignalsOf(const Thread& thread, uint8_t mode);
void RecordSignalsOfProcess(uint8_t mode);

// Bits of those that the thread could take if it blocked none.
uint64_t PendingSignals(ThreadId thread);
// `thread` kNoThread: for the process. `forced`: taken even if it is blocked.
void Enqueue(ThreadId thread, const siginfo_t& info, bool forced = false);
// Takes the next signal of the set, those with the lowest numbers first. False if there is none.
bool Dequeue(const Thread& thread, uint64_t set, siginfo_t* info);

bool Blocks(const Thread& thread, int number);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SIGNAL_STATE_H_
