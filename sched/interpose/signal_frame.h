// The frame by which a handler of the program runs, in the place of code that a signal interrupted.
//
// It is what the kernel would have pushed (struct rt_sigframe of x86-64): the interrupted code's
// registers with its floating-point state, and what is known of the signal. The handler returns to
// __restore_rt (kernel_boundary.cc), whose rt_sigreturn goes on where the code was interrupted, or
// where the handler wants it to go on.
#ifndef MC_SCHED_INTERPOSE_SIGNAL_FRAME_H_
#define MC_SCHED_INTERPOSE_SIGNAL_FRAME_H_

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "sched/event.h"
#include "sched/interpose/kernel_boundary.h"

namespace mc::sched {

// struct ucontext as the kernel has it: the C library's is longer.
struct KernelContext {
  uint64_t flags;
  void* link;
  stack_t stack;
  mcontext_t machine;
  uint64_t mask;
};
static_assert(sizeof(KernelContext) == 304);

struct SignalFrame {
  const char* restorer;  // where the handler returns to
  KernelContext context;
  siginfo_t info;
  // Behind what the kernel has: what RunHandler needs.
  KernelAction action;
  uint64_t kernel_mask;  // of the interrupted code; context.mask is what the program sees
  bool is_fault;
  MicroAccess failed;   // the access that made the fault: it is made again after the handler
  MicroAccess attempt;  // the same of a hook, which records it itself when it has been made
  bool program_was_running;
};

// Where the frame belongs for code whose registers are these: on `alternate`, if the action asks
// for it and the code does not run there already. The floating-point state lies above it.
SignalFrame* PlaceOfFrame(const ucontext_t& context, const KernelAction& action,
                          const stack_t& alternate);

// Pushes the frame, and has the interrupted code go on in `enter(number, &frame->info, ...)`. What
// is behind `action` is left to the caller.
void PushFrame(SignalFrame* frame, ucontext_t* context, const siginfo_t& info,
               const KernelAction& action, void (*enter)(int number, siginfo_t* info, void*));

inline SignalFrame* FrameOf(void* context) {
  return reinterpret_cast<SignalFrame*>(static_cast<char*>(context) -
                                        __builtin_offsetof(SignalFrame, context));
}

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SIGNAL_FRAME_H_
