// System calls that write into the program's memory, and those that wait: one case for each, named
// by the first argument. corners.txt says what mc must make of it.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
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

// Memory that nothing has written before, in pages of its own.
template <typename T>
union Untouched {
  alignas(4096) char bytes[(sizeof(T) + 4095) / 4096 * 4096];
  T value;
  T* operator&() { return &value; }  // NOLINT: it stands for the value
};
#define UNTOUCHED(type, name) static Untouched<type> name

struct Pipe {
  Pipe() { Expect(pipe(ends) == 0, "pipe"); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int reader() const { return ends[0]; }
  void Put(const char* text) const {
    const auto size = static_cast<ssize_t>(std::strlen(text));
    Expect(write(ends[1], text, static_cast<size_t>(size)) == size, "write");
  }
  int ends[2];
};

// ---- What is written

void Status() {
  UNTOUCHED(rusage, usage);
  Expect(getrusage(RUSAGE_SELF, &usage) == 0, "getrusage");
  UNTOUCHED(rlimit, limit);
  Expect(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  UNTOUCHED(rlimit, limit2);
  Expect(prlimit(0, RLIMIT_NOFILE, nullptr, &limit2) == 0, "prlimit");
  UNTOUCHED(tms, used);
  Expect(times(&used) != -1, "times");
  UNTOUCHED(struct sysinfo, info);
  Expect(sysinfo(&info) == 0, "sysinfo");
  UNTOUCHED(struct statfs, files);
  Expect(statfs("/", &files) == 0, "statfs");
  UNTOUCHED(struct statvfs, files2);
  Expect(statvfs("/", &files2) == 0, "statvfs");
  UNTOUCHED(struct stat, status);
  Expect(stat("/", &status) == 0, "stat");
  UNTOUCHED(utsname, name);
  Expect(uname(&name) == 0, "uname");
  UNTOUCHED(cpu_set_t, cpus);
  Expect(sched_getaffinity(0, sizeof(cpu_set_t), &cpus) == 0, "sched_getaffinity");
  UNTOUCHED(struct sigaction, action);
  Expect(sigaction(SIGUSR1, nullptr, &action) == 0, "sigaction");
  UNTOUCHED(sigset_t, mask);
  Expect(sigprocmask(SIG_BLOCK, nullptr, &mask) == 0, "sigprocmask");
  UNTOUCHED(sigset_t, mask2);
  Expect(pthread_sigmask(SIG_BLOCK, nullptr, &mask2) == 0, "pthread_sigmask");
  UNTOUCHED(sigset_t, pending);
  Expect(sigpending(&pending) == 0, "sigpending");
  UNTOUCHED(stack_t, stack);
  Expect(sigaltstack(nullptr, &stack) == 0, "sigaltstack");
  UNTOUCHED(gid_t[1024], groups);
  Expect(getgroups(1024, *&groups) >= 0, "getgroups");
  UNTOUCHED(timespec, now);
  Expect(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0, "clock_gettime");
  UNTOUCHED(char[64], random);
  Expect(syscall(SYS_getrandom, *&random, 64, 0) == 64, "getrandom");
  UNTOUCHED(int, child);
  Expect(waitpid(-1, &child, 0) == -1 && errno == ECHILD, "waitpid");
  TwoThreads();
}

void Descriptors() {
  const Pipe pipe;
  pipe.Put("0123456789");
  UNTOUCHED(int, available);
  Expect(ioctl(pipe.reader(), FIONREAD, &available) == 0 && available.value == 10, "ioctl");
  UNTOUCHED(char[8192], text);
  const iovec parts[2] = {{*&text, 1}, {*&text + 8000, 2}};
  Expect(readv(pipe.reader(), parts, 2) == 3, "readv");
  UNTOUCHED(pollfd, entry);
  entry.value.fd = pipe.reader();
  entry.value.events = POLLIN;
  Expect(poll(&entry, 1, -1) == 1, "poll");
  Expect(ppoll(&entry, 1, nullptr, nullptr) == 1, "ppoll");
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe.reader(), &set);
  Expect(select(pipe.reader() + 1, &set, nullptr, nullptr, nullptr) == 1, "select");
  Expect(pselect(pipe.reader() + 1, &set, nullptr, nullptr, nullptr, nullptr) == 1, "pselect");
  const int epoll = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLONESHOT;
  Expect(epoll_ctl(epoll, EPOLL_CTL_ADD, pipe.reader(), &event) == 0, "epoll_ctl");
  UNTOUCHED(epoll_event[1000], events);
  Expect(epoll_wait(epoll, *&events, 1000, -1) == 1, "epoll_wait");
  Expect(epoll_wait(epoll, *&events, 1000, 0) == 0, "epoll_wait once more");
  close(epoll);
  const int zero = open("/dev/zero", O_RDONLY);
  UNTOUCHED(char[100], zeros);
  const iovec more[1] = {{*&zeros, 100}};
  Expect(preadv(zero, more, 1, 0) == 100, "preadv");
  close(zero);
  TwoThreads();
}

sockaddr_un AbstractAddress() {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, 60, "mc-corner-kernel-%d", static_cast<int>(getpid()));
  return address;
}

