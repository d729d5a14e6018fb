// Corner cases of mutexes, reader-writer locks, barriers and semaphores. corners.txt says what mc
// must find in each.
#include <errno.h>
#include <mc/mc.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace {

timespec InOneSecond() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += 1;
  return time;
}

// A pthread mutex of some type.
class Mutex {
 public:
  explicit Mutex(int type, bool robust = false) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    mc_assert(pthread_mutex_init(&mutex_, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
  }
  ~Mutex() { pthread_mutex_destroy(&mutex_); }
  pthread_mutex_t* get() { return &mutex_; }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace

// A try-lock can fail, and mc has to try that.
MC_TEST(TryLockFails) {
  std::mutex mutex;
  std::thread other([&] { std::lock_guard<std::mutex> lock(mutex); });
  const bool locked = mutex.try_lock();
  if (locked) mutex.unlock();
  other.join();
  mc_assert(locked);
}

MC_TEST(LockOrder) {
  std::mutex a, b;
  std::thread other([&] {
    std::lock_guard<std::mutex> lock_a(a);
    std::lock_guard<std::mutex> lock_b(b);
  });
  {
    std::lock_guard<std::mutex> lock_b(b);
    std::lock_guard<std::mutex> lock_a(a);
  }
  other.join();
}

MC_TEST(LockedTwice) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
}

// Unlocked by a thread that does not hold it.
MC_TEST(UnlockedByAStranger) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  std::thread other([&] { pthread_mutex_unlock(&mutex); });
  other.join();
}

MC_TEST(DestroyedWhileHeld) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_destroy(&mutex);
}

// POSIX allows to destroy a mutex as soon as nobody holds it, even if its last user is still on the
// way out of unlock.
MC_TEST(DestroyedByItsLastUser) {
  struct Shared {
    std::mutex mutex;
    int users = 2;
    void Leave() {
      mutex.lock();
      const bool last = --users == 0;
      mutex.unlock();
      if (last) delete this;
    }
  };
  Shared* shared = new Shared;
  std::thread other([=] { shared->Leave(); });
  shared->Leave();
  other.join();
}

// Here the other one learns too early that it may delete: before the unlock.
MC_TEST(DestroyedTooEarly) {
  struct Shared {
    std::mutex mutex;
  };
  static std::atomic<bool> done{false};
  Shared* shared = new Shared;
  std::thread other([=] {
    shared->mutex.lock();
    done = true;
    shared->mutex.unlock();
  });
  if (done) {
    delete shared;
    other.join();
  } else {
    other.join();
    delete shared;
  }
}

MC_TEST(TimedWaitWithoutMutex) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  const timespec deadline = {1 << 30, 0};
  pthread_cond_timedwait(&condition, &mutex, &deadline);
}

// In every order the waiter meets a destroyed semaphore, or is there when it is destroyed.
MC_TEST(SemaphoreDestroyedUnderWaiter) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread other([] { sem_wait(&semaphore); });
  sem_destroy(&semaphore);
  other.join();
}

MC_TEST(RecursiveMutex) {
  Mutex mutex(PTHREAD_MUTEX_RECURSIVE);
  static int value;
  const auto add = [&] {
    pthread_mutex_lock(mutex.get());
    mc_assert(pthread_mutex_trylock(mutex.get()) == 0);
    ++value;
    pthread_mutex_unlock(mutex.get());
    ++value;
    pthread_mutex_unlock(mutex.get());
  };
  std::thread other(add);
  add();
  other.join();
  mc_assert(value == 4);
}

// Reports instead of blocking; that is its purpose, so no bug.
MC_TEST(ErrorCheckingMutex) {
  Mutex mutex(PTHREAD_MUTEX_ERRORCHECK);
  mc_assert(pthread_mutex_lock(mutex.get()) == 0);
  mc_assert(pthread_mutex_lock(mutex.get()) == EDEADLK);
  std::thread other([&] { mc_assert(pthread_mutex_unlock(mutex.get()) == EPERM); });
  other.join();
  mc_assert(pthread_mutex_unlock(mutex.get()) == 0);
  mc_assert(pthread_mutex_unlock(mutex.get()) == EPERM);
}

