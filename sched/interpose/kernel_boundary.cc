#include "sched/interpose/kernel_boundary.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "sched/c_library.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/kernel_call.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/mappings.h"
#include "sched/interpose/program_signals.h"
#include "sched/scheduler.h"
#include "sched/system_call_watch.h"
#include "sched/thread_register.h"

#if !defined(__x86_64__)
#error "kernel_boundary.cc: only x86-64 is supported"
#endif

// The only code whose system calls always go to the kernel.
//
// mc_kernel_call: makes the call that was handed back, in the place of the program and with its
// registers, and returns to the program: the handler pushed the address below the 128 bytes that
// belong to the interrupted function.
// __restore_rt: the end of a signal handler, of ours and (mc_kernel_signal_return) of the
// program's. Its name, its bytes and the nop before it are those of the C library, by which
// unwinders and debuggers know that the frame below is the one that the signal interrupted. The
// kernel compares the address *behind* the instruction: hence the last one.
asm(".text\n.balign 64\n"
    ".hidden mc_kernel_begin, mc_kernel_call, __restore_rt\n"
    ".hidden mc_kernel_signal_return, mc_kernel_end\n"
    ".globl mc_kernel_begin, mc_kernel_call, __restore_rt\n"
    ".globl mc_kernel_signal_return, mc_kernel_end\n"
    "mc_kernel_begin:\n"
    "mc_kernel_call:\n"
    "  syscall\n"
    "  ret $128\n"
    "  nop\n"
    ".type __restore_rt, @function\n"
    "__restore_rt:\n"
    "  .byte 0x48, 0xc7, 0xc0, 15, 0, 0, 0\n"  // mov $15, %rax
    "mc_kernel_signal_return:\n"
    "  syscall\n"
    "  ud2\n"
    "mc_kernel_end:\n");

extern "C" {
extern const char mc_kernel_begin[], mc_kernel_call[], __restore_rt[];
extern const char mc_kernel_signal_return[], mc_kernel_end[];
}

namespace mc::sched {

bool g_system_calls_seen = false;
bool g_system_call_made = false;

namespace {

constexpr long kRedZone = 128;
constexpr uint64_t kKernelRestorer = 0x04000000;  // SA_RESTORER
constexpr int kSetUserDispatch = 59;              // PR_SET_SYSCALL_USER_DISPATCH
constexpr long kDispatchOn = 1;
constexpr int kEngineSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

uint64_t EngineSignalBits() {
  uint64_t bits = 0;
  for (const int number : kEngineSignals) bits |= uint64_t{1} << (number - 1);
  return bits;
}

const char* g_waiting_call = nullptr;

[[noreturn]] void EndForWaiting() {
  Unsupported(std::string(g_waiting_call) + " that waits for another thread or process");
}
const char* g_refused_call = nullptr;
[[noreturn]] void EndForRefusal() { Unsupported(g_refused_call); }

// Ends the check if the signal call is none that can be done; else the interrupted code takes what
// has come of it.
void FinishSignalCall(void* raw_context) {
  g_refused_call = RefusedSignalCall();
  if (g_refused_call != nullptr) {
    ContinueOnEmergencyStack(raw_context, &EndForRefusal);
  } else if (!TakeSignalsIn(raw_context)) {
    g_program_running = true;
  }
}

void HandleSystemCall(int, siginfo_t*, void* raw_context) {
  g_program_running = false;
  // The call may make another process of this one, or ask for the register.
  g_thread_register.PointNow();
  auto& context = *static_cast<ucontext_t*>(raw_context);
  greg_t* const registers = context.uc_mcontext.gregs;
  const long number = registers[REG_RAX];
  const long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                             registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
  long result = 0;
  const auto pc = static_cast<uint64_t>(registers[REG_RIP]);
  const bool by_loader = IsLoaderCode(pc);
  if (by_loader) {
    g_system_call_made = true;
    if (IsSignalCall(number)) {
      registers[REG_RAX] = DoSignalCall(number, arguments);
      g_program_running = true;
      return;
    }
  } else if (NoteSystemCall(number, arguments, &result)) {
    registers[REG_RAX] = result;
    if (IsSignalCall(number)) {
      FinishSignalCall(raw_context);
    } else {
      g_program_running = true;
    }
    return;
  }
  if (number == SYS_rt_sigreturn) {
    registers[REG_RIP] = AddressOf(mc_kernel_signal_return);
    g_program_running = true;
    return;
  }
  OpenWhatKernelWrites(number, arguments);
  if (IsMappingCall(number) && !by_loader) {
    registers[REG_RAX] = DoMappingCall(number, arguments, pc);
    g_program_running = true;
    return;
  }
  g_refused_call = RefusedSystemCall(number);
  if (g_refused_call != nullptr) {
    ContinueOnEmergencyStack(raw_context, &EndForRefusal);
    return;
  }
  g_waiting_call = WaitsForOthers(number, arguments);
  if (g_waiting_call != nullptr) {
    ContinueOnEmergencyStack(raw_context, &EndForWaiting);
    return;
  }
  // On the stack of the interrupted code, unless this handler's frame is there too (the code runs
  // on an alternate stack itself): then from here.
  const long top = registers[REG_RSP];
  const long here = AddressOf(raw_context);
  if (here < top && here > top - (64 << 10)) {
    registers[REG_RAX] = KernelCall(number, arguments[0], arguments[1], arguments[2], arguments[3],
                                    arguments[4], arguments[5]);
  } else {
    registers[REG_RSP] = top - kRedZone - static_cast<long>(sizeof(long));
    *reinterpret_cast<long*>(registers[REG_RSP]) = registers[REG_RIP];
    registers[REG_RIP] = AddressOf(mc_kernel_call);
  }
  g_program_running = true;
}

}  // namespace

void InstallBoundarySafeHandler(int number, FaultHandler handler) {
  KernelAction action = {handler, SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kKernelRestorer,
                         __restore_rt, 0};
  KernelCall(SYS_rt_sigaction, number, AddressOf(&action), 0, sizeof action.mask);
}

void GuardKernelBoundary() {
  const KernelAction action = {&HandleSystemCall,
                               SA_SIGINFO | SA_ONSTACK | SA_NODEFER | kKernelRestorer, __restore_rt,
                               ~EngineSignalBits()};
  KernelCall(SYS_rt_sigaction, SIGSYS, AddressOf(&action), 0, sizeof action.mask);
  const uint64_t engine_signals = EngineSignalBits();
  KernelCall(SYS_rt_sigprocmask, SIG_UNBLOCK, AddressOf(&engine_signals), 0, sizeof engine_signals);
  static_assert(sizeof g_program_running == 1);  // false: let pass, true: hand back
  g_system_calls_seen =
      KernelCall(SYS_prctl, kSetUserDispatch, kDispatchOn, AddressOf(mc_kernel_begin),
                 mc_kernel_end - mc_kernel_begin, AddressOf(&g_program_running)) == 0;
}

}  // namespace mc::sched
