// A thread joins several others, one after the other. What it does between the joins depends, in
// some of these programs, on the schedule. Run as `joins CASE`; without a case prints the names.
#include <mc/mc.h>
#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

namespace {

std::atomic<int> x, y, result;
int plain;
sem_t semaphore;
pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

pthread_t Start(void* (*body)(void*), long argument = 0) {
  pthread_t thread;
  pthread_create(&thread, nullptr, body, reinterpret_cast<void*>(argument));
  return thread;
}
long Join(pthread_t thread) {
  void* value = nullptr;
  pthread_join(thread, &value);
  return reinterpret_cast<long>(value);
}

void* Add(void* value) {
  result = 10 * result + static_cast<int>(reinterpret_cast<long>(value));
  return nullptr;
}
void* ReadX(void*) { return reinterpret_cast<void*>(static_cast<long>(x.load())); }
void* WriteX(void*) {
  x = 1;
  return nullptr;
}

void Several() {
  std::vector<std::thread> threads;
  for (int k = 1; k <= 3; ++k) threads.emplace_back([k] { result = 10 * result + k; });
  for (std::thread& thread : threads) thread.join();
  plain = result.load();
}

// What is written between the joins of two threads depends on what the first found.
void BetweenTheJoins() {
  const pthread_t writer = Start(WriteX), reader = Start(ReadX);
  const pthread_t late = Start([](void*) -> void* {
    result = y.load();
    return nullptr;
  });
  if (Join(reader) == 1) y = 1;
  Join(late);
  Join(writer);
}

// The second thread waits for what comes between the joins, if the first found a value.
void WaitsForTheJoiner() {
  sem_init(&semaphore, 0, 0);
  const pthread_t writer = Start(WriteX), reader = Start(ReadX);
  const pthread_t waiter = Start([](void*) -> void* {
    if (x == 1) sem_wait(&semaphore);
    return nullptr;
  });
  const long found = Join(reader);
  if (found == 1) sem_post(&semaphore);
  Join(waiter);
  Join(writer);
  result = static_cast<int>(found);
}

// In another order, by what a thread found.
void AnotherOrder() {
  const pthread_t writer = Start(WriteX), reader = Start(ReadX), adds = Start(Add, 3);
  if (Join(reader) == 1) {
    Join(writer);
    Join(adds);
  } else {
    Join(adds);
    result = 10 * result + 4;
    Join(writer);
  }
}

// The joiner fails after the first join, in some executions, by what only it knows.
void FailsBetween() {
  const pthread_t writer = Start(WriteX), reader = Start(ReadX), adds = Start(Add, 3);
  const long found = Join(reader);
  assert(found == 0);
  Join(adds);
  Join(writer);
}

// Of three threads that are joined, two wait for each other, in some executions.
void Deadlock() {
  static pthread_mutex_t* const locks[] = {&one, &other};
  auto takes_both = [](void* first) -> void* {
    const long k = reinterpret_cast<long>(first);
    pthread_mutex_lock(locks[k]);
    pthread_mutex_lock(locks[1 - k]);
    pthread_mutex_unlock(locks[1 - k]);
    pthread_mutex_unlock(locks[k]);
    return nullptr;
  };
  const pthread_t adds = Start(Add, 1), forwards = Start(takes_both, 0),
                  backwards = Start(takes_both, 1);
  Join(adds);
  Join(forwards);
  Join(backwards);
}

void Choice() {
  const pthread_t first = Start(Add, 1), second = Start(Add, 2), third = Start(Add, 3);
  Join(first);
  if (mc_choose(2) == 1) x = 1;
  Join(second);
  Join(third);
}

#ifdef SEES_ENDS  // else no thread's end is a preemption point (Scheduler::SetEndsAreSeen)
void TryBetween() {
  const pthread_t first = Start(Add, 1), second = Start(Add, 2), third = Start(Add, 3);
  Join(first);
  const bool ended = pthread_tryjoin_np(second, nullptr) == 0;
  plain = ended ? 1 : 0;
  if (!ended) Join(second);
  Join(third);
}
#endif

// A thread joins two, of which one joins one of its own; another is never joined.
void Nested() {
  const pthread_t detached = Start([](void*) -> void* {
    result = 10 * result + 1;
    return nullptr;
  });
  pthread_detach(detached);
  const pthread_t outer = Start([](void*) -> void* {
    const pthread_t inner = Start(Add, 2), innermost = Start(WriteX);
    Join(inner);
    Join(innermost);
    return nullptr;
  });
  const pthread_t adds = Start(Add, 3);
  Join(outer);
  Join(adds);
  plain = result.load();
}

// What follows a chain of joins races with a thread that is joined later.
void BetweenChains() {
  const pthread_t first = Start(Add, 1), second = Start(WriteX), third = Start(Add, 3),
                  fourth = Start(ReadX);
  Join(first);
  Join(second);
  result = 10 * result + 5;
  Join(third);
  Join(fourth);
  plain = result.load();
}

// Failed assumptions leave the joiner waiting.
void Assumption() {
  const pthread_t first = Start(Add, 1);
  const pthread_t assumes = Start([](void*) -> void* {
    mc_assume(result == 0);
    return nullptr;
  });
  const pthread_t third = Start(Add, 3);
  Join(first);
  Join(assumes);
  Join(third);
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {{"several", Several},
              {"between-the-joins", BetweenTheJoins},
              {"waits-for-the-joiner", WaitsForTheJoiner},
              {"another-order", AnotherOrder},
              {"fails-between", FailsBetween},
              {"deadlock", Deadlock},
              {"choice", Choice},
#ifdef SEES_ENDS
              {"try-between", TryBetween},
#endif
              {"nested", Nested},
              {"between-chains", BetweenChains},
              {"assumption", Assumption}};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& c : kCases) {
    if (argc < 2) {
      std::puts(c.name);
    } else if (std::strcmp(argv[1], c.name) == 0) {
      c.run();
    }
  }
}