void Sockets() {
  const sockaddr_un address = AbstractAddress();
  const auto* const general = reinterpret_cast<const sockaddr*>(&address);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  Expect(bind(listener, general, sizeof address) == 0 && listen(listener, 4) == 0, "bind");
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  Expect(connect(client, general, sizeof address) == 0, "connect");
  UNTOUCHED(sockaddr_un, peer);
  static socklen_t size;
  size = sizeof(sockaddr_un);
  const int server = accept(listener, reinterpret_cast<sockaddr*>(&peer), &size);
  Expect(server >= 0, "accept");
  UNTOUCHED(sockaddr_un, name);
  size = sizeof(sockaddr_un);
  Expect(getpeername(client, reinterpret_cast<sockaddr*>(&name), &size) == 0, "getpeername");
  UNTOUCHED(sockaddr_un, own);
  size = sizeof(sockaddr_un);
  Expect(getsockname(server, reinterpret_cast<sockaddr*>(&own), &size) == 0, "getsockname");
  Expect(send(client, "0123456789", 10, 0) == 10, "send");
  UNTOUCHED(char[9000], text);
  UNTOUCHED(sockaddr_un, from);
  size = sizeof(sockaddr_un);
  Expect(recvfrom(server, *&text, 5, 0, reinterpret_cast<sockaddr*>(&from), &size) == 5,
         "recvfrom");
  iovec part = {*&text + 8500, 500};
  UNTOUCHED(msghdr, message);
  message.value.msg_iov = &part;
  message.value.msg_iovlen = 1;
  Expect(recvmsg(server, &message, 0) == 5, "recvmsg");
  UNTOUCHED(int, kind);
  size = sizeof(int);
  Expect(getsockopt(server, SOL_SOCKET, SO_TYPE, &kind, &size) == 0, "getsockopt");
  for (const int one : {listener, client, server}) close(one);
  TwoThreads();
}

// The C library calls the kernel itself, into memory of the program.
void FromInsideTheLibrary() {
  UNTOUCHED(char[100000], text);
  std::FILE* const file = std::fopen("/dev/zero", "r");
  Expect(file != nullptr && std::fread(*&text, 1, 100000, file) == 100000, "fread");
  std::fclose(file);
  UNTOUCHED(char[8192], buffer);
  UNTOUCHED(char[100], line);
  std::FILE* const buffered = std::fopen("/proc/self/status", "r");
  Expect(std::setvbuf(buffered, *&buffer, _IOFBF, 8192) == 0, "setvbuf");
  Expect(std::fgets(*&line, 100, buffered) != nullptr, "fgets");
  std::fclose(buffered);
  UNTOUCHED(char[PATH_MAX], path);
  Expect(realpath("/proc/self/cwd", *&path) != nullptr, "realpath");
  UNTOUCHED(char[PATH_MAX], directory);
  Expect(getcwd(*&directory, PATH_MAX) != nullptr, "getcwd");
  DIR* const entries = opendir("/");
  Expect(entries != nullptr && readdir(entries) != nullptr, "readdir");
  closedir(entries);
  UNTOUCHED(char[256], host);
  Expect(gethostname(*&host, 256) == 0, "gethostname");
  std::ifstream zeros("/dev/zero");
  UNTOUCHED(char[70000], more);
  Expect(!zeros.read(*&more, 70000).fail(), "ifstream::read");
  TwoThreads();
}

// The instruction itself.
void ByInstruction() {
  UNTOUCHED(rusage, usage);
  long result = SYS_getrusage;
#if defined(__x86_64__)
  asm volatile("syscall" : "+a"(result) : "D"(0L), "S"(&usage) : "rcx", "r11", "memory");
#endif
  Expect(result == 0, "getrusage by instruction");
  TwoThreads();
}

// With all signals blocked, the first write to a page still has to come through, and system calls
// too.
void AllSignalsBlocked() {
  UNTOUCHED(char[10], text);
  sigset_t all, old, now;
  sigfillset(&all);
  Expect(pthread_sigmask(SIG_BLOCK, &all, &old) == 0, "pthread_sigmask");
  *(*&text) = 1;
  std::printf("%d\n", static_cast<int>(*(*&text)));
  std::fflush(stdout);
  Expect(pthread_sigmask(SIG_SETMASK, &old, &now) == 0, "pthread_sigmask");
  Expect(sigismember(&now, SIGUSR1) == 1 && sigismember(&old, SIGUSR1) == 0, "the mask counts");
  TwoThreads();
}

