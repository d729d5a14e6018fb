// The same pool with the flag set under the mutex: between a worker's test and its wait nothing can
// happen any more.
#include <cassert>

#include "thread_pool.h"

int main() {
  std::atomic<int> done{0};
  {
    ThreadPool<true> pool(1);
    pool.Submit([&] { ++done; });
    pool.Submit([&] { ++done; });
  }
  assert(done == 2);
}
