// What the kernel keeps for a program: one case for each, named by the first argument. A case finds
// things as they are at the beginning of a process, and leaves them otherwise: it passes only if
// every execution begins as the first one did. corners.txt says what mc must make of it,
// kernel_state.test of the last two.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

std::atomic<int> shared{0};

// Two threads whose steps can be ordered in several ways: mc runs the process more than once.
void TwoThreads() {
  std::thread other([] { shared = 1; });
  shared = 2;
  other.join();
}

void Expect(bool holds, const char* message) {
  if (holds) return;
  std::perror(message);
  std::abort();
}

// ---- Descriptors

void LeftOpen() {
  int ends[2];
  Expect(fcntl(open("/dev/null", O_RDONLY), F_DUPFD, 50) == 50, "50 is free");
  Expect(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "pipe");
  Expect(syscall(SYS_dup, 50) > 0, "dup");
  std::FILE* const file = std::tmpfile();
  Expect(fcntl(fileno(file), F_DUPFD, 60) == 60, "60 is free");
  std::fclose(file);
  TwoThreads();
}
void Closed() {
  Expect(fcntl(0, F_GETFD) == 0, "standard input is open");
  char byte;
  Expect(read(0, &byte, 1) == 0, "standard input is empty");
  close(0);
  Expect(open("/dev/zero", O_RDONLY) == 0, "open");
  Expect(read(0, &byte, 1) == 1, "standard input is not empty");
  Expect(dup2(0, 2) == 2, "dup2");
  Expect(close_range(1, 1, 0) == 0, "close_range");
  TwoThreads();
}
// Closes what there may be above; mc's own descriptors are not to be found.
void ClosedAll() {
  const int left = open("/dev/null", O_RDONLY);
  for (int i = left + 1; i < 1024; ++i) close(i);
  close(0);
  TwoThreads();
}
void FlagsOfOpenFiles() {
  Expect((fcntl(0, F_GETFL) & O_NONBLOCK) == 0, "standard input waits");
  Expect(fcntl(0, F_SETFL, O_NONBLOCK) == 0, "fcntl");
  TwoThreads();
}

// ---- Signals

int handled = 0;
void Handle(int) { ++handled; }

