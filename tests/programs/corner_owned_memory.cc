// Memory that looks like one thread's own for many executions (sched/owned_memory.h), until in one
// of them another thread comes. corners.txt says what mc must find in each.
#include <mc/mc.h>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>

namespace {

// Whether a thread saw the others' store, which it does in some of the executions.
std::atomic<bool> stored{false};
int value = 0;

}  // namespace

MC_TEST(SecondThreadComesLate) {
  std::thread owner([] { value = 1; });
  std::thread other([] {
    if (!stored.load()) value = 2;
  });
  stored.store(true);
  owner.join();
  other.join();
  mc_assert(value != 0);
}

MC_TEST(OwnerComesBackAfterHandingOver) {
  auto box = std::make_unique<int>(1);
  std::thread heir([&box] { *box += 1; });
  if (!stored.exchange(true)) *box += 1;
  heir.join();
}

MC_TEST(OwnerComesBackInSomeExecutions) {
  auto box = std::make_unique<int>(1);
  std::thread heir([&box] { *box += 1; });
  std::thread other([] { stored.store(true); });
  if (stored.load()) *box += 1;
  heir.join();
  other.join();
}

MC_TEST(HeirReadsInALaterBlock) {
  auto box = std::make_unique<int>(1);
  std::atomic<int> turn{0};
  std::thread heir([&] {
    if (turn.exchange(1) == 0) return;
    *box += 1;
  });
  turn.store(2);
  *box = 3;
  heir.join();
}

MC_TEST(FreedByAnotherInSomeExecutions) {
  auto* box = new int(1);
  std::thread other([box] {
    if (stored.load()) delete box;
  });
  *box = 2;
  stored.store(true);
  *box = 3;
  other.join();
}

MC_TEST(HandedThereAndBack) {
  auto box = std::make_unique<int>(1);
  for (int k = 0; k < 2; ++k) {
    std::thread heir([&box] { *box += 1; });
    heir.join();
  }
  mc_assert(*box == 3);
}

// The callback lies on the stack of the thread that waits, and is written by the one that stops it.
MC_TEST(StackThatOthersWriteToo) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::jthread waits([&](std::stop_token stop) {
    std::unique_lock lock(mutex);
    changed.wait(lock, stop, [] { return false; });
  });
}
