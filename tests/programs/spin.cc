// Loops that lock, fail to lock a second mutex and unlock again, and polls under a mutex.
// tests/e2e/spin.test knows the final states of each, found by hand.
#include <mc/mc.h>
#include <pthread.h>
#include <sched.h>

#include <functional>
#include <mutex>
#include <thread>

namespace {

std::mutex a, b, c;
pthread_mutex_t p = PTHREAD_MUTEX_INITIALIZER, q = PTHREAD_MUTEX_INITIALIZER;
int order;     // in which the threads had both locks
int got[2];    // who had them
int seen = 1;  // what an observer saw, a bit each
bool done, also_done;

void Both(std::mutex& first, std::mutex& second, int who) {
  std::scoped_lock lock(first, second);
  order = order * 4 + who;
}

// Locks both or, after so many failures, neither.
bool BackOff(pthread_mutex_t* first, pthread_mutex_t* second, bool yield, int tries) {
  for (int i = 0; tries == 0 || i < tries; i += tries == 0 ? 0 : 1) {
    pthread_mutex_lock(first);
    if (pthread_mutex_trylock(second) == 0) return true;
    pthread_mutex_unlock(first);
    if (yield) sched_yield();
  }
  return false;
}

void BothByHand(pthread_mutex_t* first, pthread_mutex_t* second, bool yield, int tries, int who) {
  if (!BackOff(first, second, yield, tries)) return;
  order = order * 4 + who;
  got[who - 1] = 1;
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

void Try(std::mutex& mutex) {
  const bool free = mutex.try_lock();
  if (free) mutex.unlock();
  seen = seen * 2 + free;
}

void PollUntil(const bool& flag, bool yield) {
  while (true) {
    {
      std::lock_guard<std::mutex> lock(a);
      if (flag) return;
    }
    if (yield) std::this_thread::yield();
  }
}

void Set(bool& flag) {
  std::lock_guard<std::mutex> lock(a);
  flag = true;
}

}  // namespace

MC_TEST(ScopedLock) {
  std::thread one(Both, std::ref(a), std::ref(b), 1), two(Both, std::ref(b), std::ref(a), 2);
  one.join();
  two.join();
}

MC_TEST(BackOffByHand) {
  std::thread one(BothByHand, &p, &q, false, 0, 1), two(BothByHand, &q, &p, false, 0, 2);
  one.join();
  two.join();
}

MC_TEST(BackOffAndYield) {
  std::thread one(BothByHand, &p, &q, true, 0, 1), two(BothByHand, &q, &p, true, 0, 2);
  one.join();
  two.join();
}

MC_TEST(BothGiveUp) {
  std::thread one(BothByHand, &p, &q, false, 3, 1), two(BothByHand, &q, &p, false, 3, 2);
  one.join();
  two.join();
}

MC_TEST(OneGivesUp) {
  std::thread one(BothByHand, &p, &q, false, 3, 1), two(BothByHand, &q, &p, false, 0, 2);
  one.join();
  two.join();
}

// While main has b, the other thread has a for at most one stretch of time.
MC_TEST(ObservedFromOutside) {
  b.lock();
  std::thread other(Both, std::ref(a), std::ref(b), 1);
  for (int i = 0; i < 3; ++i) Try(a);
  b.unlock();
  other.join();
}

MC_TEST(Poll) {
  std::thread other(PollUntil, std::ref(done), false);
  Set(done);
  other.join();
}

MC_TEST(PollAndYield) {
  std::thread other(PollUntil, std::ref(done), true);
  Set(done);
  other.join();
}

MC_TEST(PollEachOther) {
  std::thread one([] {
    Set(done);
    PollUntil(also_done, false);
  });
  std::thread two([] {
    Set(also_done);
    PollUntil(done, false);
  });
  one.join();
  two.join();
}

// Whoever polls can be found with the mutex at each try.
MC_TEST(PollIsObserved) {
  std::thread other(PollUntil, std::ref(done), true);
  Try(a);
  Try(a);
  Set(done);
  other.join();
}

MC_TEST(PollForEver) {
  std::thread other(PollUntil, std::ref(done), true);
  other.join();
}

// Each keeps what the other one tries; the third mutex they lock and unlock.
MC_TEST(KeepAndTry) {
  const auto run = [](std::mutex& own, std::mutex& other) {
    std::lock_guard<std::mutex> lock(own);
    while (true) {
      std::lock_guard<std::mutex> third(c);
      if (other.try_lock()) break;
    }
    other.unlock();
  };
  std::thread one(run, std::ref(a), std::ref(b)), two(run, std::ref(b), std::ref(a));
  one.join();
  two.join();
}
