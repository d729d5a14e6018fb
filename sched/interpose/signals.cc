// Faults. A fault of the program stops the thread that made it, for good, and is a bug; the others
// run on. A write to a protected page of the snapshot is what the snapshot waits for.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "sched/engine_scope.h"
#include "sched/fiber.h"
#include "sched/interpose/fault_access.h"
#include "sched/interpose/kernel_boundary.h"
#include "sched/interpose/kernel_state.h"
#include "sched/interpose/program_signals.h"
#include "sched/interpose/readable_memory.h"
#include "sched/interpose/signal_state.h"
#include "sched/kernel_state.h"
#include "sched/scheduler.h"
#include "sched/start.h"
#include "sched/thread_register.h"

namespace mc::sched {
namespace {

constexpr size_t kStackSize = 256 << 10;

struct Fault {
  int signal_number = 0;
  int code = 0;
  uint64_t address = 0;
  uint64_t pc = 0;
  bool in_hook = false;
  MicroAccess attempt;  // then
};
Fault g_fault;
unsigned char* g_emergency_stack = nullptr;

std::string Describe(const Fault& fault) {
  std::string text = strsignal(fault.signal_number);
  if (fault.signal_number == SIGSEGV || fault.signal_number == SIGBUS) {
    if (fault.code == SEGV_ACCERR) {
      text += ": access not permitted at " + Hex(fault.address);
    } else if (fault.address < 4096 && fault.code == SEGV_MAPERR) {
      text += ": null pointer (address " + Hex(fault.address) + ")";
    } else if (fault.code == SI_KERNEL) {
      text += ": an address that is not canonical";
    } else {
      text += ": no memory at address " + Hex(fault.address);
    }
  }
  return text;
}

// Runs on the emergency stack in place of the thread that faulted, which never runs again.
[[noreturn]] void FailCurrentThread() {
  const Fault fault = g_fault;
  if (IsStackGuard(fault.address) && fault.signal_number == SIGSEGV) {
    const Thread& thread = g_scheduler.current();
    g_scheduler.FailThread(BugKind::kStackOverflow,
                           "the stack of T" + std::to_string(thread.id) + " (" +
                               std::to_string((thread.stack_high - thread.stack_low) >> 20) +
                               " MiB) is used up",
                           fault.pc);
  }
  if (fault.in_hook) {
    RecordFaultOfHook(fault.attempt);
    RecordAction(fault.signal_number, kRead);  // another thread may set a handler first
  }
  const bool has_address = fault.signal_number == SIGSEGV || fault.signal_number == SIGBUS;
  g_scheduler.FailThread(BugKind::kSignal, Describe(fault), fault.pc,
                         has_address ? DescribeMapping(fault.address) : std::string());
}

void HandleFault(int number, siginfo_t* info, void* raw_context) {
  // Engine code runs, whose system calls pass (kernel_boundary.h).
  const bool program_was_running = g_program_running;
  g_program_running = false;
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  if (number == SIGSEGV && g_thread_register.OnFault(address)) {
    g_program_running = program_was_running;
    return;
  }
  g_thread_register.PointNow();
  auto* context = static_cast<ucontext_t*>(raw_context);
  if (IsOwnTrap(number, raw_context)) return;
  if (IsFaultOfTry(raw_context)) {
    g_program_running = program_was_running;
    return;
  }
  if (number == SIGSEGV && g_scheduler.snapshot().HandleWriteFault(address)) {
    g_program_running = program_was_running;
    return;
  }
  if (info->si_code <= 0 && info->si_pid != getpid()) {
    // No fault: somebody sent it.
    if (LastWords* words = g_scheduler.last_words()) {
      words->foreign_signal = static_cast<uint32_t>(number);
    }
    struct sigaction fatal {};
    fatal.sa_handler = SIG_DFL;
    RealSigaction(number, &fatal, nullptr);
    RealKill(getpid(), number);
    return;
  }
  if (!g_scheduler.InProgramThread()) {
    // The engine itself, between executions: die as any program does; the supervisor tells the
    // rest.
    signal(number, SIG_DFL);
    return;
  }
  if (TakeFaultIn(number, *info, raw_context, program_was_running)) return;
  g_fault.signal_number = number;
  g_fault.code = info->si_code;
  g_fault.address = address;
  g_fault.pc = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  g_fault.in_hook = !program_was_running;
  if (g_fault.in_hook) g_fault.attempt = FaultingAccessOfHook(*context, *info);
  std::vector<uint64_t> stack;
  CaptureStack(&stack);
  // Leave out the handler's own frames: the program's begin at the faulting instruction.
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i] != g_fault.pc) continue;
    stack.erase(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  StopInDebugger(stack);
  g_scheduler.SetSignalStack(std::move(stack));
  ContinueOnEmergencyStack(raw_context, &FailCurrentThread);
}

// The kernel sends it because of what the running thread does: writes to a pipe that nobody reads,
// or more to a file than is allowed (ulimit -f).
void HandleFailedWrite(int, siginfo_t* info, void* raw_context) {
  const bool program_was_running = g_program_running;
  g_program_running = false;
  g_thread_register.PointNow();
  if (!g_scheduler.InProgramThread()) return;  // the engine's own call has failed
  SendSignal(&g_scheduler.current(), *info);
  g_kernel_effects |= kSignalEffects;
  if (program_was_running && !TakeSignalsIn(raw_context)) g_program_running = true;
}

}  // namespace

void ContinueOnEmergencyStack(void* raw_context, void (*function)()) {
  auto* context = static_cast<ucontext_t*>(raw_context);
  const auto top = reinterpret_cast<uintptr_t>(g_emergency_stack) + kStackSize - 64;
  context->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>((top & ~uintptr_t{15}) - 8);
  context->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
}

void InstallSignalHandlers() {
  SaveSignalState();
  void* memory = mmap(nullptr, 2 * kStackSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  g_emergency_stack = static_cast<unsigned char*>(memory);
  stack_t alternate{};
  alternate.ss_sp = g_emergency_stack + kStackSize;
  alternate.ss_size = kStackSize;
  sigaltstack(&alternate, nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
    InstallBoundarySafeHandler(number, &HandleFault);
  }
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    InstallBoundarySafeHandler(number, &HandleFailedWrite);
  }
  GuardKernelBoundary();
}

}  // namespace mc::sched

namespace mc::sched {

int RealSigaction(int number, const struct sigaction* action, struct sigaction* old) {
  using Function = int (*)(int, const struct sigaction*, struct sigaction*);
  static Function real = nullptr;  // no guard: the program would be seen to take it
  if (real == nullptr) real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "sigaction"));
  return real(number, action, old);
}

}  // namespace mc::sched
