// State of many kinds that a checkpoint has to bring back, in tests whose threads change it in the
// middle of their work. tests/e2e/checkpoints.test runs them with and without checkpoints.
#include <mc/mc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

// Runs `body(number)` in `count` threads after a few steps of the main thread alone, so that there
// is a prefix to save.
template <typename Body>
void InThreads(int count, Body body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

std::atomic<uint64_t> g_order;  // digits: what happened, in its order
void Log(int digit) { g_order.store(g_order.load() * 8 + static_cast<uint64_t>(digit) + 1); }

std::atomic<int> g_turn;

// Deep frames whose locals change while others run.
int Descend(int depth, int seed) {
  volatile int local[16];
  for (int i = 0; i < 16; ++i) local[i] = seed + i;
  if (depth == 0) {
    g_turn.fetch_add(seed);
  } else {
    local[depth] = Descend(depth - 1, seed + 1);
  }
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum += local[i];
  return sum;
}

void Stacks() {
  InThreads(3, [](int i) {
    const int before = Descend(3, i);
    g_turn.fetch_add(1);
    mc_assert(Descend(3, i) == before);
  });
}

std::mutex g_mutex;
std::map<int, std::string> g_map;

void Heap() {
  auto kept = std::make_unique<std::string>("a string that is too long to be stored inside");
  InThreads(3, [&](int i) {
    std::vector<int> own;
    for (int k = 0; k < 2; ++k) {
      own.push_back(k);
      std::lock_guard<std::mutex> lock(g_mutex);
      if (k == 1 && i == 2) g_map.erase(1);
      g_map[i] += *kept + std::to_string(g_map.size());
    }
    mc_assert(own.size() == 2 && own[1] == 1);
  });
  for (const auto& [key, text] : g_map) Log(static_cast<int>(text.size() % 7) + key - key);
  g_map.clear();
}

thread_local int t_count;
thread_local std::string t_text;
pthread_key_t g_key;
std::atomic<int> g_destroyed;

void DestroyValue(void* value) { g_destroyed.fetch_add(*static_cast<int*>(value)); }

void ThreadLocals() {
  static int values[3] = {1, 2, 4};
  pthread_key_create(&g_key, &DestroyValue);
  InThreads(3, [](int i) {
    pthread_setspecific(g_key, &values[i]);
    ++t_count;
    t_text += "thread " + std::to_string(i);
    g_turn.fetch_add(1);
    ++t_count;
    mc_assert(t_count == 2 && t_text == "thread " + std::to_string(i));
    mc_assert(pthread_getspecific(g_key) == &values[i]);
    Log(i);
  });
  mc_assert(g_destroyed.load() == 7);
  pthread_key_delete(g_key);
}

struct AtTheEnd {
  ~AtTheEnd() { g_turn.fetch_add(1); }
};

void ExitHandlers() {
  InThreads(2, [](int) {
    static AtTheEnd once;  // registers a handler, in the thread that comes first
    g_turn.fetch_add(1);
    atexit([] { Log(6); });
    g_turn.fetch_add(1);
  });
}

void Exceptions() {
  InThreads(3, [](int i) {
    try {
      g_turn.fetch_add(1);
      throw std::runtime_error("of thread " + std::to_string(i));
    } catch (const std::exception& e) {
      g_turn.fetch_add(1);  // with the exception in flight
      mc_assert(e.what() == "of thread " + std::to_string(i));
      mc_assert(std::current_exception() != nullptr);
      Log(i);
    }
    mc_assert(std::uncaught_exceptions() == 0);
  });
}

void LibraryState() {
  srand(7);
  InThreads(2, [](int i) {
    const int drawn = rand();  // one sequence for all
    g_turn.fetch_add(drawn % 5);
    char text[] = "a,b,c";
    char* rest = nullptr;
    mc_assert(strcmp(strtok_r(text, ",", &rest), "a") == 0);
    g_turn.fetch_add(1);
    mc_assert(strcmp(strtok_r(nullptr, ",", &rest), "b") == 0);
    setenv(i == 0 ? "MC_TEST_A" : "MC_TEST_B", "x", 1);
    g_turn.fetch_add(1);
    mc_assert(getenv(i == 0 ? "MC_TEST_A" : "MC_TEST_B") != nullptr);
    Log(drawn % 3);
  });
}

// The position in an open file is not memory: no checkpoint once it is open.
void Files() {
  FILE* file = tmpfile();
  mc_assert(file != nullptr);
  fputs("abc", file);
  rewind(file);
  setvbuf(file, nullptr, _IONBF, 0);
  InThreads(3, [file](int i) {
    std::lock_guard<std::mutex> lock(g_mutex);
    const int c = fgetc(file);
    mc_assert(c >= 'a' && c <= 'c');
    Log(i * 2 + (c - 'a') % 2);
  });
  mc_assert(fgetc(file) == EOF);
  fclose(file);
}

// Descriptors are numbers that the kernel knows too.
void Pipe() {
  int ends[2];
  mc_assert(pipe(ends) == 0);
  InThreads(3, [&](int i) {
    const char byte = static_cast<char>('a' + i);
    mc_assert(write(ends[1], &byte, 1) == 1);
    Log(i);
  });
  char bytes[3];
  mc_assert(read(ends[0], bytes, 3) == 3);
  mc_assert(bytes[0] + bytes[1] + bytes[2] == 'a' + 'b' + 'c');
  close(ends[0]);
  close(ends[1]);
}

void Output() {
  InThreads(3, [](int i) {
    g_turn.fetch_add(1);
    printf("thread %d\n", i);
    fflush(stdout);
    g_turn.fetch_add(1);
    Log(i);
  });
}

void Races() {
  static int plain;
  InThreads(3, [](int) {
    g_turn.fetch_add(1);
    plain = plain + 1;
    g_turn.fetch_add(1);
  });
}

MC_TEST(Stacks) { Stacks(); }
MC_TEST(Heap) { Heap(); }
MC_TEST(ThreadLocals) { ThreadLocals(); }
MC_TEST(ExitHandlers) { ExitHandlers(); }
MC_TEST(Exceptions) { Exceptions(); }
MC_TEST(LibraryState) { LibraryState(); }
MC_TEST(Files) { Files(); }
MC_TEST(Pipe) { Pipe(); }
MC_TEST(Output) { Output(); }
MC_TEST(Races) { Races(); }

}  // namespace
