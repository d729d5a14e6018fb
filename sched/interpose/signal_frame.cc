#include "sched/interpose/signal_frame.h"

#include <string.h>

#include "sched/interpose/kernel_call.h"

extern "C" const char __restore_rt[];

namespace mc::sched {
namespace {

constexpr uintptr_t kRedZone = 128;
constexpr uintptr_t kStateAlignment = 64;
// In the part of the floating-point state that the kernel keeps for software.
constexpr size_t kMagicOffset = 464, kSizeOffset = 468;
constexpr uint32_t kExtendedMagic = 0x46505853;  // FP_XSTATE_MAGIC1
constexpr size_t kPlainSize = 512;

size_t SizeOfState(const void* state) {
  if (state == nullptr) return 0;
  uint32_t magic, size;
  memcpy(&magic, static_cast<const char*>(state) + kMagicOffset, sizeof magic);
  memcpy(&size, static_cast<const char*>(state) + kSizeOffset, sizeof size);
  return magic == kExtendedMagic ? size : kPlainSize;
}

uintptr_t TopFor(const ucontext_t& context, const KernelAction& action, const stack_t& alternate) {
  const auto here = static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
  const auto begin = reinterpret_cast<uintptr_t>(alternate.ss_sp);
  if ((action.flags & SA_ONSTACK) != 0 && (alternate.ss_flags & SS_DISABLE) == 0 &&
      here - begin > alternate.ss_size) {
    return begin + alternate.ss_size;
  }
  return here - kRedZone;
}

uintptr_t PlaceOfState(uintptr_t top, size_t size) { return (top - size) & ~(kStateAlignment - 1); }

}  // namespace

SignalFrame* PlaceOfFrame(const ucontext_t& context, const KernelAction& action,
                          const stack_t& alternate) {
  const uintptr_t top = TopFor(context, action, alternate);
  const uintptr_t state = PlaceOfState(top, SizeOfState(context.uc_mcontext.fpregs));
  // As if it had been called: the stack pointer is 8 off a multiple of 16.
  return reinterpret_cast<SignalFrame*>(((state - sizeof(SignalFrame)) & ~uintptr_t{15}) - 8);
}

void PushFrame(SignalFrame* frame, ucontext_t* context, const siginfo_t& info,
               const KernelAction& action, void (*enter)(int number, siginfo_t* info, void*)) {
  const void* const state = context->uc_mcontext.fpregs;
  const size_t size = SizeOfState(state);
  const uintptr_t behind = reinterpret_cast<uintptr_t>(frame) + sizeof *frame;
  const uintptr_t place = (behind + kStateAlignment - 1) & ~(kStateAlignment - 1);
  if (size != 0) memcpy(reinterpret_cast<void*>(place), state, size);
  SignalFrame made = {};
  made.restorer = __restore_rt;
  memcpy(&made.context, context, sizeof made.context);
  if (size != 0) made.context.machine.fpregs = reinterpret_cast<fpregset_t>(place);
  made.info = info;
  made.action = action;
  memcpy(frame, &made, sizeof made);
  greg_t* const registers = context->uc_mcontext.gregs;
  registers[REG_RSP] = AddressOf(frame);
  registers[REG_RIP] = reinterpret_cast<greg_t>(enter);
  registers[REG_RDI] = info.si_signo;
  registers[REG_RSI] = AddressOf(&frame->info);
  registers[REG_RDX] = AddressOf(&frame->context);
  registers[REG_EFL] &= ~greg_t{0x400};  // the direction flag
}

}  // namespace mc::sched
