// Signals of the program: masks and pending signals of each thread, what is done on a signal and
// who can tell, handlers of faults, alternate stacks, waiting. corners.txt says what mc must make
// of each.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "mc/mc.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunused-result"

namespace {

std::atomic<int> handled{0};
void Count(int) { ++handled; }

sigset_t SetOf(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  return set;
}
void Block(int number) {
  const sigset_t set = SetOf(number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}
void Unblock(int number) {
  const sigset_t set = SetOf(number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}
bool IsBlocked(int number) {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  return sigismember(&set, number) == 1;
}
bool IsPending(int number) {
  sigset_t set;
  sigpending(&set);
  return sigismember(&set, number) == 1;
}
void Handle(int number, void (*handler)(int), int flags = 0) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

sigjmp_buf place;
void Leave(int) { siglongjmp(place, 1); }

[[gnu::noinline]] void Fault() { *reinterpret_cast<volatile int*>(8) = 1; }

}  // namespace

// ---- Masks

MC_TEST(MaskOfEachThread) {
  std::thread other([] {
    Block(SIGUSR1);
    mc_assert(IsBlocked(SIGUSR1));
  });
  mc_assert(!IsBlocked(SIGUSR1));
  other.join();
  mc_assert(!IsBlocked(SIGUSR1));
}
MC_TEST(MaskIsInherited) {
  Block(SIGUSR1);
  std::thread other([] { mc_assert(IsBlocked(SIGUSR1)); });
  Unblock(SIGUSR1);
  other.join();
  mc_assert(!IsBlocked(SIGUSR1));
}
// The mask of the thread that has ended does not keep the signal from the other.
MC_TEST(HandledAfterOtherBlocked) {
  Handle(SIGUSR1, Count);
  std::thread other([] { Block(SIGUSR1); });
  other.join();
  raise(SIGUSR1);
  mc_assert(handled == 0);
}
MC_TEST(PendingOfEachThread) {
  Handle(SIGUSR1, Count);
  std::thread other([] {
    Block(SIGUSR1);
    raise(SIGUSR1);
    mc_assert(IsPending(SIGUSR1));
    Unblock(SIGUSR1);
    mc_assert(handled == 1 && !IsPending(SIGUSR1));
  });
  mc_assert(!IsPending(SIGUSR1));
  other.join();
}
MC_TEST(MaskInHandler) {
  struct sigaction action = {};
  action.sa_handler = [](int number) {
    mc_assert(IsBlocked(SIGUSR1) && IsBlocked(SIGUSR2));
    if (handled++ == 0) raise(number);
    mc_assert(handled == 1 || IsBlocked(SIGUSR2));
  };
  action.sa_mask = SetOf(SIGUSR2);
  sigaction(SIGUSR1, &action, nullptr);
  raise(SIGUSR1);
  mc_assert(handled == 2 && !IsBlocked(SIGUSR1) && !IsBlocked(SIGUSR2));
}

// ---- What is done on a signal

MC_TEST(RaiseAgainstAction) {
  Handle(SIGUSR1, Count);
  std::thread other([] { signal(SIGUSR1, SIG_IGN); });
  raise(SIGUSR1);
  mc_assert(handled == 1);
  other.join();
}
MC_TEST(KillAgainstAction) {
  signal(SIGUSR1, SIG_IGN);
  std::thread other([] { Handle(SIGUSR1, Count); });
  kill(getpid(), SIGUSR1);
  other.join();
  mc_assert(handled == 0);
}
MC_TEST(PthreadKillAgainstAction) {
  Handle(SIGUSR1, Count);
  std::thread other([] { signal(SIGUSR1, SIG_DFL); });
  pthread_kill(pthread_self(), SIGUSR1);
  other.join();
}
MC_TEST(HandlerIsPreempted) {
  Handle(SIGUSR1, [](int) { handled = handled + 1; });
  std::thread other([] { ++handled; });
  raise(SIGUSR1);
  other.join();
  mc_assert(handled == 2);
}
MC_TEST(QueuedWithAValue) {
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) { handled = info->si_value.sival_int; };
  sigaction(SIGRTMIN, &action, nullptr);
  Block(SIGRTMIN);
  sigqueue(getpid(), SIGRTMIN, {3});
  sigqueue(getpid(), SIGRTMIN, {4});
  mc_assert(handled == 0);
  Unblock(SIGRTMIN);
  mc_assert(handled == 4);
}

// ---- Waiting

MC_TEST(WaitsForSignal) {
  Block(SIGUSR2);
  int ready = 0;
  std::thread other([&] {
    ready = 1;
    kill(getpid(), SIGUSR2);
  });
  const sigset_t set = SetOf(SIGUSR2);
  int number = 0;
  mc_assert(sigwait(&set, &number) == 0 && number == SIGUSR2 && ready == 1);
  other.join();
}
MC_TEST(ThreadWaitsForSignals) {
  Block(SIGUSR1);
  std::thread other([] {
    const sigset_t set = SetOf(SIGUSR1);
    for (int i = 0; i < 2; ++i) mc_assert(sigwaitinfo(&set, nullptr) == SIGUSR1);
  });
  pthread_kill(other.native_handle(), SIGUSR1);
  while (IsPending(SIGUSR1)) sched_yield();
  kill(getpid(), SIGUSR1);
  other.join();
}
MC_TEST(WaitsInVain) {
  Block(SIGUSR1);
  std::thread other([] { pthread_kill(pthread_self(), SIGUSR1); });
  const sigset_t set = SetOf(SIGUSR1);
  sigwaitinfo(&set, nullptr);
  other.join();
}
MC_TEST(TimedWaitForSignal) {
  Block(SIGUSR1);
  std::thread other([] { kill(getpid(), SIGUSR1); });
  const sigset_t set = SetOf(SIGUSR1);
  const timespec soon = {0, 1000};
  const int number = sigtimedwait(&set, nullptr, &soon);
  other.join();
  mc_assert(number == SIGUSR1);
}
MC_TEST(Suspended) {
  Handle(SIGUSR1, Count);
  Block(SIGUSR1);
  std::thread other([main = pthread_self()] { pthread_kill(main, SIGUSR1); });
  sigset_t none;
  sigemptyset(&none);
  mc_assert(sigsuspend(&none) == -1 && errno == EINTR && handled == 1 && IsBlocked(SIGUSR1));
  other.join();
}
MC_TEST(InterruptsAnother) {
  Handle(SIGUSR1, Count);
  std::thread other([] { ++handled; });
  pthread_kill(other.native_handle(), SIGUSR1);
  other.join();
}

// ---- Faults

MC_TEST(FaultIsLeft) {
  Handle(SIGSEGV, Leave);
  std::thread other([] { ++handled; });
  if (sigsetjmp(place, 1) == 0) {
    Fault();
  } else {
    mc_assert(!IsBlocked(SIGSEGV));
    ++handled;
  }
  other.join();
  mc_assert(handled == 2);
}
MC_TEST(FaultIsRepaired) {
  static char* page;
  page = static_cast<char*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    mc_assert(info->si_addr == page);
    ++handled;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
  };
  sigaction(SIGSEGV, &action, nullptr);
  double number = 1.5;
  asm volatile("" : "+x"(number));
  *page = 7;
  asm volatile("" : "+x"(number));
  mc_assert(*page == 7 && handled == 1 && number == 1.5);
}
MC_TEST(FaultIsRepairedForAll) {
  static char* page;
  static std::atomic<int> faults{0};
  page = static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void*) {
    ++faults;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
  };
  sigaction(SIGSEGV, &action, nullptr);
  std::thread first([] { page[0] = 1; }), second([] { page[100] = 2; });
  first.join();
  second.join();
  mc_assert(page[0] == 1 && page[100] == 2 && faults >= 1);
}
// The value is there only once the handler has come back.
template <typename Store>
void RepairedTooLate(Store store) {
  static int* number;
  static std::atomic<bool> repaired{false};
  number = static_cast<int*>(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void*) {
    mprotect(number, 4096, PROT_READ | PROT_WRITE);
    repaired = true;
  };
  sigaction(SIGSEGV, &action, nullptr);
  std::thread other([=] { store(number); });
  if (repaired) mc_assert(std::atomic_ref(*number).load(std::memory_order_relaxed) == 1);
  other.join();
}
MC_TEST(FaultIsRepairedTooLate) {
  RepairedTooLate([](int* number) { *static_cast<volatile int*>(number) = 1; });
}
MC_TEST(AtomicFaultIsRepairedTooLate) {
  RepairedTooLate([](int* number) { std::atomic_ref(*number).store(1); });
}
MC_TEST(ProtectedMeanwhile) {
  static char* page;
  page = static_cast<char*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::thread other([] { mprotect(page, 4096, PROT_READ); });
  page[0] = 1;
  other.join();
}
MC_TEST(FaultIsNotRepaired) {
  Handle(SIGSEGV, [](int number) {
    ++handled;
    signal(number, SIG_DFL);
  });
  Fault();
}
MC_TEST(FaultWhileBlocked) {
  Handle(SIGSEGV, Leave);
  Block(SIGSEGV);
  if (sigsetjmp(place, 1) == 0) Fault();
}
MC_TEST(FaultAgainstAction) {
  Handle(SIGFPE, Leave);
  std::thread other([] { signal(SIGFPE, SIG_DFL); });
  if (sigsetjmp(place, 1) == 0) {
    volatile int zero = 0, seven = 7;
    handled = seven / zero;
  }
  other.join();
}
MC_TEST(OnAlternateStack) {
  static char memory[65536];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  const auto handler = [](int) {
    char here;
    const auto at = reinterpret_cast<uintptr_t>(&here) - reinterpret_cast<uintptr_t>(memory);
    if (at < sizeof memory) ++handled;
  };
  Handle(SIGUSR1, handler, SA_ONSTACK);
  std::thread other([] { raise(SIGUSR1); });  // which has none
  raise(SIGUSR1);
  other.join();
  mc_assert(handled == 1);
  Handle(SIGUSR1, handler);
  raise(SIGUSR1);
  mc_assert(handled == 1);
}
namespace {
[[gnu::noinline]] int Deep(volatile int* above) {
  volatile int here[1000];
  here[0] = *above;
  if (here[0] == 0) return 0;  // it is not
  return Deep(here) + here[0];
}
}  // namespace
MC_TEST(StackOverflowIsLeft) {
  static char memory[65536];
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  sigaltstack(&stack, nullptr);
  Handle(SIGSEGV, Leave, SA_ONSTACK);
  volatile int begin = 1;
  if (sigsetjmp(place, 1) == 0) handled = Deep(&begin);
}
MC_TEST(StackOverflowWithoutRoom) {
  Handle(SIGSEGV, Leave);
  volatile int begin = 1;
  if (sigsetjmp(place, 1) == 0) handled = Deep(&begin);
}
MC_TEST(AbortAfterHandler) {
  Handle(SIGABRT, Count);
  std::abort();
}
MC_TEST(AbortIsLeft) {
  Handle(SIGABRT, Leave);
  Block(SIGABRT);
  if (sigsetjmp(place, 1) == 0) std::abort();
  mc_assert(handled == 0);
}
MC_TEST(BrokenPipeIsHandled) {
  Handle(SIGPIPE, Count);
  int ends[2];
  pipe(ends);
  close(ends[0]);
  std::thread other([&] { mc_assert(write(ends[1], "a", 1) == -1); });
  other.join();
  mc_assert(handled == 1);
  Block(SIGPIPE);
  mc_assert(write(ends[1], "a", 1) == -1 && IsPending(SIGPIPE) && handled == 1);
  signal(SIGPIPE, SIG_IGN);
  mc_assert(!IsPending(SIGPIPE));
  close(ends[1]);
}
MC_TEST(BrokenPipe) {
  signal(SIGPIPE, SIG_DFL);
  int ends[2];
  pipe(ends);
  close(ends[0]);
  write(ends[1], "a", 1);
}

// ---- Timers

MC_TEST(AlarmAsWatchdog) {
  alarm(10);
  std::thread other([] { ++handled; });
  ++handled;
  other.join();
  mc_assert(alarm(0) == 10);
}
MC_TEST(AlarmIsHandled) {
  Handle(SIGALRM, Count);
  alarm(1);
}
MC_TEST(ReadsSignals) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = signalfd(-1, &set, 0);
  kill(getpid(), SIGUSR1);
  signalfd_siginfo info;
  mc_assert(read(descriptor, &info, sizeof info) == sizeof info);
}
MC_TEST(TimerIsHandledLater) {
  const itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  Handle(SIGALRM, Count);
}
