// A thread that has made its last access has not yet ended, and others can tell without waiting for
// it. corners.txt says what mc must find in each.
#include <errno.h>
#include <mc/mc.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

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

// The last access may be that of a thread-specific destructor.
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

// A deleted key has no destructor call any more: also if it is deleted after the last access.
MC_TEST(KeyDeletedBeforeTheEnd) {
  static pthread_key_t key;
  static std::atomic<int> destroyed{0};
  pthread_key_create(&key, [](void*) { destroyed = 1; });
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        pthread_setspecific(key, &key);
        return MakeLastAccess(nullptr);
      },
      nullptr);
  const bool deletes = last == 1;
  if (deletes) pthread_key_delete(key);
  pthread_join(thread, nullptr);
  mc_assert(!deletes || destroyed == 1);
}

// What an attempt that failed has not seen, the join that follows sees.
MC_TEST(JoinedAfterAFailedTry) {
  static int plain;
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        plain = 1;
        return MakeLastAccess(nullptr);
      },
      nullptr);
  const int seen = last;
  if (pthread_tryjoin_np(thread, nullptr) != 0) pthread_join(thread, nullptr);
  mc_assert(plain == 1 && seen <= 1);
}
// Nor does it get lost on the way through another thread.
MC_TEST(JoinedByAThreadThatTried) {
  static int plain;
  static pthread_t first;
  pthread_create(
      &first, nullptr,
      [](void*) -> void* {
        plain = 1;
        return MakeLastAccess(nullptr);
      },
      nullptr);
  pthread_t second;
  pthread_create(
      &second, nullptr,
      [](void*) -> void* {
        const timespec deadline = InOneSecond(CLOCK_REALTIME);
        if (pthread_timedjoin_np(first, nullptr, &deadline) != 0) pthread_join(first, nullptr);
        return nullptr;
      },
      nullptr);
  pthread_join(second, nullptr);
  mc_assert(plain == 1);
}

MC_TEST(TryJoinOfItself) { mc_assert(TryJoin(pthread_self()) == EBUSY); }
MC_TEST(JoinWithoutDeadline) {
  mc_assert(pthread_timedjoin_np(Start(), nullptr, nullptr) == 0);
  mc_assert(pthread_clockjoin_np(Start(), nullptr, CLOCK_MONOTONIC, nullptr) == 0);
}

// The kernel knows no thread that has ended, joined or not.
MC_TEST(QueuedAfterTheEnd) {
  const pthread_t thread = Start();
  if (last == 1) mc_assert(pthread_sigqueue(thread, 0, sigval()) == 0);
  pthread_join(thread, nullptr);
}
MC_TEST(QueuedBeforeTheEnd) {
  const pthread_t thread = Start();
  if (last == 1) mc_assert(pthread_sigqueue(thread, 0, sigval()) == ESRCH);
  pthread_join(thread, nullptr);
}
template <int expected>
void SendByKernelId() {
  static std::atomic<pid_t> id{0};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        id = gettid();
        return nullptr;
      },
      nullptr);
  if (id != 0) mc_assert(tgkill(getpid(), id, 0) == expected);
  pthread_join(thread, nullptr);
  mc_assert(id == 0 || (tgkill(getpid(), id, 0) == -1 && errno == ESRCH));
}
MC_TEST(KernelIdAfterTheEnd) { SendByKernelId<0>(); }
MC_TEST(KernelIdBeforeTheEnd) { SendByKernelId<-1>(); }

// Only who unlocks a robust mutex without making it consistent makes it unrecoverable.
MC_TEST(RobustOwnersInARow) {
  static pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  const auto lock = [](void*) -> void* {
    return reinterpret_cast<void*>(static_cast<intptr_t>(pthread_mutex_lock(&mutex)));
  };
  for (int k = 0; k < 3; ++k) {
    pthread_t thread;
    pthread_create(&thread, nullptr, lock, nullptr);
    void* error;
    pthread_join(thread, &error);
    mc_assert(reinterpret_cast<intptr_t>(error) == (k == 0 ? 0 : EOWNERDEAD));
  }
  mc_assert(pthread_mutex_lock(&mutex) == EOWNERDEAD);
  pthread_mutex_unlock(&mutex);
  mc_assert(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
}
