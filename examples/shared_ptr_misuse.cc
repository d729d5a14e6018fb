// std::shared_ptr counts references safely. Reading and assigning *the same* shared_ptr object from
// two threads is not safe.
//
// A copy first reads where the count is and then increments it. If the other thread drops the last
// reference in between, the count it increments has been freed. With -DFIXED a mutex protects the
// pointer.
//
// C++20 has std::atomic<std::shared_ptr> for this; try it with -DATOMIC. In libstdc++ 12 its load()
// releases its internal lock with memory_order_relaxed, and by the rules of the language nothing
// orders its read before the next thread's write: mc reports that as the data race it is, although
// no interleaving goes wrong.
#include <atomic>
#include <cassert>
#include <memory>
#include <mutex>
#include <thread>

#if defined(ATOMIC)
static std::atomic<std::shared_ptr<int>> current{std::make_shared<int>(1)};
static std::shared_ptr<int> Get() { return current.load(); }
static void Set(std::shared_ptr<int> value) { current.store(std::move(value)); }
#elif defined(FIXED)
static std::mutex mutex;
static std::shared_ptr<int> current = std::make_shared<int>(1);
static std::shared_ptr<int> Get() {
  std::lock_guard<std::mutex> lock(mutex);
  return current;
}
static void Set(std::shared_ptr<int> value) {
  std::lock_guard<std::mutex> lock(mutex);
  current.swap(value);  // the old one is dropped after the lock
}
#else
static std::shared_ptr<int> current = std::make_shared<int>(1);
static std::shared_ptr<int> Get() { return current; }
static void Set(std::shared_ptr<int> value) { current = std::move(value); }
#endif

int main() {
  std::thread reader([] {
    const std::shared_ptr<int> mine = Get();
    assert(*mine == 1 || *mine == 2);
  });
  Set(std::make_shared<int>(2));
  reader.join();
}
