// What threads have for themselves, and large programs. corners.txt says what mc must find in each.
#include <errno.h>
#include <limits.h>
#include <mc/mc.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<int> destroyed{0};

struct Counted {
  int value = 5;
  ~Counted() { ++destroyed; }
};
thread_local Counted per_thread;
thread_local std::string text = "initial";

}  // namespace

// Its own copy with the initial value, at an address of its own, and destroyed at the thread's end.
MC_TEST(ThreadLocal) {
  std::atomic<Counted*> other_address{nullptr};
  std::thread other([&] {
    mc_assert(per_thread.value == 5 && text == "initial");
    per_thread.value = 6;
    text += " and changed";
    other_address = &per_thread;
    std::this_thread::yield();
    mc_assert(per_thread.value == 6);
  });
  mc_assert(per_thread.value == 5 && text == "initial");
  text = "of main";
  other.join();
  mc_assert(other_address != &per_thread);
  mc_assert(destroyed == 1);
  mc_assert(text == "of main");
}

MC_TEST(ThreadSpecificData) {
  static pthread_key_t key;
  static std::atomic<int> cleaned;
  pthread_key_create(&key, [](void* value) { cleaned += *static_cast<int*>(value); });
  static int three = 3, four = 4;
  std::thread other([] {
    pthread_setspecific(key, &three);
    std::this_thread::yield();
    mc_assert(pthread_getspecific(key) == &three);
  });
  pthread_setspecific(key, &four);
  other.join();
  mc_assert(pthread_getspecific(key) == &four);
  mc_assert(cleaned == 3);
  pthread_key_delete(key);
}

// Threads are switched between throw and catch, and inside the catch block.
MC_TEST(ExceptionsAcrossSwitches) {
  static std::atomic<int> shared{0};
  const auto run = [](int mine) {
    try {
      try {
        throw std::runtime_error(std::to_string(mine));
      } catch (const std::runtime_error& error) {
        ++shared;
        std::this_thread::yield();
        mc_assert(error.what() == std::to_string(mine));
        mc_assert(std::uncaught_exceptions() == 0);
        throw;
      }
    } catch (const std::exception& error) {
      ++shared;
      mc_assert(error.what() == std::to_string(mine));
    }
  };
  std::thread other(run, 1);
  run(2);
  other.join();
  mc_assert(shared == 4);
}

MC_TEST(ErrnoIsPerThread) {
  static std::atomic<int> shared{0};
  const auto run = [](int mine) {
    errno = mine;
    ++shared;
    std::this_thread::yield();
    mc_assert(errno == mine);
  };
  std::thread other(run, ENOENT);
  run(EINVAL);
  other.join();
}

MC_TEST(TwoHundredThreads) {
  static std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; ++i) {
    threads.emplace_back([] { (void)per_thread.value; });
    threads.back().join();
    ++turn;
  }
  std::vector<std::thread> together;
  for (int i = 0; i < 199; ++i) together.emplace_back([] {});
  for (std::thread& thread : together) thread.join();
  mc_assert(turn == 200);
}

MC_TEST(HundredMegabytes) {
  constexpr size_t kSize = 10 << 20;
  std::vector<std::unique_ptr<char[]>> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.emplace_back(new char[kSize]);
    std::memset(blocks.back().get(), i, kSize);
  }
  std::thread other([&] { mc_assert(blocks[3][kSize - 1] == 3); });
  mc_assert(blocks[9][0] == 9);
  other.join();
}

MC_TEST(HundredThousandTransitions) {
  static std::atomic<int> shared{0};
  std::thread other([] { ++shared; });
  std::mutex mine;  // a preemption point before every lock and after every unlock
  for (int i = 0; i < 50000; ++i) {
    mine.lock();
    mine.unlock();
  }
  ++shared;
  other.join();
  mc_assert(shared == 2);
}

// Runs on after main has returned, and ends.
MC_TEST(Detached) {
  static std::atomic<int> done{0};
  std::thread([] { ++done; }).detach();
}

// Still waits when main has returned: a daemon, not a deadlock.
MC_TEST(Daemon) {
  static std::mutex mutex;
  mutex.lock();
  std::thread([] { mutex.lock(); }).detach();
}

