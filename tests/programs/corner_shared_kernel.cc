// What one thread sets and another asks for by way of the kernel or the C library: signal actions,
// limits, what a file holds that is mapped, generators. corners.txt says what mc must make of each.
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "mc/mc.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunused-result"

namespace {

void Handle(int) {}

constexpr size_t kPage = 4096;

struct File {
  File() : descriptor(memfd_create("file", 0)) { mc_assert(ftruncate(descriptor, 2 * kPage) == 0); }
  ~File() { close(descriptor); }
  char* Map(int protection, off_t offset = 0) const {
    void* const place = mmap(nullptr, kPage, protection, MAP_SHARED, descriptor, offset);
    mc_assert(place != MAP_FAILED);
    return static_cast<char*>(place);
  }
  int descriptor;
};

char Load(const char* place) { return *static_cast<const volatile char*>(place); }

}  // namespace

MC_TEST(SignalAction) {
  std::thread other([] { signal(SIGUSR1, Handle); });
  struct sigaction action;
  sigaction(SIGUSR1, nullptr, &action);
  other.join();
  mc_assert(action.sa_handler != Handle);
}

MC_TEST(Limit) {
  const rlimit before = {30, 1024}, other_limit = {20, 1024};
  setrlimit(RLIMIT_NOFILE, &before);
  std::thread other([&] { setrlimit(RLIMIT_NOFILE, &other_limit); });
  rlimit now;
  getrlimit(RLIMIT_NOFILE, &now);
  other.join();
  mc_assert(now.rlim_cur == 30);
}

MC_TEST(ReadyWithoutWaiting) {
  int ends[2];
  pipe(ends);
  std::thread other([&] { write(ends[1], "a", 1); });
  pollfd file = {ends[0], POLLIN, 0};
  const int ready = poll(&file, 1, 0);
  other.join();
  close(ends[0]);
  close(ends[1]);
  mc_assert(ready == 0);
}

MC_TEST(GeneratorWithoutLock) {
  srand48(5);
  std::thread other([] { (void)drand48(); });
  (void)lrand48();
  other.join();
}

// What has been used of the processor differs from run to run, but not under mc.
MC_TEST(TimeUsed) {
  static std::mutex mutex;
  static int odd = 0;
  const auto ask = [] {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    tms used_too;
    const clock_t now = times(&used_too);
    rusage asked_directly;
    syscall(SYS_getrusage, RUSAGE_SELF, &asked_directly);
    const long sum = used.ru_minflt + used.ru_utime.tv_usec + now + asked_directly.ru_minflt +
                     asked_directly.ru_utime.tv_usec + sched_getcpu();
    const std::lock_guard<std::mutex> lock(mutex);
    if ((sum & 1) != 0) ++odd;
  };
  std::thread other(ask);
  ask();
  other.join();
}

MC_TEST(WritesWhatIsMapped) {
  const File file;
  const char* const place = file.Map(PROT_READ);
  std::thread other([&] { pwrite(file.descriptor, "x", 1, 0); });
  const char seen = Load(place);
  other.join();
  mc_assert(seen == 0);
}

MC_TEST(ReadsWhatIsMapped) {
  const File file;
  char* const place = file.Map(PROT_READ | PROT_WRITE);
  std::thread other([&] { *place = 'x'; });
  char seen = 0;
  pread(file.descriptor, &seen, 1, 0);
  other.join();
}

MC_TEST(WritesAnotherPart) {
  const File file;
  const char* const place = file.Map(PROT_READ);
  std::thread other([&] { pwrite(file.descriptor, "x", 1, kPage); });
  const char seen = Load(place);
  other.join();
  mc_assert(seen == 0);
}

MC_TEST(WritesWhatIsMappedInTurn) {
  static std::mutex mutex;
  const File file;
  const char* const place = file.Map(PROT_READ);
  std::thread other([&] {
    const std::lock_guard<std::mutex> lock(mutex);
    pwrite(file.descriptor, "x", 1, 0);
  });
  {
    const std::lock_guard<std::mutex> lock(mutex);
    (void)Load(place);
  }
  other.join();
  mc_assert(Load(place) == 'x');
}

MC_TEST(MappedTwice) {
  const File file;
  char* const one = file.Map(PROT_READ | PROT_WRITE);
  const char* const same = file.Map(PROT_READ);
  std::thread other([=] { *one = 1; });
  (void)Load(same);
  other.join();
}

MC_TEST(MappedTwiceAndMadeWritable) {
  const File file;
  char* const one = file.Map(PROT_READ);
  const char* const same = file.Map(PROT_READ);
  mprotect(one, kPage, PROT_READ | PROT_WRITE);
  *one = Load(same);
}

MC_TEST(MappedTwiceForReading) {
  const File file;
  const char *const one = file.Map(PROT_READ), *const same = file.Map(PROT_READ);
  std::thread other([=] { mc_assert(Load(one) == 0); });
  mc_assert(Load(same) == 0);
  other.join();
}

MC_TEST(MappedInTwoParts) {
  const File file;
  char* const one = file.Map(PROT_READ | PROT_WRITE);
  char* const next = file.Map(PROT_READ | PROT_WRITE, kPage);
  std::thread other([=] { *one = 1; });
  *next = 1;
  other.join();
}

MC_TEST(MappedOneAfterTheOther) {
  const File file;
  for (int i = 0; i < 3; ++i) {
    char* const place = file.Map(PROT_READ | PROT_WRITE);
    *place = static_cast<char>(Load(place) + 1);
    munmap(place, kPage);
  }
  char* const place = file.Map(PROT_READ);
  mc_assert(Load(place) == 3);
}
