// Polls under reader-writer locks and spin locks, and back-off from them.
// tests/e2e/spin.test knows the final states of each, found by hand.
#include <mc/mc.h>
#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

std::shared_mutex shared;
pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER, other_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin_lock;
pthread_mutex_t p = PTHREAD_MUTEX_INITIALIZER, q = PTHREAD_MUTEX_INITIALIZER;
int seen = 1;  // what an observer saw, a bit each
int order;     // in which the threads had both locks
bool done, also_done;

void See(bool what) { seen = seen * 2 + what; }

void SetUnderWriteLock(bool& flag) {
  pthread_rwlock_wrlock(&lock);
  flag = true;
  pthread_rwlock_unlock(&lock);
}

void PollUnderReadLock(const bool& flag, bool yield) {
  while (true) {
    pthread_rwlock_rdlock(&lock);
    const bool ready = flag;
    pthread_rwlock_unlock(&lock);
    if (ready) return;
    if (yield) sched_yield();
  }
}

void PollUnderWriteLock(const bool& flag) {
  while (true) {
    pthread_rwlock_wrlock(&lock);
    const bool ready = flag;
    pthread_rwlock_unlock(&lock);
    if (ready) return;
    sched_yield();
  }
}

void PollUnderSpinLock(const bool& flag) {
  while (true) {
    pthread_spin_lock(&spin_lock);
    const bool ready = flag;
    pthread_spin_unlock(&spin_lock);
    if (ready) return;
    sched_yield();
  }
}

void TryToWrite() {
  const bool free = pthread_rwlock_trywrlock(&lock) == 0;
  if (free) pthread_rwlock_unlock(&lock);
  See(free);
}

void TryToRead() {
  const bool free = pthread_rwlock_tryrdlock(&lock) == 0;
  if (free) pthread_rwlock_unlock(&lock);
  See(free);
}

}  // namespace

MC_TEST(ReadLock) {
  std::thread other(PollUnderReadLock, std::ref(done), false);
  SetUnderWriteLock(done);
  other.join();
}

MC_TEST(ReadLockAndYield) {
  std::thread other(PollUnderReadLock, std::ref(done), true);
  SetUnderWriteLock(done);
  other.join();
}

MC_TEST(WriteLock) {
  std::thread other(PollUnderWriteLock, std::ref(done));
  SetUnderWriteLock(done);
  other.join();
}

