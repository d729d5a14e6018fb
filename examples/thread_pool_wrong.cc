// A lost wake-up: the pool says "stop" without holding the mutex.
//
// A worker finds no task and no stop, and is about to wait. Right then the destructor sets the flag
// and notifies: nobody is waiting yet. Then the worker waits, for ever, and the destructor waits
// for the worker.
#include "thread_pool.h"

int main() {
  ThreadPool<false> pool(1);
  pool.Submit([] {});
}
