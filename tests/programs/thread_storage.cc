// Threads whose own storage must be their own however the thread register is set.
//   thread_storage values:  what each thread keeps there, over preemptions
//   thread_storage null:    a thread that never looks at it reads through a null pointer
//   thread_storage stack:   ... uses its stack up
//   thread_storage near:    ... reads where the register points to when it points to no memory
//   thread_storage signal:  a handler looks at it for the first time
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace {

std::atomic<int> shared{0};
thread_local int count = 7;
thread_local std::string text = "initial";

void KeepValues(int number) {
  assert(count == 7);
  assert(text == "initial");
  text += std::to_string(number);
  for (int i = 1; i <= 2; ++i) {
    errno = 100 + number;
    shared.fetch_add(1);
    assert(errno == 100 + number);
    count += number;
    shared.fetch_add(1);
    assert(count == 7 + i * number);
  }
  try {
    throw std::runtime_error(text);
  } catch (const std::exception& error) {
    shared.fetch_add(1);
    assert(text == error.what());
    assert(std::uncaught_exceptions() == 0);
  }
  assert(syscall(SYS_getpid) == getpid());
  const char* const unknown = strerror(1000 + number);
  shared.fetch_add(1);
  assert(unknown == "Unknown error " + std::to_string(1000 + number));
}

__attribute__((noinline)) int UseStackUp(int depth) {
  volatile char room[1000] = {};
  return depth < 0 ? room[5] : UseStackUp(depth + 1) + room[7];
}

int* volatile null = nullptr;
volatile int sink = 0;
thread_local int seen_by_handler = 5;

void Handler(int) {
  shared.fetch_add(1);
  assert(seen_by_handler == 5);
  seen_by_handler = 6;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "values";
  if (mode == "values") {
    std::thread one(KeepValues, 1), two(KeepValues, 2);
    one.join();
    two.join();
    assert(count == 7);
    assert(shared == 12);
    return 0;
  }
  if (mode == "signal") signal(SIGUSR1, Handler);
  std::thread other([] { shared.fetch_add(1); });
  std::thread failing([mode] {
    shared.fetch_add(1);
    if (mode == "null") sink = *null;
    if (mode == "stack") sink = UseStackUp(0);
    if (mode == "near") sink = *reinterpret_cast<volatile int*>(0x70e004000000);
    if (mode == "signal") {
      raise(SIGUSR1);
      assert(seen_by_handler == 6);
    }
  });
  other.join();
  failing.join();
}
