// Loops that lock, fail to lock a second mutex and unlock again, polls under a mutex, loops whose
// thread has on its stack what others write, and waits with a time-out in a loop.
// tests/e2e/spin.test knows the final states of each, found by hand.
#include <mc/mc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <semaphore>
#include <thread>

namespace {

std::mutex a, b, c;
pthread_mutex_t p = PTHREAD_MUTEX_INITIALIZER, q = PTHREAD_MUTEX_INITIALIZER;
int order;     // in which the threads had both locks
int got[2];    // who had them
int seen = 1;  // what an observer saw, a bit each
bool done, also_done;
std::atomic<int> x, found;
std::binary_semaphore binary(0);
std::counting_semaphore<2> counting(0);

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

// While main waits for x, another thread writes what lies in main's stack. Whether it has done so
// is no business of main's.
MC_TEST(WrittenByOthers) {
  std::atomic<int> own(0);
  std::thread one([&own] {
    found = x.load();
    own = 1;
  });
  std::thread two([] {
    x = 0;
    x = 1;
  });
  while (x == 0) {
  }
  one.join();
  two.join();
  mc_assert(own == 1);
}

MC_TEST(PostedByOthers) {
  sem_t own;
  sem_init(&own, 0, 0);
  std::thread one([&own] {
    found = x.load();
    sem_post(&own);
  });
  std::thread two([] {
    x = 0;
    x = 1;
  });
  while (x == 0) {
  }
  one.join();
  two.join();
}

// What others write to the stack is waited for if the loop reads it.
MC_TEST(ReadsWhatOthersWrite) {
  std::atomic<int> own(0);
  std::thread one([&own] {
    own = 1;
    own = 2;
  });
  while (own != 2) {
  }
  one.join();
}

// The loop itself writes it too: no iteration is like the one before.
MC_TEST(WritesWhatOthersWrite) {
  std::atomic<int> own(0);
  std::thread one([&own] { own = 8; });
  int i = 0;
  while (x == 0 && i < 4) own = ++i;
  one.join();
  found = own.load();
}

MC_TEST(TimedSemaphore) {
  std::thread one([] { binary.release(); });
  while (!binary.try_acquire_for(std::chrono::milliseconds(1))) {
  }
  one.join();
}

MC_TEST(TimedSemaphoreTwice) {
  std::thread one([] { counting.release(2); });
  for (int i = 0; i < 2; i += counting.try_acquire_for(std::chrono::milliseconds(1)) ? 1 : 0) {
  }
  one.join();
}

MC_TEST(TimedSemaphoreForEver) {
  while (!binary.try_acquire_for(std::chrono::milliseconds(1))) {
  }
}

MC_TEST(PollFuture) {
  auto result = std::async(std::launch::async, [] { return 1; });
  while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    std::this_thread::yield();
  }
  mc_assert(result.get() == 1);
}
