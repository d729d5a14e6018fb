// Condition variables, semaphores, barriers, latches, std::atomic::wait, once. Instrumented.
#include "tests/campaign/objects.h"
#include "tests/campaign/operation.h"

namespace mc::campaign {
namespace {

#define BODY(name) long name(long, long)

BODY(WaitC) { return pthread_cond_wait(&objects.c, &objects.m); }
BODY(TimedWaitC) { return pthread_cond_timedwait(&objects.c, &objects.m, &kDeadline); }
BODY(SignalC) { return pthread_cond_signal(&objects.c); }
BODY(BroadcastC) { return pthread_cond_broadcast(&objects.c); }
BODY(WaitD) { return pthread_cond_wait(&objects.d, &objects.recursive); }
BODY(TimedWaitD) { return pthread_cond_timedwait(&objects.d, &objects.recursive, &kDeadline); }
BODY(SignalD) { return pthread_cond_signal(&objects.d); }

BODY(P) { return sem_wait(&objects.s); }
BODY(TryP) { return sem_trywait(&objects.s); }
BODY(TimedP) { return sem_timedwait(&objects.s, &kDeadline); }
BODY(V) { return sem_post(&objects.s); }
BODY(ValueOfS) {
  int value = 0;
  sem_getvalue(&objects.s, &value);
  return value;
}

BODY(Barrier) { return pthread_barrier_wait(&objects.g); }

BODY(CountDown) {
  objects.k.count_down();
  return 0;
}
BODY(WaitLatch) {
  objects.k.wait();
  return 0;
}
BODY(TryLatch) { return objects.k.try_wait() ? 1 : 0; }

BODY(WaitH) {
  objects.h.wait(0);
  return 0;
}
BODY(StoreH) {
  objects.h.store(1);
  return 0;
}
BODY(NotifyH) {
  objects.h.notify_one();
  return 0;
}
BODY(NotifyAllH) {
  objects.h.notify_all();
  return 0;
}

void OnceRoutine() {
  const int old = objects.a.load();
  objects.b.store(old + 2);
}
BODY(Once) { return pthread_once(&objects.o, OnceRoutine); }
BODY(CallOnce) {
  std::call_once(objects.f, OnceRoutine);
  return 0;
}
BODY(LocalStatic) {
  static const int value = objects.a.fetch_add(1) + 5;
  return value;
}

constexpr Success kZero = Success::kZero;
constexpr Success kAlways = Success::kAlways;
constexpr Needs kHeld = Needs::kHeld, kNothing = Needs::kNothing;
constexpr Takes kNone = Takes::kNothing;

constexpr Operation kOperations[] = {
    {"wait c", WaitC, kZero, kHeld, kNone, kMutexM, Always},
    {"r=timedwait c", TimedWaitC, kZero, kHeld, kNone, kMutexM, Always},
    {"signal c", SignalC, kZero, kNothing, kNone, kNoObject, SomebodyWaits},
    {"broadcast c", BroadcastC, kZero, kNothing, kNone, kNoObject, SomebodyWaits},
    {"wait d", WaitD, kZero, kHeld, kNone, kRecursive, Always},
    {"r=timedwait d", TimedWaitD, kZero, kHeld, kNone, kRecursive, Always},
    {"signal d", SignalD, kZero, kNothing, kNone, kNoObject, SomebodyWaits},
    {"P s", P, kZero, kNothing, kNone, kNoObject, SemaphoreIsZero},
    {"r=tryP s", TryP, kZero},
    {"r=timedP s", TimedP, kZero},
    {"V s", V, kZero},
    {"r=value s", ValueOfS},
    {"barrier g", Barrier, kAlways, kNothing, kNone, kNoObject, BarrierIsNotFull},
    {"countdown k", CountDown},
    {"wait k", WaitLatch, kAlways, kNothing, kNone, kNoObject, LatchIsNotOpen},
    {"r=try k", TryLatch, Success::kOne},
    {"wait h", WaitH, kAlways, kNothing, kNone, kNoObject, FlagIsZero},
    {"h=1", StoreH},
    {"notify h", NotifyH},
    {"notifyall h", NotifyAllH},
    {"once o", Once, kZero, kNothing, kNone, kNoObject, OnceIsRunning},
    {"callonce f", CallOnce},
    {"static", LocalStatic},
};

}  // namespace

std::span<const Operation> WaitingOperations() { return kOperations; }

}  // namespace mc::campaign
