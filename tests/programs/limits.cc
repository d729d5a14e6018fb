// What needs much of something that the system may limit; for tests/e2e/limits.test.
#include <mc/mc.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

// What is written here is not optimised away.
char* volatile g_kept[4096];

void FillBlock(std::size_t index, std::size_t size) {
  char* const block = static_cast<char*>(std::malloc(size));  // @filled
  std::memset(block, 1, size);
  g_kept[index] = block;
}

// Many blocks, each of which is little.
void FillMemory() {
  for (std::size_t i = 0; i < 4096; ++i) FillBlock(i, std::size_t{1} << 20);
}

// One block that is too much.
void FillOneBlock() {
  const std::size_t size = std::size_t{1} << 30;
  char* const block = static_cast<char*>(std::malloc(size));  // @one_block
  for (std::size_t at = 0; at < size; at += std::size_t{1} << 20) {
    std::memset(block + at, 1, std::size_t{1} << 20);
  }
  g_kept[0] = block;
}

// Holds more than it takes.
void HoldUntouched() {
  char* const block = static_cast<char*>(std::malloc(std::size_t{1} << 30));
  block[0] = 1;
  g_kept[0] = block;
  for (std::size_t i = 1; i < 100; ++i) g_kept[i] = static_cast<char*>(std::malloc(100));
  for (std::size_t i = 0; i < 100; ++i) std::free(g_kept[i]);
}

// Only few executions are large, and the first is not. All take some time, so that several
// processes get to run some.
void FillSometimes() {
  static std::atomic<int> sum;
  std::thread other([] { ++sum; });
  ++sum;
  other.join();
  const bool is_large = mc_choose(32) == 8;
  FillBlock(0, std::size_t{is_large ? 100u : 8u} << 20);
  std::free(g_kept[0]);
}

void MakeThreads(int count) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([] {});
  for (std::thread& thread : threads) thread.join();
}

// A data race, and a failed assertion because of it.
void Race() {
  static int plain;
  std::thread other([] { ++plain; });
  ++plain;
  other.join();
  assert(plain == 2);  // @asserted
}

// More than the limit on the size of files.
void WriteFile(const char* name) {
  static char part[1 << 20];
  std::FILE* const file = std::fopen(name, "w");
  std::setvbuf(file, nullptr, _IONBF, 0);
  for (int i = 0; i < 64; ++i) std::fwrite(part, 1, sizeof part, file);
  std::fclose(file);
}

// A compare-and-exchange that fails in some executions, and one writer.
void CompareExchange() {
  static std::atomic<int> value;
  static std::atomic<int> tries;
  std::thread other([] {
    value.store(1);  // @store
    value.store(2);
  });
  int expected = 1;
  if (value.compare_exchange_strong(expected, 3)) tries.fetch_add(1);  // @exchange
  other.join();
}

}  // namespace

int main(int count, char** arguments) {
  const char* const what = count > 1 ? arguments[1] : "";
  if (std::strcmp(what, "memory") == 0) std::thread(FillMemory).join();
  if (std::strcmp(what, "one-block") == 0) std::thread(FillOneBlock).join();
  if (std::strcmp(what, "untouched") == 0) HoldUntouched();
  if (std::strcmp(what, "sometimes") == 0) FillSometimes();
  if (std::strcmp(what, "threads") == 0) MakeThreads(count > 2 ? std::atoi(arguments[2]) : 20);
  if (std::strcmp(what, "race") == 0) Race();
  if (std::strcmp(what, "exchange") == 0) CompareExchange();
  if (std::strcmp(what, "file") == 0) WriteFile(arguments[2]);
}
