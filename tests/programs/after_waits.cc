// What a thread does right after a wait of it has ended can be preempted: one thread waits, another
// ends the wait and then looks at something that tells whether the first has gone on already.
// Argument: the case.
#include <linux/futex.h>
#include <mc/mc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t prefers_writers;
pthread_barrier_t barrier;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_t waiting, other;
uint32_t word = 0;
std::atomic<int> gone_on{0};
int flag = 0;
// What was seen: printed in the end, since outputs tell final states apart.
int wait_result = -1, wake_result = -1, attempt = -1, seen = -1;
timespec late;

long Futex(int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

void Try(pthread_mutex_t* m) {
  attempt = pthread_mutex_trylock(m);
  if (attempt == 0) pthread_mutex_unlock(m);
}

void SignalAndTry() {
  pthread_mutex_lock(&mutex);
  flag = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  Try(&mutex);
}

struct Case {
  const char* name;
  void (*waits)();
  void (*ends)();
};

const Case kCases[] = {
    {"condition",
     [] {
       pthread_mutex_lock(&mutex);
       wait_result = 0;
       while (flag == 0) wait_result = 1 + pthread_cond_wait(&condition, &mutex);
       pthread_mutex_unlock(&mutex);
     },
     SignalAndTry},
    {"timed-condition",
     [] {
       pthread_mutex_lock(&mutex);
       if (flag == 0) wait_result = pthread_cond_timedwait(&condition, &mutex, &late);
       pthread_mutex_unlock(&mutex);
     },
     SignalAndTry},
    {"futex",
     [] {
       const timespec second{1, 0};
       wait_result = static_cast<int>(Futex(FUTEX_WAIT, 0, &second));
       gone_on = 1;
     },
     [] {
       wake_result = static_cast<int>(Futex(FUTEX_WAKE, 1, nullptr));
       seen = gone_on;
     }},
    {"futex-and-lock",
     [] {
       const timespec second{1, 0};
       wait_result = static_cast<int>(Futex(FUTEX_WAIT, 0, &second));
       Try(&mutex);
     },
     [] {
       pthread_mutex_lock(&mutex);
       wake_result = static_cast<int>(Futex(FUTEX_WAKE, 1, nullptr));
       pthread_mutex_unlock(&mutex);
     }},
    {"read-lock",
     [] {
       pthread_rwlock_rdlock(&prefers_writers);
       pthread_rwlock_unlock(&prefers_writers);
     },
     [] {
       pthread_rwlock_wrlock(&prefers_writers);
       pthread_rwlock_unlock(&prefers_writers);
       attempt = pthread_rwlock_trywrlock(&prefers_writers);
       if (attempt == 0) pthread_rwlock_unlock(&prefers_writers);
     }},
    {"timed-lock",
     [] {
       wait_result = pthread_mutex_timedlock(&mutex, &late);
       gone_on = 1;
       if (wait_result == 0) pthread_mutex_unlock(&mutex);
     },
     [] {
       pthread_mutex_lock(&mutex);
       seen = gone_on;
       pthread_mutex_unlock(&mutex);
       wake_result = gone_on;
     }},
    {"barrier",
     [] {
       pthread_barrier_wait(&barrier);
       gone_on = 1;
     },
     [] {
       pthread_barrier_wait(&barrier);
       pthread_barrier_destroy(&barrier);
       seen = gone_on;
     }},
    {"once",
     [] {
       pthread_once(&once, [] { flag = 1; });
       gone_on = 1;
     },
     [] {
       pthread_once(&once, [] { flag = 1; });
       seen = gone_on;
     }},
    {"join",
     [] {
       pthread_join(other, nullptr);
       gone_on = 1;
     },
     [] { seen = gone_on; }},
#ifdef SEES_ENDS  // else no thread's end is a preemption point (Scheduler::SetEndsAreSeen)
    {"end-of-thread", [] { gone_on = 1; },
     [] {
       seen = gone_on;
       attempt = pthread_tryjoin_np(waiting, nullptr);
       if (attempt != 0) pthread_join(waiting, nullptr);
     }},
#endif
    {"descheduled",
     [] {
       mc_deschedule();
       gone_on = 1;
     },
     [] {
       mc_make_runnable(2);
       seen = gone_on;
     }},
};

void* RunWaits(void* argument) {
  static_cast<const Case*>(argument)->waits();
  return nullptr;
}
void* RunEnds(void* argument) {
  static_cast<const Case*>(argument)->ends();
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Case* chosen = nullptr;
  for (const Case& c : kCases) {
    if (argc > 1 && strcmp(argv[1], c.name) == 0) chosen = &c;
  }
  if (chosen == nullptr) {
    for (const Case& c : kCases) std::puts(c.name);
    return 2;
  }
  const bool joins = strcmp(chosen->name, "join") == 0;
  const bool tries_join = strcmp(chosen->name, "end-of-thread") == 0;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 5;
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&prefers_writers, &attributes);
  pthread_barrier_init(&barrier, nullptr, 2);
  auto* const argument = const_cast<Case*>(chosen);
  if (tries_join) {
    pthread_create(&waiting, nullptr, RunWaits, argument);
    RunEnds(argument);
  } else {
    pthread_create(&other, nullptr, RunEnds, argument);
    pthread_create(&waiting, nullptr, RunWaits, argument);
    pthread_join(waiting, nullptr);
    if (!joins) pthread_join(other, nullptr);
  }
  std::printf("%d %d %d %d\n", wait_result, wake_result, attempt, seen);
}