// Its owner ends without unlocking: the next one is told.
MC_TEST(RobustMutex) {
  Mutex mutex(PTHREAD_MUTEX_NORMAL, /*robust=*/true);
  std::thread owner([&] { mc_assert(pthread_mutex_lock(mutex.get()) == 0); });
  owner.join();
  mc_assert(pthread_mutex_lock(mutex.get()) == EOWNERDEAD);
  mc_assert(pthread_mutex_consistent(mutex.get()) == 0);
  mc_assert(pthread_mutex_unlock(mutex.get()) == 0);
}

// A thread that ends with a robust mutex gives it back only then, after all that it did.
MC_TEST(RobustMutexIsHeldToTheEnd) {
  Mutex mutex(PTHREAD_MUTEX_NORMAL, /*robust=*/true);
  std::atomic<int> done{0};
  std::thread owner([&] {
    pthread_mutex_lock(mutex.get());
    done = 1;
  });
  const bool is_done = done == 1;
  const int error = is_done ? pthread_mutex_trylock(mutex.get()) : EBUSY;
  mc_assert(!is_done || error != EBUSY);
  owner.join();
  if (error == EBUSY) pthread_mutex_lock(mutex.get());
  pthread_mutex_consistent(mutex.get());
  pthread_mutex_unlock(mutex.get());
}

MC_TEST(TimedLock) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::thread other([&] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  const timespec deadline = InOneSecond();
  const int error = pthread_mutex_timedlock(&mutex, &deadline);
  if (error == 0) {
    pthread_mutex_unlock(&mutex);
  } else {
    mc_assert(error == ETIMEDOUT);
  }
  other.join();
}

// The holder sleeps while it holds, so the time can run out.
MC_TEST(TimedLockTimesOut) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::thread other([&] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  const timespec deadline = InOneSecond();
  const int error = pthread_mutex_timedlock(&mutex, &deadline);
  if (error == 0) pthread_mutex_unlock(&mutex);
  other.join();
  mc_assert(error == 0);
}

MC_TEST(ReadersShareWritersDoNot) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static std::atomic<int> readers, writers;
  std::thread reader([&] {
    pthread_rwlock_rdlock(&lock);
    ++readers;
    mc_assert(writers == 0);
    --readers;
    pthread_rwlock_unlock(&lock);
  });
  pthread_rwlock_wrlock(&lock);
  ++writers;
  mc_assert(readers == 0);
  --writers;
  pthread_rwlock_unlock(&lock);
  reader.join();
}

// A read lock keeps no other reader out; a lock that was given back keeps nobody out.
namespace {
int counted;
void CountAsReader(pthread_rwlock_t* lock) {
  pthread_rwlock_rdlock(lock);
  ++counted;
  pthread_rwlock_unlock(lock);
}
void CountAfter(pthread_rwlock_t* lock, int (*take)(pthread_rwlock_t*)) {
  take(lock);
  pthread_rwlock_unlock(lock);
  ++counted;
}
void CountTwice(void (*count)(pthread_rwlock_t*)) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::thread other([&] { count(&lock); });
  count(&lock);
  other.join();
}
}  // namespace
MC_TEST(ReadersRace) { CountTwice(CountAsReader); }
MC_TEST(RaceAfterReading) {
  CountTwice([](pthread_rwlock_t* lock) { CountAfter(lock, pthread_rwlock_rdlock); });
}
MC_TEST(RaceAfterWriting) {
  CountTwice([](pthread_rwlock_t* lock) { CountAfter(lock, pthread_rwlock_wrlock); });
}

