// Threads, choices, failures, the end of the program, spin loops. Instrumented.
#include <mc/mc.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/campaign/objects.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

#define BODY(name) long name([[maybe_unused]] long last, long)

BODY(Create) { return StartThread(Child()); }
template <int thread>
BODY(Join) {
  return pthread_join(HandleOf(thread), nullptr);
}
template <int thread>
BODY(Detach) {
  return pthread_detach(HandleOf(thread));
}
BODY(ExitThread) { pthread_exit(nullptr); }
BODY(Yield) { return sched_yield(); }
BODY(Sleep) { return usleep(1000); }
// Whether the thread's clock has moved by an odd number of its ticks.
BODY(Clock) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_nsec / 1000 & 1;
}

BODY(Choose2) { return mc_choose(2); }
BODY(Choose3) { return mc_choose(3); }
BODY(AssumeZero) {
  mc_assume(last == 0);
  return last;
}
BODY(AssertZero) {
  mc_assert(last == 0);
  return last;
}
BODY(AssertOther) {
  mc_assert(last != 0);
  return last;
}
BODY(Fail) { mc_fail("failed on purpose"); }
BODY(Exit) { exit(0); }
BODY(ExitAtOnce) { _exit(0); }
BODY(ExitWithStatus) { exit(3); }

BODY(Deschedule) {
  mc_deschedule();
  return 0;
}
template <int thread>
BODY(Wake) {
  mc_make_runnable(thread);
  return 0;
}

BODY(SpinA) {
  while (objects.a.load() == 0) {
  }
  return 0;
}
BODY(SpinCasA) {
  int old = 0;
  while (!objects.a.compare_exchange_strong(old, 1)) old = 0;
  return 0;
}
BODY(SpinTryP) {
  while (sem_trywait(&objects.s) != 0) {
  }
  return 0;
}

constexpr Success kZero = Success::kZero;
constexpr Needs kKnown = Needs::kKnown;
constexpr Takes kThread = Takes::kThread;

constexpr Operation kOperations[] = {
    {"create", Create, kZero, Needs::kChild, Takes::kChild},
    {"join 1", Join<1>, kZero, kKnown, kThread, 1, IsNotFinished<1>},
    {"join 2", Join<2>, kZero, kKnown, kThread, 2, IsNotFinished<2>},
    {"join 3", Join<3>, kZero, kKnown, kThread, 3, IsNotFinished<3>},
    {"detach 1", Detach<1>, kZero, kKnown, kThread, 1},
    {"detach 2", Detach<2>, kZero, kKnown, kThread, 2},
    {"pthread_exit", ExitThread},
    {"yield", Yield},
    {"sleep", Sleep},
    {"r=clock", Clock},
    {"r=choose 2", Choose2},
    {"r=choose 3", Choose3},
    {"assume r==0", AssumeZero, Success::kLastZero},
    {"assert r==0", AssertZero, Success::kLastZero},
    {"assert r!=0", AssertOther},
    {"fail", Fail},
    {"exit", Exit},
    {"_exit", ExitAtOnce},
    {"exit 3", ExitWithStatus},
    {"deschedule", Deschedule},
    {"wake 1", Wake<1>},
    {"wake 2", Wake<2>},
    {"spin a", SpinA},
    {"spin cas a", SpinCasA},
    {"spin tryP s", SpinTryP},
};

}  // namespace

std::span<const Operation> OtherOperations() { return kOperations; }

}  // namespace mc::campaign
