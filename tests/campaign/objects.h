// The variables and synchronisation objects of the random programs. Their definitions are in
// objects.cc, which is not instrumented.
#ifndef MC_TESTS_CAMPAIGN_OBJECTS_H_
#define MC_TESTS_CAMPAIGN_OBJECTS_H_

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <latch>
#include <mutex>

namespace mc::campaign {

// One cache line each, so that none shares a word of the final state with another.
struct alignas(64) Objects {
  alignas(64) int x, y;
  alignas(64) std::atomic<int> a, b;
  alignas(64) std::atomic<int> h;    // waited on with std::atomic::wait
  alignas(64) std::atomic<long*> p;  // a block of heap for all
  alignas(64) pthread_mutex_t m, n, recursive, error_checking;
  alignas(64) pthread_spinlock_t spin;
  alignas(64) pthread_cond_t c;  // with m
  alignas(64) pthread_cond_t d;  // with recursive
  alignas(64) sem_t s;
  alignas(64) pthread_rwlock_t w;
  alignas(64) pthread_rwlock_t v;  // prefers writers
  alignas(64) pthread_barrier_t g;
  alignas(64) pthread_once_t o;
  alignas(64) std::once_flag f;
  alignas(64) std::latch k{2};
};
extern Objects objects;

inline constexpr int kMostThreads = 4;
extern pthread_t threads[kMostThreads];
pthread_t HandleOf(int thread);      // not instrumented
extern bool finished[kMostThreads];  // behind mc's back, for the count only

extern int waiting;  // how many wait at condition variables; likewise

extern const timespec kDeadline;  // of every timed operation

// The reasons for an operation to block, looked at behind mc's back.
bool MutexMIsTaken();
bool MutexNIsTaken();
bool RecursiveIsTaken();
bool ErrorCheckingIsTaken();
bool SpinIsTaken();
bool SemaphoreIsZero();
bool CannotReadLock();
bool CannotWriteLock();
bool CannotReadLockV();
bool CannotWriteLockV();
bool BarrierIsNotFull();
bool OnceIsRunning();
bool FlagIsZero();
bool LatchIsNotOpen();
template <int thread>
bool IsNotFinished() {
  return !finished[thread];
}
bool SomebodyWaits();
bool Always();  // of the waits at condition variables

// Starts thread `number` of the program; 0 on success. Not instrumented.
int StartThread(int number);
int Child();  // that the calling thread is to create

}  // namespace mc::campaign

#endif  // MC_TESTS_CAMPAIGN_OBJECTS_H_
