#include "tests/campaign/objects.h"

#include <cstring>

namespace mc::campaign {
namespace {

// The first word of a mutex and of a semaphore: its owner, its value
// (sched/interpose/object_views.h).
unsigned FirstWord(const void* object) {
  unsigned word;
  __builtin_memcpy(&word, object, sizeof word);
  return word;
}

}  // namespace

constinit Objects objects = {
    .x = 0,
    .y = 0,
    .a = 0,
    .b = 0,
    .h = 0,
    .p = nullptr,
    .m = PTHREAD_MUTEX_INITIALIZER,
    .n = PTHREAD_MUTEX_INITIALIZER,
    .recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
    .error_checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
    .spin = 1,
    .c = PTHREAD_COND_INITIALIZER,
    .d = PTHREAD_COND_INITIALIZER,
    .s = {},
    .w = PTHREAD_RWLOCK_INITIALIZER,
    .v = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP,
    .g = {},
    .o = PTHREAD_ONCE_INIT,
    .f = {},
};
pthread_t threads[kMostThreads];
bool finished[kMostThreads];
int waiting = 0;
const timespec kDeadline = {4000000000, 0};

bool MutexMIsTaken() { return FirstWord(&objects.m) != 0; }
bool MutexNIsTaken() { return FirstWord(&objects.n) != 0; }
bool RecursiveIsTaken() { return FirstWord(&objects.recursive) != 0; }
bool ErrorCheckingIsTaken() { return FirstWord(&objects.error_checking) != 0; }
bool SpinIsTaken() { return FirstWord(const_cast<int*>(&objects.spin)) > 1; }
bool SemaphoreIsZero() { return FirstWord(&objects.s) == 0; }
bool CannotReadLock() { return objects.w.__data.__cur_writer != 0; }
bool CannotWriteLock() { return CannotReadLock() || objects.w.__data.__pad3 != 0; }
bool CannotReadLockV() {
  return objects.v.__data.__cur_writer != 0 || objects.v.__data.__writers != 0;
}
bool CannotWriteLockV() { return CannotReadLockV() || objects.v.__data.__pad3 != 0; }
bool BarrierIsNotFull() {
  unsigned words[3];
  __builtin_memcpy(words, &objects.g, sizeof words);
  return words[0] + 1 < words[2];
}
bool OnceIsRunning() { return (FirstWord(const_cast<int*>(&objects.o)) & 3) == 1; }
bool FlagIsZero() { return FirstWord(&objects.h) == 0; }
bool LatchIsNotOpen() { return FirstWord(&objects.k) != 0; }
bool SomebodyWaits() { return waiting > 0; }
bool Always() { return true; }
pthread_t HandleOf(int thread) { return threads[thread]; }

}  // namespace mc::campaign