// A reader locks again while a writer may be waiting in between: who goes first depends on the
// kind.
void ReadTwiceWhileAWriterWaits(int kind) {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, kind);
  static pthread_rwlock_t lock;
  pthread_rwlock_init(&lock, &attributes);
  std::thread writer([] {
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
  });
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  writer.join();
  pthread_rwlock_destroy(&lock);
}
MC_TEST(ReadersBeforeWriters) { ReadTwiceWhileAWriterWaits(PTHREAD_RWLOCK_DEFAULT_NP); }
MC_TEST(WritersBeforeReaders) {
  ReadTwiceWhileAWriterWaits(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
}
MC_TEST(TryReadLockBehindAWriter) {
  static pthread_rwlock_t lock;
  lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  std::thread writer([] {
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
  });
  pthread_rwlock_rdlock(&lock);
  const int error = pthread_rwlock_tryrdlock(&lock);
  if (error == 0) pthread_rwlock_unlock(&lock);
  pthread_rwlock_unlock(&lock);
  writer.join();
  mc_assert(error == 0);
}

MC_TEST(ReadWriteTryAndTimed) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::thread other([&] {
    if (pthread_rwlock_trywrlock(&lock) == 0) pthread_rwlock_unlock(&lock);
  });
  const timespec deadline = InOneSecond();
  const int error = pthread_rwlock_timedrdlock(&lock, &deadline);
  mc_assert(error == 0 || error == ETIMEDOUT);
  if (error == 0) {
    mc_assert(pthread_rwlock_tryrdlock(&lock) == 0);  // readers share, also with themselves
    mc_assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
  }
  other.join();
}

MC_TEST(TryWriteLockFails) {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::thread reader([&] {
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
  });
  const int error = pthread_rwlock_trywrlock(&lock);
  if (error == 0) pthread_rwlock_unlock(&lock);
  reader.join();
  mc_assert(error == 0);
}

// Exactly one thread of each round is told that it is the serial one.
MC_TEST(BarrierForAll) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  static std::atomic<int> serial;
  const auto run = [&] {
    for (int round = 0; round < 2; ++round) {
      if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) ++serial;
    }
  };
  std::thread other(run);
  run();
  other.join();
  pthread_barrier_destroy(&barrier);
  mc_assert(serial == 2);
}

// Three threads at a barrier for two: one stays behind.
MC_TEST(BarrierForFewer) {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  std::thread one([] { pthread_barrier_wait(&barrier); });
  std::thread two([] { pthread_barrier_wait(&barrier); });
  pthread_barrier_wait(&barrier);
  one.join();
  two.join();
}

MC_TEST(SemaphoreAsLock) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  static int value;
  const auto add = [&] {
    sem_wait(&semaphore);
    ++value;
    sem_post(&semaphore);
  };
  std::thread other(add);
  add();
  other.join();
  int count = 0;
  mc_assert(sem_getvalue(&semaphore, &count) == 0 && count == 1);
  mc_assert(value == 2);
  sem_destroy(&semaphore);
}

MC_TEST(SemaphoreNeverPosted) {
  static sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  std::thread other([] { sem_wait(&semaphore); });
  sem_wait(&semaphore);
  other.join();
}

MC_TEST(SemaphoreTryAndTimed) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::thread other([&] { sem_post(&semaphore); });
  const timespec deadline = InOneSecond();
  const bool tried = sem_trywait(&semaphore) == 0;
  const bool timed = sem_timedwait(&semaphore, &deadline) == 0;
  mc_assert(!tried || !timed);
  other.join();
  sem_destroy(&semaphore);
}

MC_TEST(SpinLock) {
  pthread_spinlock_t lock;
  pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
  static int value;
  const auto add = [&] {
    pthread_spin_lock(&lock);
    ++value;
    pthread_spin_unlock(&lock);
  };
  std::thread other(add);
  add();
  other.join();
  pthread_spin_destroy(&lock);
  mc_assert(value == 2);
}

MC_TEST(JoinedTwice) {
  pthread_t thread;
  pthread_create(
      &thread, nullptr, [](void*) -> void* { return nullptr; }, nullptr);
  pthread_join(thread, nullptr);
  pthread_join(thread, nullptr);
}

MC_MAIN();
