// Functions of the C library that read or write a buffer of the program: what they touch counts.
// corners.txt says what mc must make of each.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

#include "mc/mc.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wuse-after-free"
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wformat-truncation"

namespace {

struct Pipe {
  Pipe() { mc_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  int ends[2];
};

// The compiler does not see where it points.
char* Block(size_t size) {
  char* block = static_cast<char*>(std::malloc(size));
  std::memset(block, 'x', size);
  asm volatile("" : "+r"(block));
  return block;
}
char* FreedBlock() {
  char* block = Block(16);
  char* const same = block;
  std::free(block);
  return same;
}

}  // namespace

MC_TEST(WritesFreedMemory) {
  const Pipe pipe;
  write(pipe.ends[1], FreedBlock(), 16);
}
MC_TEST(PrintsFreedMemory) { std::fwrite(FreedBlock(), 1, 16, stdout); }
MC_TEST(SendsFreedMemory) {
  const Pipe pipe;
  send(pipe.ends[1], FreedBlock(), 16, 0);
}
MC_TEST(ReadsIntoFreedMemory) {
  const Pipe pipe;
  write(pipe.ends[1], "abc", 3);
  read(pipe.ends[0], FreedBlock(), 3);
}
MC_TEST(StreamsIntoFreedMemory) {
  std::FILE* const file = std::fopen("/dev/zero", "r");
  std::fread(FreedBlock(), 1, 16, file);
  std::fclose(file);
}
MC_TEST(ReadsBeyondTheBlock) {
  const Pipe pipe;
  write(pipe.ends[1], "0123456789", 10);
  char* const block = Block(8);
  read(pipe.ends[0], block, 10);
  std::free(block);
}
MC_TEST(FormatsBeyondTheBlock) {
  char* const block = Block(8);
  volatile size_t size = 100;
  std::snprintf(block, size, "%d", 1234567890);
  std::free(block);
}

// The size that is passed is larger than the block, but what comes is not.
MC_TEST(ShortRead) {
  const Pipe pipe;
  write(pipe.ends[1], "0123456", 7);
  char* const block = Block(8);
  mc_assert(read(pipe.ends[0], block, 100) == 7);
  std::free(block);
}
MC_TEST(ShortFormat) {
  char* const block = Block(8);
  volatile size_t size = 100;
  mc_assert(std::snprintf(block, size, "%d", 1234) == 4);
  std::free(block);
}

namespace {
char text[64];
int numbers[8];
int Compare(const void* a, const void* b) {
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}
}  // namespace

MC_TEST(RacingWrite) {
  const Pipe pipe;
  std::thread other([] { text[3] = 1; });
  write(pipe.ends[1], text, 8);
  other.join();
}
MC_TEST(RacingRead) {
  const Pipe pipe;
  write(pipe.ends[1], "01234567", 8);
  std::thread other([] { text[3] = 1; });
  read(pipe.ends[0], text, 8);
  other.join();
}
MC_TEST(RacingStream) {
  std::thread other([] { text[3] = 1; });
  std::fwrite(text, 1, 8, stdout);
  other.join();
}
MC_TEST(RacingFormat) {
  std::thread other([] { text[3] = 1; });
  std::snprintf(text, sizeof text, "%d", 12345);
  other.join();
}
MC_TEST(RacingSort) {
  std::thread other([] { numbers[7] = 1; });
  std::qsort(numbers, 8, sizeof numbers[0], Compare);
  other.join();
}
MC_TEST(Ordered) {
  static std::mutex mutex;
  const Pipe pipe;
  std::thread other([] {
    const std::lock_guard<std::mutex> lock(mutex);
    std::snprintf(text, sizeof text, "%d", 12345);
  });
  {
    const std::lock_guard<std::mutex> lock(mutex);
    write(pipe.ends[1], text, 8);
    std::fwrite(text, 1, 8, stdout);
    read(pipe.ends[0], text, 8);
  }
  other.join();
}
