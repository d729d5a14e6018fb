// What a process can do to itself and to the checker: one case for each, named by the first
// argument. corners.txt and tests/e2e/bad_input.test say what mc must make of it.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include <atomic>
#include <cassert>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace {

std::atomic<int> shared{0};

// Two threads whose steps can be ordered in several ways: mc runs the process more than once.
void TwoThreads() {
  std::thread other([] { shared = 1; });
  shared = 2;
  other.join();
}

[[noreturn]] void Fail(const char* message) {
  std::fprintf(stderr, "corner_process: %s\n", message);
  std::abort();
}
void Expect(bool holds, const char* message) {
  if (!holds) Fail(message);
}

// ---- Construction and destruction

int constructions = 0;
bool expect_stores = false;
struct Static {
  Static() { ++constructions; }
  ~Static() {
    Expect(!expect_stores || shared != 0, "a static object was destroyed before main returned");
  }
};
Static static_object;
std::vector<std::string>* at_exit_log = nullptr;

void StaticObjects() {
  expect_stores = true;
  Expect(constructions == 1, "constructed once before main, in every execution");
  TwoThreads();
}

void AtExit() {
  at_exit_log = new std::vector<std::string>;
  std::atexit([] {
    Expect(at_exit_log->size() == 1 && at_exit_log->front() == "second",
           "handlers run in the opposite order");
    delete at_exit_log;
  });
  std::atexit([] { at_exit_log->push_back("second"); });
  TwoThreads();
}

void AtExitFails() {
  std::atexit([] { Expect(shared == 1, "the last store won"); });
  TwoThreads();
}

// A detached thread that uses what the destructors of static objects destroy.
std::string static_text = "a text that is too long to fit into the object itself";
void DetachedUsesStatics() {
  std::thread([] {
    volatile char c = static_text[0];
    (void)c;
  }).detach();
}

// ---- Input and output, time, randomness

void Output() {
  std::cout << "cout " << shared << std::endl;
  std::printf("printf %d\n", shared.load());
  std::fprintf(stderr, "stderr\n");
  TwoThreads();
}

void TenMegabytes() {
  const std::string line(1023, '.');
  for (int i = 0; i < 10 * 1024; ++i) std::puts(line.c_str());
  TwoThreads();
}

void RandomDevice() {
  std::thread other([] {
    std::random_device device;
    if (device() % 2 == 0) shared = 1;
  });
  std::random_device device;
  if (device() % 2 == 0) shared = 2;
  other.join();
  Expect(true, "");
}

void Clocks() {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  static std::atomic<bool> ready{false};
  static steady_clock::time_point written;
  std::thread other([] {
    written = steady_clock::now();
    ready = true;
  });
  const auto start = steady_clock::now();
  std::this_thread::sleep_for(milliseconds(50));
  Expect(steady_clock::now() - start >= milliseconds(50), "a sleep takes its time");
  if (ready) Expect(steady_clock::now() >= written, "time goes on along happens-before");
  other.join();
  Expect(steady_clock::now() >= written, "time goes on along happens-before");
  Expect(time(nullptr) > 0 && std::clock() >= 0, "time of day");
}

// The process's own time stamp counter cannot be virtual: what the program does differs from run to
// run.
void RealTime() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
#if defined(__x86_64__)
      const unsigned long long now = __rdtsc() >> 5;
#else
      unsigned long long now;
      asm volatile("mrs %0, cntvct_el0" : "=r"(now));
#endif
      shared = i;  // whatever the time: else there may be nothing to explore, and nothing noticed
      for (unsigned long long k = 0; k < now % 16; ++k) shared.load();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void ProcessId() {
  if (getpid() % 2 == 0) shared = 3;
  TwoThreads();
}

// Memory nobody has written: the same in every execution.
void Uninitialised() {
  std::thread other([] {
    int* block = static_cast<int*>(std::malloc(400));
    volatile int local[16];
    asm volatile("" : : "r"(&local[0]), "r"(block) : "memory");
    if ((block[7] & 1) != 0) shared = 1;
    if ((local[5] & 1) != 0) shared = 2;
    std::free(block);
  });
  int* block = static_cast<int*>(std::malloc(400));
  asm volatile("" : : "r"(block) : "memory");
  if ((block[9] & 1) != 0) shared = 3;
  for (int i = 0; i < 100; ++i) block[i] = -1;
  std::free(block);
  shared = 4;
  other.join();
}

// ---- Ends

void UncaughtException() {
  TwoThreads();
  throw std::runtime_error("nobody catches this");
}

volatile int* Nowhere() {
  volatile int* nowhere = nullptr;
  asm volatile("" : "+r"(nowhere));
  return nowhere;
}

void SegmentationFault() {
  volatile int* const nowhere = Nowhere();
  if (shared == 0) *nowhere = 1;
}

void SegmentationFaultInOneOrder() {
  std::thread other([] {
    volatile int* const nowhere = Nowhere();
    if (shared == 2) *nowhere = 1;
  });
  shared = 2;
  shared = 3;
  other.join();
}

void DivisionByZero() {
  volatile int zero = 0;
  volatile int result = 100 / zero;
  (void)result;
}

