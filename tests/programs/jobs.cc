// Programs for tests/e2e/jobs.test: searches that several processes share.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 7;

std::atomic<int> place{0};
std::atomic<int> order[kThreads];

// 7! orders. Calls `end` after each, with whether it was the last one that a search that goes
// through them backwards comes to.
template <typename End>
void InEveryOrder(const End& end) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] { order[place++] = i; });
  }
  for (std::thread& thread : threads) thread.join();
  bool reversed = true;
  for (int i = 0; i < kThreads; ++i) reversed = reversed && order[i] == kThreads - 1 - i;
  end(reversed);
}

// The threads that there are, and their names, depend on the order: another one in each process.
void ThreadsOfThreads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 5; ++i) {
    threads.emplace_back([i] {
      const int at = place++;
      std::vector<std::thread> more;
      for (int k = 0; k < (at + i) % 3; ++k) more.emplace_back([] { place += 0; });
      for (std::thread& thread : more) thread.join();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A bug of each kind, each in other orders.
void ManyBugs() {
  InEveryOrder([](bool reversed) {
    assert(!reversed);
    assert(order[0] != 3 || order[1] != 6);
    if (order[2] == 5 && order[6] == 0) abort();
    int* volatile block = new int;
    delete block;
    if (order[0] == 6 && order[6] == 1) delete block;
  });
}

// Two that race, in some orders only.
int plain;
void RaceInSomeOrders() {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      const int at = place++;
      if (i < 2 && at >= kThreads - 2) plain += i;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// What one execution writes the same execution reads.
void FileOfOneName() {
  static const std::string name = "jobs-test-" + std::to_string(getppid());
  InEveryOrder([](bool) {
    const int file = open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    int wrote[kThreads], read_back[kThreads];
    for (int i = 0; i < kThreads; ++i) wrote[i] = order[i];
    assert(write(file, wrote, sizeof wrote) == sizeof wrote);
    assert(pread(file, read_back, sizeof read_back, 0) == sizeof read_back);
    assert(memcmp(wrote, read_back, sizeof wrote) == 0);
    close(file);
    unlink(name.c_str());
  });
}

// Does something else in each process: which accesses there are depends on its number.
void NumberOfTheProcess() {
  static int cells[64];
  InEveryOrder([](bool) { cells[getpid() % 64] = 1; });
  std::thread other([] { place += cells[getpid() % 64]; });
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "threads") {
    ThreadsOfThreads();
  } else if (what == "bugs") {
    ManyBugs();
  } else if (what == "race") {
    RaceInSomeOrders();
  } else if (what == "process") {
    NumberOfTheProcess();
  } else if (what == "file") {
    FileOfOneName();
  } else {
    InEveryOrder([&](bool reversed) {
      if (!reversed) return;
      if (what == "segfault") *reinterpret_cast<volatile int*>(8) = 1;
      if (what == "assert") assert(!"reversed");
      if (what == "exit") _exit(3);
      if (what == "kill") kill(getpid(), SIGKILL);
      if (what == "throw") throw 1;
    });
  }
}