void Handlers() {
  struct sigaction action = {};
  Expect(sigaction(SIGUSR1, nullptr, &action) == 0 && action.sa_handler == SIG_DFL, "sigaction");
  std::thread other([] { signal(SIGUSR1, Handle); });
  shared = 2;
  other.join();
  raise(SIGUSR1);
  Expect(handled == 1, "handled");
  TwoThreads();
}
void Masks() {
  sigset_t set;
  Expect(pthread_sigmask(SIG_BLOCK, nullptr, &set) == 0 && !sigismember(&set, SIGUSR1), "mask");
  Expect(sigpending(&set) == 0 && !sigismember(&set, SIGUSR1), "pending");
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  raise(SIGUSR1);
  Expect(sigpending(&set) == 0 && sigismember(&set, SIGUSR1), "pending now");
  TwoThreads();
}
void AlternateStack() {
  static char memory[65536];
  static const auto is_fresh = [] {
    stack_t stack = {};
    return sigaltstack(nullptr, &stack) == 0 && stack.ss_flags == SS_DISABLE;
  };
  Expect(is_fresh(), "no alternate stack");
  stack_t stack = {}, old = {};
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  Expect(sigaltstack(&stack, &old) == 0 && old.ss_flags == SS_DISABLE, "sigaltstack");
  Expect(sigaltstack(nullptr, &old) == 0 && old.ss_sp == memory, "the stack");
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_ONSTACK;
  Expect(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
  raise(SIGUSR1);
  Expect(handled == 1, "handled");
  std::thread other([] { Expect(is_fresh(), "nor has a new thread"); });
  shared = 2;
  other.join();
  TwoThreads();
}
void Timers() {
  itimerval timer = {};
  Expect(getitimer(ITIMER_REAL, &timer) == 0 && timer.it_value.tv_sec == 0, "getitimer");
  timer.it_value.tv_sec = 1000;
  Expect(setitimer(ITIMER_REAL, &timer, nullptr) == 0, "setitimer");
  TwoThreads();
}

// ---- The process

void Directory() {
  char path[4096];
  Expect(getcwd(path, sizeof path) != nullptr && std::strcmp(path, "/") != 0, "getcwd");
  Expect(chdir("/") == 0, "chdir");
  TwoThreads();
}
void FileMask() {
  Expect(umask(0721) != 0721, "umask");
  TwoThreads();
}
void Limits() {
  rlimit limit = {};
  Expect(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != 57, "getrlimit");
  limit.rlim_cur = 57;
  Expect(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  TwoThreads();
}

// ---- Memory

constexpr size_t kPage = 4096;

char* Map(size_t size) {
  void* const place =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Expect(place != MAP_FAILED, "mmap");
  return static_cast<char*>(place);
}

// Each thread has memory of its own, wherever that of others was.
void MappedByEach() {
  const auto work = [] {
    char* const own = Map(2 * kPage);
    *own = 1;
    assert(own[0] == 1 && own[kPage] == 0);
    munmap(own, 2 * kPage);
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
}
// An address is a function of what its thread did before, not of the order of the threads.
void MappedAtTheSamePlace() {
  static std::atomic<int> count{0};
  static char* places[2];
  const auto work = [](int number) {
    const int order = count++;
    places[number] = Map(kPage);
    Map(kPage)[order] = 1;
  };
  std::thread a(work, 0), b(work, 1);
  a.join();
  b.join();
  Expect(places[0] < places[1] && places[0] != nullptr, "places");
}
void MappedInAllWays() {
  const auto work = [] {
    char* place = Map(4 * kPage);
    place[0] = 1;
    place[3 * kPage] = 7;
    ++shared;
    place = static_cast<char*>(mremap(place, 4 * kPage, 8 * kPage, MREMAP_MAYMOVE));
    assert(place[0] == 1 && place[3 * kPage] == 7 && place[7 * kPage] == 0);
    ++shared;
    assert(mremap(place, 8 * kPage, 2 * kPage, 0) == place && place[0] == 1);
    assert(madvise(place, 2 * kPage, MADV_DONTNEED) == 0 && place[0] == 0);
    void* const again =
        mmap(place, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert(again == place);
    munmap(place, 2 * kPage);
    const long raw = syscall(SYS_mmap, nullptr, kPage, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(*reinterpret_cast<char*>(raw) == 0);
    *reinterpret_cast<char*>(raw) = 1;
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
  const int file = open("/proc/self/exe", O_RDONLY);
  const void* const text = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE, file, 0);
  Expect(text != MAP_FAILED && std::memcmp(text, "\177ELF", 4) == 0, "mmap of a file");
}
void Break() {
  void* const before = sbrk(0);
  static char* const place = static_cast<char*>(sbrk(2 * kPage));
  Expect(place == before && place[0] == 0 && place[2 * kPage - 1] == 0, "sbrk");
  std::memset(place, 1, 2 * kPage);
  TwoThreads();
}
void Protected() {
  alignas(kPage) static char pages[3 * kPage];
  Expect(pages[0] == 0 && pages[kPage] == 0, "fresh");
  pages[0] = pages[kPage] = 1;
  Expect(mprotect(pages + kPage, kPage, PROT_NONE) == 0, "mprotect");
  TwoThreads();
}
// Made accessible without having been written before: the write counts all the same.
void MadeAccessible() {
  alignas(kPage) static char pages[2 * kPage];
  Expect(mprotect(pages, kPage, PROT_READ) == 0, "mprotect");
  Expect(pages[0] == 0, "fresh");
  Expect(mprotect(pages, kPage, PROT_READ | PROT_WRITE) == 0, "mprotect");
  pages[0] = 1;
  TwoThreads();
}
void KeptInMapping() {
  auto** const place = reinterpret_cast<void**>(Map(256 * kPage));
  place[100 * kPage / sizeof(void*)] = std::malloc(10);
  TwoThreads();
}
void LostWithMapping() {
  auto** const place = reinterpret_cast<void**>(Map(256 * kPage));
  place[100 * kPage / sizeof(void*)] = std::malloc(10);
  munmap(place, 256 * kPage);
  TwoThreads();
}
void UnmappedInOneOrder() {
  static std::mutex mutex;
  static char* const place = Map(kPage);
  std::thread other([] {
    const std::lock_guard<std::mutex> lock(mutex);
    munmap(place, kPage);
  });
  {
    const std::lock_guard<std::mutex> lock(mutex);
    *place = 1;
  }
  other.join();
}
void UnmappedInARace() {
  static char* const place = Map(kPage);
  std::thread other([] { munmap(place, kPage); });
  *place = 1;
  other.join();
}

// ---- What cannot be put back

// What an execution does depends on whether there was one before.
void LeavesAFile() {
  const char* const name = "corner_kernel_state.left";
  const bool is_there = access(name, F_OK) == 0;
  std::thread a([] { shared = 1; }), b([] { shared = 2; });
  if (is_there) shared = 3;
  a.join();
  b.join();
  close(open(name, O_CREAT | O_WRONLY, 0600));
}
// The first execution fails, and leaves what keeps the next from failing.
void FailsOnce() {
  const int file = open("corner_kernel_state.once", O_CREAT | O_EXCL | O_WRONLY, 0600);
  TwoThreads();
  Expect(file < 0, "made it");
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"left-open", LeftOpen},
    {"closed", Closed},
    {"closed-all", ClosedAll},
    {"flags-of-open-files", FlagsOfOpenFiles},
    {"handlers", Handlers},
    {"masks", Masks},
    {"alternate-stack", AlternateStack},
    {"timers", Timers},
    {"directory", Directory},
    {"file-mask", FileMask},
    {"limits", Limits},
    {"mapped-by-each", MappedByEach},
    {"mapped-at-the-same-place", MappedAtTheSamePlace},
    {"mapped-in-all-ways", MappedInAllWays},
    {"break", Break},
    {"protected", Protected},
    {"made-accessible", MadeAccessible},
    {"kept-in-mapping", KeptInMapping},
    {"lost-with-mapping", LostWithMapping},
    {"unmapped-in-one-order", UnmappedInOneOrder},
    {"unmapped-in-a-race", UnmappedInARace},
    {"leaves-a-file", LeavesAFile},
    {"fails-once", FailsOnce},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& one : kCases) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: corner_kernel_state CASE\n");
  return 2;
}
