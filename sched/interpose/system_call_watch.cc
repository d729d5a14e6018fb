#include "sched/system_call_watch.h"

#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "sched/start.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

namespace mc::sched {

volatile char g_system_calls_blocked = 0;

namespace {

bool g_mask_may_differ = false;  // since there was a system call

}  // namespace

void WatchSystemCalls() {
  if (g_mask_may_differ) {
    // If the signal were blocked, the kernel would kill the process.
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGSYS);
    sigprocmask(SIG_UNBLOCK, &ours, nullptr);
    g_mask_may_differ = false;
  }
  g_system_calls_blocked = 1;
}

#if defined(__x86_64__)
namespace {

// The call was not made: goes back to the instruction, which then makes it.
void MakeSystemCallAgain(int, siginfo_t* info, void* raw_context) {
  g_system_calls_blocked = 0;
  g_mask_may_differ = true;
  constexpr int kInstructionSize = 2;  // syscall
  auto& registers = static_cast<ucontext_t*>(raw_context)->uc_mcontext.gregs;
  registers[REG_RIP] -= kInstructionSize;
  registers[REG_RAX] = info->si_syscall;
}

}  // namespace

bool InstallSystemCallWatch() {
  struct sigaction action {};
  action.sa_sigaction = &MakeSystemCallAgain;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (RealSigaction(SIGSYS, &action, nullptr) != 0) return false;
  return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &g_system_calls_blocked) ==
         0;
}
#else
bool InstallSystemCallWatch() { return false; }
#endif

}  // namespace mc::sched
