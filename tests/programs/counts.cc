// Programs whose number of Mazurkiewicz traces is known: published expectation tables and closed
// forms.
//
//   counts PROGRAM [N [T]]
//
// tests/e2e/counts.test has the table. Each program is a list of threads, all created first and
// then joined; each shared access is an atomic operation (the order does not matter: mc explores
// sequential consistency) or protected by a mutex.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr int kMost = 64;
using Cell = std::atomic<int>;

Cell x, y, z;
Cell cells[2 * kMost];
std::mutex mutexes[2 * kMost];
int guarded[2 * kMost];  // each protected by the mutex of the same number
int guarded_too;         // protected by mutexes[0]

int Load(const Cell& cell) { return cell.load(std::memory_order_relaxed); }
void Store(Cell& cell, int value) { cell.store(value, std::memory_order_relaxed); }
int FetchAdd(Cell& cell) { return cell.fetch_add(1, std::memory_order_relaxed); }
bool CompareExchange(Cell& cell, int expected, int desired) {
  return cell.compare_exchange_strong(expected, desired, std::memory_order_relaxed);
}
// A value a compiler has to produce, so that it cannot drop the operation that gave it.
template <typename T>
void Use(T value) {
  asm volatile("" : : "r"(value));
}

using Body = void (*)(int thread, int n, int t);

// Threads 0 .. count-1 run `body`.
void Run(int count, int n, int t, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i, n, t);
  for (std::thread& thread : threads) thread.join();
}

void Ainc(int n, int t) {
  Run(n, n, t, [](int, int, int) { Use(FetchAdd(x)); });
}
void Inc(int n, int t) {
  Run(n, n, t, [](int, int, int) { Store(x, Load(x) + 1); });
}
void ReadThenWrite(int n, int t) {
  Run(n, n, t, [](int i, int, int) {
    Use(Load(x));
    Store(x, i + 1);
  });
}
void Binc(int n, int t) {
  Run(n, n, t, [](int, int, int) {
    Use(FetchAdd(x));
    Use(FetchAdd(y));
  });
}
void Cinc(int n, int t) {
  Run(n, n, t, [](int, int, int) {
    Use(FetchAdd(x));
    Use(FetchAdd(y));
    Use(FetchAdd(z));
  });
}
void Wainc(int n, int t) {
  Run(n + 1, n, t, [](int i, int, int) {
    if (i == 0) {
      Store(x, 1);
    } else {
      Use(FetchAdd(x));
    }
  });
}
void Cas(int n, int t) {
  Run(n, n, t, [](int i, int, int) { Use(CompareExchange(x, 0, i + 1)); });
}
void Wcas(int n, int t) {
  Run(n + 1, n, t, [](int i, int, int) {
    if (i == 0) {
      Store(x, 2);
    } else {
      Use(CompareExchange(x, 2, 3));
    }
  });
}
void Readers(int n, int t) {
  Run(n + 1, n, t, [](int i, int, int) {
    if (i == 0) {
      Store(x, 1);
    } else {
      Use(Load(x));
    }
  });
}
void LastZero(int n, int t) {
  Run(n + 1, n, t, [](int i, int last, int) {
    if (i > 0) {
      Store(cells[i], Load(cells[i - 1]) + 1);
      return;
    }
    for (int k = last; k >= 0 && Load(cells[k]) != 0; --k) {
    }
  });
}
void Indexer(int n, int t) {
  Run(n, n, t, [](int i, int, int) {
    for (int k = 0; k < 4; ++k) {
      const int w = 11 * k + i;
      int h = 7 * w % 128;
      // `+ 1`: an empty entry is 0, and thread 0 inserts w = 0.
      while (!CompareExchange(cells[h], 0, w + 1)) h = (h + 1) % 128;
    }
  });
}
void FileSystem(int n, int t) {
  constexpr int kInodes = 32, kBlocks = 26;
  Run(n, n, t, [](int thread, int, int) {
    const int i = thread % kInodes;
    std::mutex* const block_mutexes = mutexes + kInodes;
    int* const block_busy = guarded + kInodes;
    mutexes[i].lock();
    if (guarded[i] == 0) {
      for (int b = 2 * i % kBlocks;; b = (b + 1) % kBlocks) {
        block_mutexes[b].lock();
        const bool free = block_busy[b] == 0;
        if (free) {
          block_busy[b] = 1;
          guarded[i] = b + 1;
        }
        block_mutexes[b].unlock();
        if (free) break;
      }
    }
    mutexes[i].unlock();
  });
}
void LockInc(int n, int t) {
  Run(n, n, t, [](int, int, int) {
    std::lock_guard<std::mutex> lock(mutexes[0]);
    ++guarded[0];
  });
}
void Lock2Inc(int n, int t) {
  Run(n, n, t, [](int, int, int) {
    std::lock_guard<std::mutex> lock(mutexes[0]);
    ++guarded[0];
    ++guarded_too;
  });
}
void Twice(int n, int t) {
  Run(n, n, t, [](int, int, int) {
    for (int k = 0; k < 2; ++k) {
      mutexes[0].lock();
      mutexes[0].unlock();
    }
  });
}
void Lists(int lists, int threads) {
  Run(threads, lists, threads, [](int i, int count, int) {
    std::lock_guard<std::mutex> lock(mutexes[i % count]);
    ++guarded[i % count];
  });
}
void Dine(std::mutex& first, std::mutex& second) {
  first.lock();
  second.lock();
  second.unlock();
  first.unlock();
}
void PhilosophersOrdered(int n, int t) {
  Run(n, n, t, [](int i, int count, int) {
    if (i == count - 1) {
      Dine(mutexes[0], mutexes[i]);
    } else {
      Dine(mutexes[i], mutexes[i + 1]);
    }
  });
}
void PhilosophersCyclic(int n, int t) {
  Run(n, n, t, [](int i, int count, int) { Dine(mutexes[i], mutexes[(i + 1) % count]); });
}
void Fib(int n, int t) {
  Store(x, 1);
  Store(y, 1);
  Run(3, n, t, [](int thread, int rounds, int) {
    if (thread == 2) {
      Use(Load(x));
      Use(Load(y));
      return;
    }
    Cell& mine = thread == 0 ? x : y;
    for (int k = 0; k < rounds; ++k) {
      const int a = Load(x);
      const int b = Load(y);
      Store(mine, a + b);
    }
  });
}
void TryLock(int n, int t) {
  Run(2, n, t, [](int i, int, int) {
    if (i == 0) {
      mutexes[0].lock();
      mutexes[0].unlock();
    } else if (mutexes[0].try_lock()) {
      mutexes[0].unlock();
    }
  });
}
void StoreBuffering(int n, int t) {
  Run(2, n, t, [](int i, int, int) {
    Store(i == 0 ? x : y, 1);
    Use(Load(i == 0 ? y : x));
  });
}
void MessagePassing(int n, int t) {
  Run(2, n, t, [](int i, int, int) {
    if (i == 0) {
      Store(x, 1);
      Store(y, 1);
    } else {
      Use(Load(y));
      Use(Load(x));
    }
  });
}
void LoadBuffering(int n, int t) {
  Run(2, n, t, [](int i, int, int) {
    Use(Load(i == 0 ? x : y));
    Store(i == 0 ? y : x, 1);
  });
}