MC_TEST(SharedMutexAndSleep) {
  std::thread other([] {
    while (true) {
      {
        std::shared_lock<std::shared_mutex> guard(shared);
        if (done) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  {
    std::unique_lock<std::shared_mutex> guard(shared);
    done = true;
  }
  other.join();
}

// The mutex that all poll under lies in the stack of one of them.
MC_TEST(OwnSharedMutex) {
  std::shared_mutex own;
  std::thread other([&own] {
    std::unique_lock<std::shared_mutex> guard(own);
    done = true;
  });
  while (true) {
    std::shared_lock<std::shared_mutex> guard(own);
    if (done) break;
    guard.unlock();
    std::this_thread::yield();
  }
  other.join();
}

MC_TEST(SpinLock) {
  pthread_spin_init(&spin_lock, 0);
  std::thread other(PollUnderSpinLock, std::ref(done));
  pthread_spin_lock(&spin_lock);
  done = true;
  pthread_spin_unlock(&spin_lock);
  other.join();
}

MC_TEST(TrySpinLock) {
  pthread_spin_init(&spin_lock, 0);
  pthread_spin_lock(&spin_lock);
  std::thread other([] {
    while (pthread_spin_trylock(&spin_lock) != 0) {
    }
    done = true;
    pthread_spin_unlock(&spin_lock);
  });
  pthread_spin_unlock(&spin_lock);
  other.join();
}

MC_TEST(ReadersPollEachOther) {
  const auto run = [](bool& mine, const bool& other) {
    SetUnderWriteLock(mine);
    PollUnderReadLock(other, true);
  };
  std::thread one(run, std::ref(done), std::ref(also_done)),
      two(run, std::ref(also_done), std::ref(done));
  one.join();
  two.join();
}

// A writer can find the polling reader at each try; it can never find a reader refused.
MC_TEST(ReaderIsObserved) {
  std::thread other(PollUnderReadLock, std::ref(done), true);
  TryToWrite();
  TryToWrite();
  TryToRead();
  SetUnderWriteLock(done);
  other.join();
}

// Readers too can find a polling writer at each try.
MC_TEST(WriterIsObserved) {
  std::thread other(PollUnderWriteLock, std::ref(done));
  TryToRead();
  TryToRead();
  SetUnderWriteLock(done);
  other.join();
}

// Each reads under one lock and backs off if it cannot write the other.
MC_TEST(BackOffFromReaders) {
  const auto run = [](pthread_rwlock_t* first, pthread_rwlock_t* second, int who) {
    while (true) {
      pthread_rwlock_rdlock(first);
      if (pthread_rwlock_trywrlock(second) == 0) break;
      pthread_rwlock_unlock(first);
      sched_yield();
    }
    order = order * 4 + who;
    pthread_rwlock_unlock(second);
    pthread_rwlock_unlock(first);
  };
  std::thread one(run, &lock, &other_lock, 1), two(run, &other_lock, &lock, 2);
  one.join();
  two.join();
}

// A reader is refused while a writer has the lock, however often others read.
MC_TEST(TryReadLock) {
  pthread_rwlock_wrlock(&lock);
  std::thread other([] {
    while (true) {
      pthread_mutex_lock(&p);
      const bool got = pthread_rwlock_tryrdlock(&lock) == 0;
      pthread_mutex_unlock(&p);
      if (got) break;
    }
    done = true;
    pthread_rwlock_unlock(&lock);
  });
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_rdlock(&lock);
  pthread_rwlock_unlock(&lock);
  other.join();
}

// Five tries, between which the thread changes nothing: the poller can be found at each.
MC_TEST(TriesAreObserved) {
  std::thread other([] {
    while (true) {
      pthread_mutex_lock(&q);
      const bool ready = done;
      pthread_mutex_unlock(&q);
      if (ready) return;
      sched_yield();
    }
  });
  sched_yield();
  pthread_mutex_lock(&p);
  pthread_mutex_unlock(&p);
  const auto found_free = [] {
    if (pthread_mutex_trylock(&q) != 0) return false;
    pthread_mutex_unlock(&q);
    return true;
  };
  bool free[5];
  for (bool& each : free) each = found_free();
  for (const bool each : free) See(each);
  pthread_mutex_lock(&q);
  done = true;
  pthread_mutex_unlock(&q);
  other.join();
}

MC_TEST(ReadLockForEver) {
  std::thread other(PollUnderReadLock, std::ref(done), true);
  other.join();
}

MC_TEST(SpinLockForEver) {
  pthread_spin_init(&spin_lock, 0);
  std::thread other(PollUnderSpinLock, std::ref(done));
  other.join();
}

// One tries p, then q, and gives up; the other backs off for as long as it cannot have q.
MC_TEST(GivesUpTheSecond) {
  std::thread one([] {
    pthread_mutex_lock(&p);
    bool got = pthread_mutex_trylock(&q) == 0;
    if (got) pthread_mutex_unlock(&q);
    pthread_mutex_unlock(&p);
    sched_yield();
    pthread_mutex_lock(&q);
    pthread_mutex_unlock(&q);
    done = true;
  });
  std::thread two([] {
    while (true) {
      pthread_rwlock_wrlock(&lock);
      if (pthread_mutex_trylock(&q) == 0) break;
      pthread_rwlock_unlock(&lock);
    }
    pthread_mutex_unlock(&q);
    pthread_rwlock_unlock(&lock);
  });
  one.join();
  two.join();
}
