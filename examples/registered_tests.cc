// Several tests in one file, explored choices and assumptions: what <mc/mc.h> adds to an ordinary
// program.
//
//   mc-c++ registered_tests.cc -o registered_tests
//   mc --list ./registered_tests
//   mc --test=TransferKeepsTheSum ./registered_tests
//
// Compiled with plain g++ the file is an ordinary program that runs each test once.
#include <mc/mc.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace {

struct Account {
  std::mutex mutex;
  int balance = 10;
};

void Transfer(Account& from, Account& to, int amount) {
  std::scoped_lock lock(from.mutex, to.mutex);  // locks both without risking a deadlock
  if (from.balance < amount) return;
  from.balance -= amount;
  to.balance += amount;
}

}  // namespace

// mc_choose tries every amount; no need for a loop or for random numbers.
MC_TEST(TransferKeepsTheSum) {
  Account a, b;
  const int amount = 5 * mc_choose(3);
  std::thread there([&] { Transfer(a, b, amount); });
  Transfer(b, a, 5);
  there.join();
  mc_log("moved %d", amount);
  mc_assert(a.balance + b.balance == 20);
}

// mc_assume leaves out what the test is not about: here, executions in which the reader came too
// early.
MC_TEST(ReleaseAcquirePublishes) {
  int payload = 0;
  std::atomic<bool> ready{false};
  std::thread writer([&] {
    payload = 42;
    ready.store(true, std::memory_order_release);
  });
  const bool seen = ready.load(std::memory_order_acquire);
  const int value = seen ? payload : 0;
  writer.join();
  mc_assume(seen);
  mc_assert(value == 42);
}

MC_MAIN();