void HandlerWithAllSignalsBlocked() {
  UNTOUCHED(volatile int, handled);
  struct sigaction action = {};
  action.sa_handler = [](int) {
    handled.value = handled.value + 1;
    std::printf("handled\n");
    std::fflush(stdout);
  };
  sigfillset(&action.sa_mask);
  handled.value = 0;
  Expect(sigaction(SIGUSR1, &action, nullptr) == 0, "sigaction");
  raise(SIGUSR1);
  kill(getpid(), SIGUSR1);
  Expect(handled.value == 2, "handled twice");
  signal(SIGUSR1, SIG_DFL);
  TwoThreads();
}

// ---- What is waited for

void WaitsForPoll() {
  const Pipe pipe;
  std::thread other([&] { pipe.Put("x"); });
  pollfd entry = {pipe.reader(), POLLIN, 0};
  Expect(poll(&entry, 1, -1) == 1, "poll");
  other.join();
}
void WaitsForSelect() {
  const Pipe pipe;
  std::thread other([&] { pipe.Put("x"); });
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe.reader(), &set);
  Expect(select(pipe.reader() + 1, &set, nullptr, nullptr, nullptr) == 1, "select");
  other.join();
}
void WaitsForEpoll() {
  const Pipe pipe;
  std::thread other([&] { pipe.Put("x"); });
  const int epoll = epoll_create1(0);
  epoll_event event = {};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, pipe.reader(), &event);
  Expect(epoll_wait(epoll, &event, 1, -1) == 1, "epoll_wait");
  other.join();
}
void WaitsForReadv() {
  const Pipe pipe;
  std::thread other([&] { pipe.Put("x"); });
  char byte;
  const iovec part = {&byte, 1};
  Expect(readv(pipe.reader(), &part, 1) == 1, "readv");
  other.join();
}
void WaitsForStream() {
  const Pipe pipe;
  std::thread other([&] { pipe.Put("x\n"); });
  std::FILE* const file = fdopen(dup(pipe.reader()), "r");
  Expect(std::fgetc(file) == 'x', "fgetc");
  std::fclose(file);
  other.join();
}
void WaitsForAccept() {
  const sockaddr_un address = AbstractAddress();
  const auto* const general = reinterpret_cast<const sockaddr*>(&address);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  Expect(bind(listener, general, sizeof address) == 0 && listen(listener, 4) == 0, "bind");
  std::thread other([&] {
    const int client = socket(AF_UNIX, SOCK_STREAM, 0);
    Expect(connect(client, general, sizeof address) == 0, "connect");
    close(client);
  });
  Expect(accept(listener, nullptr, nullptr) >= 0, "accept");
  other.join();
}
void WaitsForSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread other([] { kill(getpid(), SIGUSR2); });
  int number = 0;
  Expect(sigwait(&set, &number) == 0 && number == SIGUSR2, "sigwait");
  other.join();
}
void WaitsToWrite() {
  const Pipe pipe;
  std::thread other([&] {
    char text[65536];
    Expect(read(pipe.reader(), text, sizeof text) > 0, "read");
  });
  static char text[65536];
  for (int i = 0; i < 2; ++i) Expect(write(pipe.ends[1], text, sizeof text) > 0, "write");
  other.join();
}
// The signal is there already.
void SignalIsPending() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread other([] { shared = 1; });
  kill(getpid(), SIGUSR2);
  int number = 0;
  Expect(sigwait(&set, &number) == 0 && number == SIGUSR2, "sigwait");
  other.join();
}

void Spawns() {
  pid_t child = 0;
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  if (posix_spawnp(&child, name, nullptr, nullptr, arguments, environ) == 0) {
    waitpid(child, nullptr, 0);
  }
  TwoThreads();
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"status", Status},
    {"descriptors", Descriptors},
    {"sockets", Sockets},
    {"from-inside-the-library", FromInsideTheLibrary},
    {"by-instruction", ByInstruction},
    {"all-signals-blocked", AllSignalsBlocked},
    {"handler-with-all-signals-blocked", HandlerWithAllSignalsBlocked},
    {"waits-for-poll", WaitsForPoll},
    {"waits-for-select", WaitsForSelect},
    {"waits-for-epoll", WaitsForEpoll},
    {"waits-for-readv", WaitsForReadv},
    {"waits-for-stream", WaitsForStream},
    {"waits-for-accept", WaitsForAccept},
    {"waits-for-signal", WaitsForSignal},
    {"waits-to-write", WaitsToWrite},
    {"signal-is-pending", SignalIsPending},
    {"spawns", Spawns},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& one : kCases) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: corner_kernel CASE\n");
  return 2;
}