constexpr struct {
  const char* name;
  void (*run)(int n, int t);
} kPrograms[] = {
    {"ainc", Ainc},
    {"inc", Inc},
    {"rw", ReadThenWrite},
    {"binc", Binc},
    {"cinc", Cinc},
    {"wainc", Wainc},
    {"cas", Cas},
    {"wcas", Wcas},
    {"readers", Readers},
    {"lastzero", LastZero},
    {"indexer", Indexer},
    {"filesystem", FileSystem},
    {"lockinc", LockInc},
    {"lock2inc", Lock2Inc},
    {"twice", Twice},
    {"lists", Lists},
    {"philosophers-ordered", PhilosophersOrdered},
    {"philosophers-cyclic", PhilosophersCyclic},
    {"fib", Fib},
    {"trylock", TryLock},
    {"SB", StoreBuffering},
    {"MP", MessagePassing},
    {"LB", LoadBuffering},
};

}  // namespace

int main(int argc, char** argv) {
  const int n = argc > 2 ? std::atoi(argv[2]) : 2;
  const int t = argc > 3 ? std::atoi(argv[3]) : 0;
  if (argc < 2 || n < 1 || n > kMost || t > kMost) {
    std::fprintf(stderr, "usage: counts PROGRAM [N [T]]\n");
    return 2;
  }
  for (const auto& program : kPrograms) {
    if (std::strcmp(program.name, argv[1]) == 0) {
      program.run(n, t);
      return 0;
    }
  }
  std::fprintf(stderr, "no program %s\n", argv[1]);
  return 2;
}
