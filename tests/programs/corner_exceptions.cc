// Exceptions of the standard library, whose copies share a text that is counted in its library, and
// what it does when a thread ends. corners.txt says what mc must make of each.
#include <mc/mc.h>

#include <condition_variable>
#include <cstring>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wcatch-value"  // copies are what this is about
#endif

namespace {

const char kText[] = "a message that is long enough not to be in place";

}  // namespace

// ------------------------------------------------------------------------------------- exceptions

// Whoever drops the last copy frees the text.
MC_TEST(CopiesInTwoThreads) {
  auto original = std::make_unique<std::out_of_range>(kText);
  const auto use = [](std::out_of_range copy) { mc_assert(std::strlen(copy.what()) == 48); };
  std::thread one(use, *original), two(use, *original);
  original.reset();
  one.join();
  two.join();
}
MC_TEST(CopiedWhileAssigned) {
  static std::runtime_error shared("a");
  std::thread reader([] { std::runtime_error copy(shared); });
  shared = std::runtime_error("b");
  reader.join();
}
MC_TEST(MessageReadWhileDropped) {
  auto* const error = new std::logic_error(kText);
  std::thread reader([error] { mc_assert(error->what()[0] == 'a'); });
  delete error;
  reader.join();
}
MC_TEST(TextReadWhileChanged) {
  static std::string text = "x";
  std::thread thrower([] { std::runtime_error error(text); });
  text[0] = 'y';
  thrower.join();
}
MC_TEST(CaughtByValueInTwoThreads) {
  std::exception_ptr error =
      std::make_exception_ptr(std::system_error(EINVAL, std::generic_category(), kText));
  const auto rethrow = [](std::exception_ptr mine) {
    try {
      std::rethrow_exception(std::move(mine));
    } catch (std::system_error caught) {
      mc_assert(std::strncmp(caught.what(), kText, 48) == 0);
    }
  };
  std::thread other(rethrow, error);
  rethrow(std::move(error));
  other.join();
}
MC_TEST(FutureErrorPassedOn) {
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread giver([&] {
    try {
      promise.get_future();
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  });
  try {
    future.get();
    mc_assert(false);
  } catch (std::future_error error) {
    mc_assert(error.code() == std::future_errc::future_already_retrieved);
  }
  giver.join();
}

// ---------------------------------------------------------------------------- at the end of a
// thread

MC_TEST(ValueAtThreadExit) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread giver([](std::promise<int> mine) { mine.set_value_at_thread_exit(4); },
                    std::move(promise));
  mc_assert(future.get() == 4);
  giver.join();
}
MC_TEST(ValueAfterThreadLocals) {
  static bool dropped;
  struct Local {
    ~Local() { dropped = true; }
  };
  std::promise<void> promise;
  std::future<void> future = promise.get_future();
  std::thread giver([&] {
    thread_local Local local;
    (void)&local;
    promise.set_value_at_thread_exit();
  });
  future.get();
  mc_assert(dropped);
  giver.join();
}
// It is not there before the thread ends.
MC_TEST(ValueAtThreadExitTooEarly) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread giver([&] { promise.set_value_at_thread_exit(4); });
  mc_assert(future.wait_for(std::chrono::seconds(1)) == std::future_status::ready);
  giver.join();
}
MC_TEST(ExceptionAtThreadExit) {
  std::promise<int> promise;
  std::future<int> future = promise.get_future();
  std::thread giver([&] {
    promise.set_exception_at_thread_exit(std::make_exception_ptr(std::domain_error(kText)));
  });
  bool thrown = false;
  try {
    future.get();
  } catch (std::domain_error error) {
    thrown = std::strlen(error.what()) == 48;
  }
  mc_assert(thrown);
  giver.join();
}
MC_TEST(TaskAtThreadExit) {
  static int value = 0;
  std::packaged_task<void()> task([] { value = 1; });
  std::future<void> future = task.get_future();
  std::thread runner([&] { task.make_ready_at_thread_exit(); });
  future.get();
  mc_assert(value == 1);
  runner.join();
}
MC_TEST(NotificationAtThreadExit) {
  std::mutex lock;
  std::condition_variable changed;
  bool done = false;
  std::thread notifier([&] {
    std::unique_lock<std::mutex> hold(lock);
    done = true;
    std::notify_all_at_thread_exit(changed, std::move(hold));
  });
  {
    std::unique_lock<std::mutex> hold(lock);
    changed.wait(hold, [&] { return done; });
  }
  notifier.join();
}

MC_MAIN();
