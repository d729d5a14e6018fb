// Harnesses of unusual size; the argument says which.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::atomic<int> shared;
std::mutex mutex;
int guarded;

template <typename Body>
void RunThreads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// One lock: 200! orders.
void ThreadsOfOneLock() {
  RunThreads(200, [](int) {
    const std::lock_guard<std::mutex> lock(mutex);
    ++guarded;
  });
}

// No two have anything in common: one order.
void IndependentThreads() {
  static std::atomic<int> own[200];
  RunThreads(200, [](int i) { ++own[i]; });
}

// 100 MB, all of it written and read in every execution.
void LargeHeap() {
  constexpr std::size_t kSize = std::size_t{100} << 20;
  char* block = static_cast<char*>(std::malloc(kSize));
  std::memset(block, 1, kSize);
  RunThreads(2, [block](int i) {
    ++block[static_cast<std::size_t>(i) * (kSize / 2)];
    ++shared;
  });
  int sum = 0;
  for (std::size_t at = 0; at < kSize; at += 4096) sum += block[at];
  if (sum != 100 * 256 + 2) std::abort();
  std::free(block);
}

// 100,000 transitions and more.
void LongExecution() {
  std::thread one([] {
    for (int i = 0; i < 50000; ++i) ++shared;
  });
  std::thread other([] { ++shared; });
  one.join();
  for (int i = 0; i < 50000; ++i) ++shared;
  other.join();
}

// 10! = 3,628,800 orders.
void ManyExecutions() {
  RunThreads(10, [](int) { ++shared; });
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"threads-of-one-lock", ThreadsOfOneLock},
    {"independent-threads", IndependentThreads},
    {"large-heap", LargeHeap},
    {"long-execution", LongExecution},
    {"many-executions", ManyExecutions},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& one : kCases) {
    if (argc != 2 || std::strcmp(argv[1], one.name) != 0) continue;
    one.run();
    return 0;
  }
  std::fprintf(stderr, "usage: large CASE\n");
  return 2;
}
