// The threads library of C++20, one test for each part. All of them verify, but those that
// corners.txt says otherwise of.
#include <mc/mc.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>

MC_TEST(Async) {
  std::future<int> answer = std::async(std::launch::async, [] { return 42; });
  mc_assert(answer.get() == 42);
}

MC_TEST(AsyncThrows) {
  std::future<int> answer =
      std::async(std::launch::async, []() -> int { throw std::runtime_error("no answer"); });
  bool caught = false;
  try {
    answer.get();
  } catch (const std::runtime_error&) {
    caught = true;
  }
  mc_assert(caught);
}

MC_TEST(Promise) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread giver([&] { promise.set_value(7); });
  mc_assert(future.get() == 7);
  giver.join();
}

MC_TEST(BrokenPromise) {
  std::future<int> future;
  std::thread giver;
  {
    std::promise<int> promise;
    future = promise.get_future();
    giver = std::thread([promise = std::move(promise)] {});
  }
  bool broken = false;
  try {
    future.get();
  } catch (const std::future_error& error) {
    broken = error.code() == std::future_errc::broken_promise;
  }
  giver.join();
  mc_assert(broken);
}

MC_TEST(SharedFutureAndPackagedTask) {
  std::packaged_task<int()> task([] { return 3; });
  std::shared_future<int> future = task.get_future().share();
  std::thread runner(std::move(task));
  std::thread reader([future] { mc_assert(future.get() == 3); });
  mc_assert(future.get() == 3);
  runner.join();
  reader.join();
}

MC_TEST(Latch) {
  std::latch latch(2);
  int value = 0;
  std::thread other([&] {
    value = 1;
    latch.count_down();
  });
  latch.arrive_and_wait();
  mc_assert(value == 1);
  other.join();
}

MC_TEST(Barrier) {
  int completions = 0;
  auto completion = [&]() noexcept { ++completions; };
  std::barrier barrier(2, completion);
  std::thread other([&] { barrier.arrive_and_wait(); });
  barrier.arrive_and_wait();
  mc_assert(completions == 1);
  other.join();
}

// Few enough executions only if waiting for an atomic object does not ask again and again.
MC_TEST(BarrierLatchAndSemaphore) {
  static int values[2];
  static std::barrier<> meeting(2);
  static std::latch done(2);
  static std::counting_semaphore<2> tickets(0);
  const auto work = [](int who) {
    values[who] = 1;
    meeting.arrive_and_wait();
    mc_assert(values[1 - who] == 1);
    done.count_down();
    tickets.release();
  };
  std::thread one(work, 0), two(work, 1);
  done.wait();
  tickets.acquire();
  tickets.acquire();
  one.join();
  two.join();
}

MC_TEST(CountingSemaphore) {
  std::counting_semaphore<2> semaphore(0);
  int value = 0;
  std::thread other([&] {
    value = 1;
    semaphore.release(2);
  });
  semaphore.acquire();
  semaphore.acquire();
  mc_assert(value == 1);
  other.join();
}

MC_TEST(BinarySemaphoreTry) {
  std::binary_semaphore semaphore(1);
  std::atomic<int> inside{0};
  const auto enter = [&] {
    if (!semaphore.try_acquire()) return;
    mc_assert(++inside == 1);
    --inside;
    semaphore.release();
  };
  std::thread other(enter);
  enter();
  other.join();
}

MC_TEST(JoiningThreadAndStopToken) {
  std::atomic<bool> stopped{false};
  {
    std::jthread worker([&](std::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = true;
    });
  }  // asks it to stop and joins
  mc_assert(stopped);
}

MC_TEST(StopCallback) {
  std::stop_source source;
  std::atomic<int> calls{0};
  std::thread other([&] { source.request_stop(); });
  {
    std::stop_callback callback(source.get_token(), [&] { ++calls; });
    other.join();
  }
  mc_assert(calls == 1);
}

MC_TEST(CallOnce) {
  std::once_flag once;
  int calls = 0;
  const auto call = [&] { std::call_once(once, [&] { ++calls; }); };
  std::thread other(call);
  call();
  mc_assert(calls == 1);
  other.join();
}

