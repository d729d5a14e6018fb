// Corner cases of condition variables and of loops that wait. corners.txt says what mc must find in
// each.
#include <linux/futex.h>
#include <mc/mc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::condition_variable changed;
bool ready = false;

void WaitForReady() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!ready) changed.wait(lock);
}

}  // namespace

MC_TEST(BroadcastWakesBoth) {
  std::thread one(WaitForReady), two(WaitForReady);
  {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    changed.notify_all();
  }
  one.join();
  two.join();
}

MC_TEST(SignalWakesOne) {
  std::thread one(WaitForReady), two(WaitForReady);
  {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    changed.notify_one();
  }
  one.join();
  two.join();
}

// The flag is set and the signal sent between the waiter's test and its wait.
MC_TEST(LostWakeUp) {
  static std::atomic<bool> flag{false};
  std::thread waiter([] {
    std::unique_lock<std::mutex> lock(mutex);
    if (!flag) changed.wait(lock);
  });
  flag = true;
  changed.notify_one();
  waiter.join();
}

MC_TEST(TimedWait) {
  std::thread setter([] {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    changed.notify_one();
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    const auto before = std::chrono::steady_clock::now();
    if (!ready && changed.wait_for(lock, std::chrono::seconds(1)) == std::cv_status::timeout) {
      mc_assert(std::chrono::steady_clock::now() - before >= std::chrono::seconds(1));
    }
  }
  setter.join();
}

MC_TEST(TimedWaitTimesOut) {
  std::thread setter([] {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
    changed.notify_one();
  });
  bool in_time = false;
  {
    std::unique_lock<std::mutex> lock(mutex);
    in_time = changed.wait_for(lock, std::chrono::hours(1), [] { return ready; });
  }
  setter.join();
  mc_assert(in_time);
}

// Waits again and again until it is true: a search of every number of time-outs would never end.
MC_TEST(TimedWaitInALoop) {
  std::thread setter([] {
    std::lock_guard<std::mutex> lock(mutex);
    ready = true;
  });
  {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ready) changed.wait_for(lock, std::chrono::milliseconds(1));
  }
  setter.join();
}

// Two threads that wait for each other in loops on memory.
MC_TEST(SpinForEachOther) {
  static std::atomic<bool> here{false}, there{false};
  std::thread other([] {
    there = true;
    while (!here) {
    }
  });
  here = true;
  while (!there) std::this_thread::yield();
  other.join();
}

// The same, but each waits before it speaks.
MC_TEST(SpinForEver) {
  static std::atomic<bool> here{false}, there{false};
  std::thread other([] {
    while (!here) {
    }
    there = true;
  });
  while (!there) {
  }
  here = true;
  other.join();
}

MC_TEST(SpinOnTryLock) {
  static int value = 0;
  const auto add = [] {
    while (!mutex.try_lock()) mc_spin_hint();
    ++value;
    mutex.unlock();
  };
  std::thread other(add);
  add();
  other.join();
  mc_assert(value == 2);
}

MC_TEST(SpinOnCompareExchange) {
  static std::atomic<int> value{0};
  const auto add = [] {
    int old = value.load();
    while (!value.compare_exchange_weak(old, old + 1)) {
    }
  };
  std::thread one(add), two(add);
  add();
  one.join();
  two.join();
  mc_assert(value == 3);
}

// mc_deschedule and mc_make_runnable: enough for an event.
MC_TEST(DescheduleUntilMadeRunnable) {
  static std::atomic<int> waiter{-1};
  static std::atomic<bool> done{false};
  std::thread other([] {
    mc_atomic_begin();
    if (!done) {
      waiter = mc_self();
      mc_deschedule();
    }
    mc_atomic_end();
    mc_assert(done);
  });
  mc_atomic_begin();
  done = true;
  if (waiter >= 0) mc_make_runnable(waiter);
  mc_atomic_end();
  other.join();
}

// A call of mc_make_runnable that is lost ends no wait of another kind.
MC_TEST(MadeRunnableWhileItWaitsForSomethingElse) {
  static std::atomic<int> waiter{-1};
  static std::atomic<bool> done{false};
  std::thread waiting([] {
    waiter = mc_self();
    done.wait(false);
  });
  std::thread ends_it([] {
    done = true;
    done.notify_one();
  });
  std::thread makes_it_runnable([] {
    const int number = waiter;
    if (number >= 0) mc_make_runnable(number);
  });
  waiting.join();
  ends_it.join();
  makes_it_runnable.join();
}

// A loop with a deadline runs into it, wherever in the loop it looks at the clock, and however many
// turns that takes.
MC_TEST(DeadlineOfAPoll) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  static std::atomic<bool> done{false};
  std::thread other([] { done = true; });
  const Clock::time_point end = Clock::now() + milliseconds(5);
  bool late = false;
  while (!done) {
    late = Clock::now() > end;
    if (late) break;
    std::this_thread::sleep_for(milliseconds(1));
  }
  other.join();
  mc_assert(!late);
}

MC_TEST(DeadlineBeforeASlowerThread) {
  static std::atomic<bool> done{false};
  std::thread other([] {
    sleep(5);
    done = true;
  });
  const time_t end = time(nullptr) + 2;
  bool late = false;
  for (;;) {
    usleep(100000);
    if (done) break;
    late = time(nullptr) >= end;
    if (late) break;
  }
  other.join();
  mc_assert(!late);
}

// A failed compare-exchange changes `expected`, here a field of a heap block: the next try
// succeeds.
MC_TEST(ExpectedOnTheHeap) {
  struct Node {
    Node* next;
  };
  static std::atomic<Node*> head{nullptr};
  const auto push = [] {
    Node* node = new Node;
    node->next = head.load();
    while (!head.compare_exchange_weak(node->next, node)) {
    }
  };
  std::thread other(push);
  push();
  other.join();
  int count = 0;
  while (Node* node = head.load()) {
    head = node->next;
    delete node;
    ++count;
  }
  mc_assert(count == 2);
}

// A semaphore that waits while the value is what it was before it asked: it may wait although the
// value is that again and nobody will tell. Only a thread switch right before the wait shows it.
MC_TEST(FutexWaitsForAStaleValue) {
  static std::atomic<int> count(1);
  const auto work = [] {
    for (;;) {
      const int before = count.load();
      if (count.load() == 1 && count.exchange(0) == 1) break;
      syscall(SYS_futex, &count, FUTEX_WAIT, before, nullptr, nullptr, 0);
    }
    count.fetch_add(1);
    syscall(SYS_futex, &count, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
}

MC_MAIN();

// The wait gives back one of two holds, so nobody else can wake it; but it may wake up spuriously,
// before or after the other thread has taken the lock for good.
MC_TEST(WaitThatKeepsAHold) {
  static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  std::thread writer([] { pthread_rwlock_wrlock(&lock); });
  std::thread waiter([] {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_cond_wait(&never, &recursive);
    pthread_rwlock_tryrdlock(&lock);
  });
  writer.join();
  waiter.join();
}