MC_TEST(UncaughtException) {
  std::thread other([] { throw std::runtime_error("nobody catches this"); });
  other.join();
}

MC_TEST(UncaughtExceptionInOneOrder) {
  static std::atomic<bool> ready{false};
  std::thread other([] {
    if (!ready) throw std::logic_error("not ready");
  });
  ready = true;
  other.join();
}

MC_TEST(UncaughtExceptionThrownAgain) {
  std::thread other([] {
    try {
      throw 1;
    } catch (int) {
      throw;
    }
  });
  other.join();
}

MC_TEST(ExceptionLeavesNoexcept) {
  std::thread other([]() noexcept { (void)std::string().at(1); });
  other.join();
}

MC_TEST(AbortWhileHandling) {
  std::thread other([] {
    try {
      throw 1;
    } catch (int) {
      std::abort();
    }
  });
  other.join();
}

MC_TEST(TerminateWhileHandling) {
  std::thread other([] {
    try {
      throw 1;
    } catch (int) {
      std::terminate();
    }
  });
  other.join();
}

MC_TEST(CustomFailure) {
  if (mc_choose(5) == 3) mc_fail("three of five");
}

MC_MAIN();

// A thread that uses all but a little of the stack it asked for.
void UsesStack(size_t asked, size_t used) {
  static size_t bytes;
  bytes = used;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  mc_assert(pthread_attr_setstacksize(&attributes, asked) == 0);
  pthread_t thread;
  const auto body = [](void*) -> void* {
    auto* const block = static_cast<volatile char*>(__builtin_alloca(bytes));
    for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
    return nullptr;
  };
  mc_assert(pthread_create(&thread, &attributes, body, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
}
MC_TEST(LargeStack) { UsesStack(size_t{100} << 20, size_t{99} << 20); }
MC_TEST(SmallStack) { UsesStack(PTHREAD_STACK_MIN, 1 << 10); }
MC_TEST(LargeStackOverflows) { UsesStack(size_t{32} << 20, size_t{33} << 20); }
MC_TEST(HugeStack) { UsesStack(size_t{1} << 30, 1 << 10); }
MC_TEST(StackOfItsOwn) {
  constexpr size_t kSize = size_t{12} << 20;
  void* const memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  mc_assert(pthread_attr_setstack(&attributes, memory, kSize) == 0);
  pthread_t thread;
  const auto body = [](void*) -> void* {
    constexpr size_t kUsed = size_t{11} << 20;
    auto* const block = static_cast<volatile char*>(__builtin_alloca(kUsed));
    for (size_t i = 0; i < kUsed; i += 4096) block[i] = 1;
    return nullptr;
  };
  mc_assert(pthread_create(&thread, &attributes, body, nullptr) == 0);
  pthread_join(thread, nullptr);
  munmap(memory, kSize);
}

// What others change of a thread that has ended is put back before the next execution.
int ProcessorsOf(pthread_t thread) {
  cpu_set_t set;
  mc_assert(pthread_getaffinity_np(thread, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}
void LeaveOneProcessor(pthread_t thread) {
  cpu_set_t set;
  mc_assert(pthread_getaffinity_np(thread, sizeof set, &set) == 0);
  for (int i = 0, kept = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set) && kept++ > 0) CPU_CLR(i, &set);
  }
  mc_assert(pthread_setaffinity_np(thread, sizeof set, &set) == 0);
}
MC_TEST(EndedThreadIsChanged) {
  std::thread ended([] {});
  const pthread_t handle = ended.native_handle();
  const int all = ProcessorsOf(handle);
  std::atomic<int> begun{0}, turns{0};
  std::thread changes([&] {
    for (int i = 0; i < 3; ++i) turns.fetch_add(1);  // many executions that begin alike
    begun = 1;
    LeaveOneProcessor(handle);
    pthread_setname_np(handle, "changed");
  });
  std::thread asks([&] {
    for (int i = 0; i < 3; ++i) turns.fetch_add(1);
    const int count = ProcessorsOf(handle);
    char name[16] = {};
    pthread_getname_np(handle, name, sizeof name);
    if (begun == 0) mc_assert(count == all && strcmp(name, "changed") != 0);
  });
  changes.join();
  asks.join();
  ended.join();
}
