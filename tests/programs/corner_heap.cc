// Misuse of the heap. corners.txt says what mc must find in each.
#include <mc/mc.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wuse-after-free"
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"

namespace {

// What comes out is what went in, but the compiler cannot know that.
template <typename T>
T* Opaque(T* pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

}  // namespace

MC_TEST(UseAfterFree) {
  static int* shared = nullptr;
  shared = new int(1);
  static std::atomic<bool> freed{false};
  std::thread other([] {
    if (!freed) *shared = 2;
  });
  freed = true;
  delete shared;
  other.join();
}

// The access fails in the order that is run first; in the other one it does not, and what comes
// after it is a bug of its own.
MC_TEST(UsedAfterOrBeforeItIsFreed) {
  auto* const value = new std::atomic<int>(1);
  std::thread other([value] {
    ++*value;
    abort();
  });
  delete value;
  other.join();
}

MC_TEST(ReadAfterFree) {
  int* value = new int(1);
  delete Opaque(value);
  mc_log("%d", *Opaque(value));  // the result must be used to be read at all
}

// Through a function of the C library, which is not compiled for mc.
MC_TEST(CopyAfterFree) {
  char* from = static_cast<char*>(std::malloc(16));
  std::memset(from, 'x', 16);
  std::free(Opaque(from));
  char to[16];
  std::memcpy(Opaque(&to[0]), Opaque(from), 16);
}

MC_TEST(DoubleFree) {
  void* block = std::malloc(10);
  std::free(Opaque(block));
  std::free(Opaque(block));
}

// Both see that it is not yet freed.
MC_TEST(DoubleFreeInOneOrder) {
  static std::atomic<bool> freed{false};
  static void* block = nullptr;
  block = std::malloc(10);
  const auto release = [] {
    if (!freed) {
      freed = true;
      std::free(block);
    }
  };
  std::thread other(release);
  release();
  other.join();
}

// What it frees may be free, or another block, of another size, at the same address.
static std::atomic<void*> kept{nullptr};
static void AllocateTwice() {
  void* const first = std::malloc(10);
  kept = first;
  std::free(first);
  kept = std::malloc(16);
}
MC_TEST(FreeOfAnotherSize) {
  std::thread other(AllocateTwice);
  std::free(kept.load());
  other.join();
}

MC_TEST(ReallocationOfAnotherSize) {
  std::thread other(AllocateTwice);
  if (void* const block = kept) kept = std::realloc(block, 100);
  other.join();
}

MC_TEST(MismatchedDelete) { delete Opaque(new int[4]); }

MC_TEST(FreeOfWhatNewMade) { std::free(Opaque(new int)); }

MC_TEST(FreeOfTheMiddle) {
  char* block = static_cast<char*>(std::malloc(32));
  std::free(Opaque(block) + 8);
}

MC_TEST(FreeOfTheStack) {
  int local = 0;
  std::free(Opaque(&local));
}

MC_TEST(Leak) {
  void* block = std::malloc(24);
  std::memset(Opaque(block), 0, 24);
}

// Reachable from a global: kept, not leaked.
MC_TEST(KeptToTheEnd) {
  static std::vector<int>* volatile kept = nullptr;
  kept = new std::vector<int>(10);
  kept->front() = 1;
}

MC_TEST(Overrun) {
  char* block = static_cast<char*>(std::malloc(10));
  *Opaque(block + 10) = 1;
  std::free(block);
}

MC_TEST(Underrun) {
  char* block = static_cast<char*>(std::malloc(10));
  *Opaque(block - 1) = 1;
  std::free(block);
}

// An error only before the neighbour is allocated or after it is freed; the creation of the thread
// and the allocation have no access to shared memory between them.
MC_TEST(OverrunIntoNeighbour) {
  int* block = static_cast<int*>(std::malloc(16 * sizeof(int)));
  volatile int size = 16;
  std::thread other([&] { block[size + 8] = 1; });
  int* neighbour = static_cast<int*>(std::malloc(16 * sizeof(int)));
  neighbour[0] = 0;
  other.join();
  std::free(block);
  std::free(neighbour);
}

MC_TEST(ReallocAndAligned) {
  char* block = static_cast<char*>(std::malloc(10));
  std::strcpy(block, "unchanged");
  block = static_cast<char*>(std::realloc(block, 5000));
  mc_assert(std::strcmp(block, "unchanged") == 0);
  std::free(block);
  void* aligned = nullptr;
  mc_assert(posix_memalign(&aligned, 256, 100) == 0);
  mc_assert(reinterpret_cast<uintptr_t>(aligned) % 256 == 0);
  std::free(aligned);
  int* zeros = static_cast<int*>(std::calloc(25, sizeof(int)));
  for (int i = 0; i < 25; ++i) mc_assert(zeros[i] == 0);
  std::free(zeros);
  struct alignas(64) Wide {
    char bytes[64];
  };
  Wide* wide = new Wide;
  mc_assert(reinterpret_cast<uintptr_t>(wide) % 64 == 0);
  delete wide;
}

// A freed block is handed out again, with what was in it, and that is fine.
MC_TEST(Recycled) {
  static std::atomic<int> sum{0};
  const auto run = [] {
    for (int i = 0; i < 3; ++i) {
      int* value = new int(i);
      sum += *value;
      delete value;
    }
  };
  std::thread other(run);
  run();
  other.join();
  mc_assert(sum == 6);
}

MC_MAIN();
