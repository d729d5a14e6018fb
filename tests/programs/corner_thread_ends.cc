// A thread that has made its last access has not yet ended, and others can tell without waiting for
// it. corners.txt says what mc must find in each.
#include <errno.h>
#include <mc/mc.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>

namespace {

std::atomic<int> last{0};

void* MakeLastAccess(void*) {
  last = 1;
  return nullptr;
}

pthread_t Start() {
  pthread_t thread;
  mc_assert(pthread_create(&thread, nullptr, &MakeLastAccess, nullptr) == 0);
  return thread;
}

// What `join` returns where it is tried after the last access.
template <class Join>
void CheckJoin(Join join, int expected) {
  const pthread_t thread = Start();
  int error = EBUSY;
  if (last == 1) {
    error = join(thread);
    mc_assert(error == expected);
  }
  if (error != 0) pthread_join(thread, nullptr);
}

int TryJoin(pthread_t thread) { return pthread_tryjoin_np(thread, nullptr); }

timespec InOneSecond(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += 1;
  return time;
}

}  // namespace

MC_TEST(TryJoinFails) { CheckJoin(TryJoin, 0); }
MC_TEST(TryJoinSucceeds) { CheckJoin(TryJoin, EBUSY); }
MC_TEST(TimedJoinFails) {
  CheckJoin(
      [](pthread_t thread) {
        const timespec deadline = InOneSecond(CLOCK_REALTIME);
        return pthread_timedjoin_np(thread, nullptr, &deadline);
      },
      0);
}
MC_TEST(ClockJoinFails) {
  CheckJoin(
      [](pthread_t thread) {
        const timespec deadline = InOneSecond(CLOCK_MONOTONIC);
        return pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &deadline);
      },
      0);
}

// A signal that ends the program does so only while the thread is there.
MC_TEST(KilledAfterLastAccess) {
  const pthread_t thread = Start();
  if (last == 1) pthread_kill(thread, SIGTERM);
  pthread_join(thread, nullptr);
}
// There it is for sure not.
MC_TEST(KilledAfterJoin) {
  const pthread_t thread = Start();
  pthread_join(thread, nullptr);
  mc_assert(pthread_kill(thread, SIGTERM) == ESRCH);
}

// An end that comes after a wait, a failed try lock and a thread-specific destructor.
MC_TEST(EndAfterDestructor) {
  static pthread_key_t key;
  pthread_key_create(&key, [](void*) { last = 1; });
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_setspecific(key, &key);
        return nullptr;
      },
      nullptr);
  if (last == 1) mc_assert(pthread_tryjoin_np(thread, nullptr) == 0);
}