int Recurse(int depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : Recurse(depth + 1) + frame[0];
}
void StackOverflow() { shared = Recurse(1); }
void StackOverflowInThread() {
  std::thread other(StackOverflow);
  other.join();
}

void Exit3() {
  TwoThreads();
  std::exit(3);
}
void ReturnsByExit0() {
  TwoThreads();
  std::exit(0);
}
void Aborts() {
  TwoThreads();
  std::abort();
}
void KillsItself() {
  TwoThreads();
  kill(getpid(), SIGKILL);
}
// Into memory that nothing has written before, whose pages are those of the snapshot.
void KernelWrites() {
  static int ends[2];
  static char text[3 * 4096];
  static struct stat status;
  assert(pipe(ends) == 0);
  assert(write(ends[1], "abc", 3) == 3);
  assert(read(ends[0], text + 4096, 3) == 3);
  assert(std::memcmp(text + 4096, "abc", 3) == 0);
  assert(fstat(ends[0], &status) == 0);
  assert(getcwd(text + 8192, 4096) != nullptr);
  close(ends[0]);
  close(ends[1]);
  TwoThreads();
}
// What cannot be scheduled is not called a loop.
void WaitsForAPipe() {
  int ends[2];
  assert(pipe(ends) == 0);
  std::thread other([&] { assert(write(ends[1], "x", 1) == 1); });
  char byte;
  assert(read(ends[0], &byte, 1) == 1);
  other.join();
}
// Ignored, handled, blocked: as the operating system does it.
void RaisesHandled() {
  static volatile std::sig_atomic_t handled;
  handled = 0;
  std::signal(SIGUSR1, SIG_IGN);
  raise(SIGUSR1);
  std::signal(SIGUSR1, [](int) { handled = handled + 1; });
  std::thread other([] { raise(SIGUSR1); });
  other.join();
  raise(SIGUSR1);
  if (handled != 2) std::abort();
  std::signal(SIGUSR1, SIG_DFL);
  raise(SIGCHLD);
}
void RaisesUnhandled() { raise(SIGUSR2); }
// Only what is sent to others, or cannot be caught, is more than raise.
void SendsItselfSignals() {
  static volatile std::sig_atomic_t handled;
  handled = 0;
  std::signal(SIGTERM, [](int) { handled = handled + 1; });
  assert(kill(getpid(), 0) == 0);
  assert(kill(getpid(), SIGTERM) == 0);
  assert(handled == 1);
  std::signal(SIGTERM, SIG_DFL);
  if (shared == 0) kill(getpid(), SIGTERM);
}
void InterruptsItself() { raise(SIGINT); }
void ClosesEverything() {
  TwoThreads();
  for (int fd = 3; fd < 1024; ++fd) close(fd);
}
void KilledInOneOrder() {
  std::thread other([] {
    if (shared == 2) raise(SIGKILL);
  });
  shared = 2;
  shared = 3;
  other.join();
}

// ---- Without end

volatile int counter = 0;
void InfiniteLoop() {
  for (;;) counter = counter + 1;
}
void InfiniteLoopWithoutMemory() {
  for (;;) asm volatile("");
}
void AllocatesWithoutEnd() {
  for (;;) {
    char* block = static_cast<char*>(std::malloc(1 << 20));
    if (block == nullptr) Fail("malloc said no");
    std::memset(block, 1, 1 << 20);
  }
}

// ---- Other processes

void Forks() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  TwoThreads();
}

void Executes() {
  TwoThreads();
  execl("/bin/true", "true", static_cast<char*>(nullptr));
}

void Fine() { TwoThreads(); }

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"fine", Fine},
    {"static-objects", StaticObjects},
    {"at-exit", AtExit},
    {"at-exit-fails", AtExitFails},
    {"detached-uses-statics", DetachedUsesStatics},
    {"output", Output},
    {"ten-megabytes", TenMegabytes},
    {"random-device", RandomDevice},
    {"clocks", Clocks},
    {"real-time", RealTime},
    {"process-id", ProcessId},
    {"uninitialised", Uninitialised},
    {"uncaught-exception", UncaughtException},
    {"segmentation-fault", SegmentationFault},
    {"segmentation-fault-in-one-order", SegmentationFaultInOneOrder},
    {"division-by-zero", DivisionByZero},
    {"stack-overflow", StackOverflow},
    {"stack-overflow-in-thread", StackOverflowInThread},
    {"exit-3", Exit3},
    {"exit-0", ReturnsByExit0},
    {"aborts", Aborts},
    {"kills-itself", KillsItself},
    {"killed-in-one-order", KilledInOneOrder},
    {"infinite-loop", InfiniteLoop},
    {"infinite-loop-without-memory", InfiniteLoopWithoutMemory},
    {"allocates-without-end", AllocatesWithoutEnd},
    {"forks", Forks},
    {"executes", Executes},
    {"kernel-writes", KernelWrites},
    {"waits-for-a-pipe", WaitsForAPipe},
    {"raises-handled", RaisesHandled},
    {"raises-unhandled", RaisesUnhandled},
    {"sends-itself-signals", SendsItselfSignals},
    {"interrupts-itself", InterruptsItself},
    {"closes-everything", ClosesEverything},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& one : kCases) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: corner_process CASE\n");
  return 2;
}
