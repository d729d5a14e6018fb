// Main ends by pthread_exit: the process goes on until its last thread has ended, and then ends as
// by exit(0). corners.txt says what mc must find in each.
#include <mc/mc.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

namespace {

std::atomic<int> done{0};
int plain = 0;
int expected = -1;  // -1: nothing is
std::mutex never_unlocked;
pthread_t main_thread;

struct Global {
  ~Global() {
    if (expected >= 0) mc_assert(plain == expected);
  }
} global;

// The handlers come after all that any thread has done, without a data race.
void CheckAll(int value) {
  expected = value;
  std::thread([] {
    plain = 1;
    done = 1;
  }).detach();
  pthread_exit(nullptr);
}

void HandlerAddedLater() {
  std::thread([] {
    std::atexit([] { mc_assert(done == 7); });
    done = 1;
  }).detach();
  pthread_exit(nullptr);
}

// Whoever waits for main does not wait for the handlers.
void Joined() {
  expected = 2;
  main_thread = pthread_self();
  std::thread([] {
    pthread_join(main_thread, nullptr);
    plain = 2;
  }).detach();
  pthread_exit(nullptr);
}

// A process that never ends runs no handlers.
void Deadlock() {
  expected = 5;
  never_unlocked.lock();
  std::thread([] { never_unlocked.lock(); }).detach();
  pthread_exit(nullptr);
}

// Of a thread that ends the program, the handlers are the same.
void ThreadExits(int value) {
  expected = value;
  std::thread([] {
    plain = 3;
    std::exit(0);
  }).detach();
  pthread_exit(nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const name = argc > 1 ? argv[1] : "";
  if (std::strcmp(name, "all-done") == 0) CheckAll(1);
  if (std::strcmp(name, "not-all-done") == 0) CheckAll(0);
  if (std::strcmp(name, "added-later") == 0) HandlerAddedLater();
  if (std::strcmp(name, "joined") == 0) Joined();
  if (std::strcmp(name, "deadlock") == 0) Deadlock();
  if (std::strcmp(name, "thread-exits") == 0) ThreadExits(3);
  if (std::strcmp(name, "thread-exits-early") == 0) ThreadExits(4);
  return 2;
}