MC_TEST(LocalStaticIsInitialisedOnce) {
  static int constructions = 0;
  struct Counted {
    Counted() { ++constructions; }
  };
  const auto use = [] {
    static Counted counted;
    mc_assert(constructions == 1);
  };
  std::thread other(use);
  use();
  other.join();
}

// Who has found that it was called is not protected by it from then on.
MC_TEST(CallOnceThenARace) {
  static std::once_flag once;
  static int value;
  std::call_once(once, [] {});
  const auto add = [] {
    std::call_once(once, [] {});
    ++value;
  };
  std::thread other(add);
  add();
  other.join();
}

// Nor who waited for another thread's initialisation.
MC_TEST(LocalStaticThenARace) {
  static int value;
  struct Slow {
    Slow() { std::this_thread::yield(); }
  };
  const auto add = [] {
    static Slow slow;
    ++value;
  };
  std::thread other(add);
  add();
  other.join();
}

MC_TEST(SharedMutex) {
  std::shared_mutex mutex;
  int value = 0;
  std::thread writer([&] {
    std::unique_lock lock(mutex);
    value = 1;
    value = 2;
  });
  {
    std::shared_lock lock(mutex);
    mc_assert(value != 1);
  }
  writer.join();
}

MC_TEST(AtomicWaitAndNotify) {
  std::atomic<int> value{0};
  std::thread other([&] {
    value = 1;
    value.notify_one();
  });
  value.wait(0);
  mc_assert(value == 1);
  other.join();
}

// Not woken: it depends on who comes first.
MC_TEST(AtomicWaitWithoutNotify) {
  static std::atomic<int> value{0};
  std::thread other([] { value = 1; });
  value.wait(0);
  other.join();
}

MC_TEST(AtomicReference) {
  int value = 0;
  const auto add = [&] { std::atomic_ref<int>(value).fetch_add(1); };
  std::thread other(add);
  add();
  other.join();
  mc_assert(value == 2);
}

MC_TEST(AtomicOfAStructure) {  // 16 bytes: through libatomic where there is no instruction for it
  struct Pair {
    long a, b;
  };
  std::atomic<Pair> pair{Pair{0, 0}};
  std::thread other([&] { pair.store(Pair{1, 1}); });
  const Pair seen = pair.load();
  mc_assert(seen.a == seen.b);
  other.join();
}

MC_TEST(AtomicFlag) {
  static std::atomic_flag flag;
  static int inside;
  const auto enter = [] {
    if (flag.test_and_set(std::memory_order_acquire)) return;
    ++inside;
    mc_assert(inside == 1);
    --inside;
    flag.clear(std::memory_order_release);
  };
  std::thread other(enter);
  enter();
  other.join();
}

MC_TEST(ConditionVariableAny) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool ready = false;
  std::thread waiter([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return ready; });
  });
  {
    std::lock_guard lock(mutex);
    ready = true;
  }
  changed.notify_one();
  waiter.join();
}

MC_TEST(ScopedLockOfTwo) {
  std::mutex a, b;
  std::thread other([&] { std::scoped_lock lock(a, b); });
  { std::scoped_lock lock(b, a); }
  other.join();
}

MC_TEST(SharedPointersAreCounted) {
  static std::atomic<int> destroyed{0};
  struct Counted {
    ~Counted() { ++destroyed; }
  };
  {
    auto pointer = std::make_shared<Counted>();
    std::thread other([copy = pointer]() mutable { copy.reset(); });
    pointer.reset();
    other.join();
  }
  mc_assert(destroyed == 1);
}

// A thread that is neither joined nor detached ends the program in its destructor.
MC_TEST(ForgottenJoin) {
  std::thread other([] {});
}

// Waits with a time-out first and then without, all inside one block.
MC_TEST(FutureWaitForThenGet) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread other([&] { promise.set_value(7); });
  (void)future.wait_for(std::chrono::milliseconds(1));
  mc_assert(future.get() == 7);
  other.join();
}

MC_MAIN();
