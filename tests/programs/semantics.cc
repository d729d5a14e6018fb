// One small program for each synchronisation operation and for each mistake an optimal search can
// make, with the number of its Mazurkiewicz traces as found by brute force over all interleavings
// (spec optimal-dpor, sections 4 and 12).
//
// Above each test stands the program in the notation of that page: threads are separated by ||; `;`
// ends a transition, `,` joins operations into one. In C++ `,` is code inside Step(...), and `;` a
// preemption point of --pp=all: there is one before every shared access and before and after every
// synchronisation operation. x, y, ... are memory, m mutexes, c condition variables, s semaphores,
// b barriers, w reader-writer locks.
//
// tests/e2e/counts.test reads the numbers from the TRACES lines. "of these" says how many traces
// end in a deadlock, say.
#include <mc/mc.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#define TRACES(name, traces) MC_TEST(name)

namespace {

using Cell = std::atomic<int>;
Cell x, y, z, u;
pthread_mutex_t m0 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t m1 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t m2 = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t recursive_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t c0 = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t w0 = PTHREAD_RWLOCK_INITIALIZER;
sem_t s0;
pthread_barrier_t b0;

int Load(const Cell& cell) { return cell.load(std::memory_order_relaxed); }
void Store(Cell& cell, int value) { cell.store(value, std::memory_order_relaxed); }
bool Cas(Cell& cell, int expected, int desired) {
  return cell.compare_exchange_strong(expected, desired, std::memory_order_relaxed);
}
void Lock(pthread_mutex_t& m) { pthread_mutex_lock(&m); }
bool TryLock(pthread_mutex_t& m) { return pthread_mutex_trylock(&m) == 0; }
void Unlock(pthread_mutex_t& m) { pthread_mutex_unlock(&m); }
void Wait() { pthread_cond_wait(&c0, &m0); }
// True if it timed out.
bool TimedWait() {
  timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += 1;
  return pthread_cond_timedwait(&c0, &m0, &deadline) != 0;
}
void Signal() { pthread_cond_signal(&c0); }
void Broadcast() { pthread_cond_broadcast(&c0); }
void P() { sem_wait(&s0); }
bool TryP() { return sem_trywait(&s0) == 0; }
void V() { sem_post(&s0); }
void Barrier() { pthread_barrier_wait(&b0); }
void ReadLock() { pthread_rwlock_rdlock(&w0); }
bool TryReadLock() { return pthread_rwlock_tryrdlock(&w0) == 0; }
void WriteLock() { pthread_rwlock_wrlock(&w0); }
bool TryWriteLock() { return pthread_rwlock_trywrlock(&w0) == 0; }
void ReadWriteUnlock() { pthread_rwlock_unlock(&w0); }

// Several operations in one transition.
template <typename Operations>
void Step(Operations operations) {
  mc_atomic_begin();
  operations();
  mc_atomic_end();
}

// A loop that waits for one of several cells; each of its iterations is one transition.
template <typename Condition>
void SpinUntil(Condition condition) {
  for (;;) {
    mc_atomic_begin();
    const bool holds = condition();
    mc_atomic_end();
    if (holds) return;
  }
}

using Body = void (*)();

pthread_t Start(Body body) {
  pthread_t thread;
  const int error = pthread_create(
      &thread, nullptr,
      [](void* argument) -> void* {
        reinterpret_cast<Body>(argument)();
        return nullptr;
      },
      reinterpret_cast<void*>(body));
  if (error != 0) abort();
  return thread;
}

// Runs each body as a thread, and joins them all.
template <typename... Bodies>
void Run(Bodies... bodies) {
  const pthread_t threads[] = {Start(bodies)...};
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
}

void Increment() { Store(x, Load(x) + 1); }
void Nothing() {}

}  // namespace

// ------------------------------------------------------------------------------------------------
// Memory

// x=1 || r0=x || r0=x
TRACES(readers_2, "4 traces") {
  Run([] { Store(x, 1); }, [] { Load(x); }, [] { Load(x); });
}

// r0=x; x=r0+1 || r0=x; x=r0+1
TRACES(inc_2, "4 traces") { Run(Increment, Increment); }

TRACES(inc_3, "36 traces") { Run(Increment, Increment, Increment); }

// x=2 || r0=cas(x,2,3) || r0=cas(x,2,3)
TRACES(wcas_2, "5 traces") {
  Run([] { Store(x, 2); }, [] { Cas(x, 2, 3); }, [] { Cas(x, 2, 3); });
}

// r0=u, if r0!=0 {; r0=z, if r0!=0 {; r0=y, if r0!=0 {; r0=x}}} || r0=x; y=r0+1 || r0=y; z=r0+1 ||
// r0=z; u=r0+1
TRACES(lastzero_3, "12 traces") {
  Run(
      [] {
        if (Load(u) != 0 && Load(z) != 0 && Load(y) != 0) Load(x);
      },
      [] { Store(y, Load(x) + 1); }, [] { Store(z, Load(y) + 1); }, [] { Store(u, Load(z) + 1); });
}

// x=1; r0=y || y=1; r0=x
TRACES(SB, "3 traces") {
  Run([] { Store(x, 1), Load(y); }, [] { Store(y, 1), Load(x); });
}

// y=1 || r0=y, r0=z || z=1
TRACES(block_2rd, "4 traces") {
  Run([] { Store(y, 1); }, [] { Step([] { Load(y), Load(z); }); }, [] { Store(z, 1); });
}

// r0=x || r1=cas(x,1,2) || x=1
TRACES(block_stale, "5 traces") {
  Run([] { Load(x); }, [] { Cas(x, 1, 2); }, [] { Store(x, 1); });
}

// r0=x, if r0==1 {y=1}, z=1 || x=1 || r1=y || r1=z
TRACES(block_branch, "6 traces") {
  Run(
      [] {
        Step([] {
          if (Load(x) == 1) Store(y, 1);
          Store(z, 1);
        });
      },
      [] { Store(x, 1); }, [] { Load(y); }, [] { Load(z); });
}

// add(x,1) || add(x,2) || r0=x      (6 if the engine cannot prove that nobody uses the results of
// the additions)
TRACES(blind_add, "4 or 6 traces") {
  Run([] { x.fetch_add(1, std::memory_order_relaxed); },
      [] { x.fetch_add(2, std::memory_order_relaxed); }, [] { Load(x); });
}

// r0=cas(x,1,1) || r0=x
TRACES(dead_cas, "1 traces") {
  Run([] { Cas(x, 1, 1); }, [] { Load(x); });
}

// x=1 || r0=x || r0=cas(x,0,2)
TRACES(sleep_last, "5 traces") {
  Run([] { Store(x, 1); }, [] { Load(x); }, [] { Cas(x, 0, 2); });
}

// x=1; y=1 || r0=cas(y,0,2); r0=x || r1=y
TRACES(prefix_absorbs, "8 traces") {
  Run([] { Store(x, 1), Store(y, 1); }, [] { Cas(y, 0, 2), Load(x); }, [] { Load(y); });
}

// r0=y || x=2 || r0=x || y=2
TRACES(two_pairs, "4 traces") {
  Run([] { Load(y); }, [] { Store(x, 2); }, [] { Load(x); }, [] { Store(y, 2); });
}

// r0=new, x=1 || r0=new; *r0=2 || x=1
TRACES(heap, "2 traces") {
  static int *first, *second;
  Run(
      [] {
        Step([] {
          first = new int;
          Store(x, 1);
        });
      },
      [] {
        second = new int;
        *second = 2;
      },
      [] { Store(x, 1); });
  delete first;
  delete second;
}

// ------------------------------------------------------------------------------------------------
// Mutexes

// x=1, lock m0 || lock m0
TRACES(block_lock, "2 traces, 2 deadlock") {
  Run([] { Step([] { Store(x, 1), Lock(m0); }); }, [] { Lock(m0); });
}

// lock m0; r0=x, unlock m0 || y=1, lock m0, x=r0+1; unlock m0 || r0=y
TRACES(block_lock2, "6 traces") {
  Run(
      [] {
        Lock(m0);
        Step([] { Load(x), Unlock(m0); });
      },
      [] {
        Step([] { Store(y, 1), Lock(m0), Store(x, 1); });
        Unlock(m0);
      },
      [] { Load(y); });
}

// lock m0; unlock m0 || lock m0; unlock m0
TRACES(lock_lock, "2 traces") {
  Run([] { Lock(m0), Unlock(m0); }, [] { Lock(m0), Unlock(m0); });
}

// lock m0; lock m1; unlock m1; unlock m0 || lock m1; lock m0; unlock m0; unlock m1
TRACES(nested, "3 traces, 1 deadlock") {
  Run([] { Lock(m0), Lock(m1), Unlock(m1), Unlock(m0); },
      [] { Lock(m1), Lock(m0), Unlock(m0), Unlock(m1); });
}

// Three philosophers, all reaching for the same side first.
TRACES(phil_3, "7 traces, 1 deadlock") {
  Run([] { Lock(m0), Lock(m1), Unlock(m1), Unlock(m0); },
      [] { Lock(m1), Lock(m2), Unlock(m2), Unlock(m1); },
      [] { Lock(m2), Lock(m0), Unlock(m0), Unlock(m2); });
}

// lock m0; lock m0; x=1; unlock m0; unlock m0 || lock m0; r0=x; unlock m0 || r2=trylock m0     [m0
// recursive]
TRACES(recursive, "9 traces, 3 deadlock") {
  Run(
      [] {
        Lock(recursive_mutex), Lock(recursive_mutex);
        Store(x, 1);
        Unlock(recursive_mutex), Unlock(recursive_mutex);
      },
      [] { Lock(recursive_mutex), Load(x), Unlock(recursive_mutex); },
      [] { TryLock(recursive_mutex); });
}

// lock m0; unlock m0 || r0=trylock m0, if r0==1 {; unlock m0}
TRACES(trylock, "3 traces") {
  Run([] { Lock(m0), Unlock(m0); },
      [] {
        if (TryLock(m0)) Unlock(m0);
      });
}

// r0=trylock m0, if r0==1 {; unlock m0} || r0=trylock m0, if r0==1 {; unlock m0}
TRACES(two_try, "4 traces") {
  Run(
      [] {
        if (TryLock(m0)) Unlock(m0);
      },
      [] {
        if (TryLock(m0)) Unlock(m0);
      });
}

// r2=trylock m0 || r2=trylock m0
TRACES(try_keep, "2 traces") {
  Run([] { TryLock(m0); }, [] { TryLock(m0); });
}

// lock m0; x=1; unlock m0 || r0=trylock m0; r1=x, if r0==1 {; unlock m0} || lock m0; unlock m0
TRACES(try_in_cs, "13 traces") {
  Run([] { Lock(m0), Store(x, 1), Unlock(m0); },
      [] {
        const bool locked = TryLock(m0);
        Load(x);
        if (locked) Unlock(m0);
      },
      [] { Lock(m0), Unlock(m0); });
}

// ------------------------------------------------------------------------------------------------
// Condition variables

// signal c0 || lock m0; wait c0,m0; unlock m0
TRACES(signal_lost, "2 traces, 1 deadlock") {
  Run(Signal, [] { Lock(m0), Wait(), Unlock(m0); });
}

// lock m0; r0=x, if r0==0 {; wait c0,m0}; unlock m0 || x=1; signal c0
TRACES(cond_flag_out, "3 traces, 1 deadlock") {
  Run(
      [] {
        Lock(m0);
        if (Load(x) == 0) Wait();
        Unlock(m0);
      },
      [] { Store(x, 1), Signal(); });
}

// lock m0; r0=x, if r0==0 {; wait c0,m0}; unlock m0 || the same || lock m0; x=1; broadcast c0;
// unlock m0
TRACES(bcast_2, "10 traces") {
  const Body wait_for_x = [] {
    Lock(m0);
    if (Load(x) == 0) Wait();
    Unlock(m0);
  };
  Run(wait_for_x, wait_for_x, [] { Lock(m0), Store(x, 1), Broadcast(), Unlock(m0); });
}

// lock m0; wait c0,m0; unlock m0 || the same || lock m0; signal c0; unlock m0
TRACES(signal_choice, "10 traces, 10 deadlock") {
  const Body wait = [] { Lock(m0), Wait(), Unlock(m0); };
  Run(wait, wait, [] { Lock(m0), Signal(), Unlock(m0); });
}

// lock m0; wait c0,m0; unlock m0 || the same || signal c0, signal c0
TRACES(signal_block, "14 traces, 6 deadlock") {
  const Body wait = [] { Lock(m0), Wait(), Unlock(m0); };
  Run(wait, wait, [] { Step([] { Signal(), Signal(); }); });
}

// lock m0; r3=timedwait c0,m0; unlock m0 || signal c0
TRACES(timed_signal, "3 traces") {
  Run([] { Lock(m0), TimedWait(), Unlock(m0); }, Signal);
}

// lock m0; r3=timedwait c0,m0 || lock m0; broadcast c0
TRACES(timed_bcast, "4 traces, 4 deadlock") {
  Run([] { Lock(m0), TimedWait(); }, [] { Lock(m0), Broadcast(); });
}

// lock m0; r3=timedwait c0,m0, if r3==1 {; x=1} || signal c0 || r0=x
TRACES(timed_use, "5 traces") {
  Run(
      [] {
        Lock(m0);
        if (TimedWait()) Store(x, 1);
      },
      Signal, [] { Load(x); });
}

// lock m0; r3=timedwait c0,m0; unlock m0 || the same || signal c0
TRACES(timed_two, "62 traces") {
  const Body wait = [] { Lock(m0), TimedWait(), Unlock(m0); };
  Run(wait, wait, Signal);
}

// ------------------------------------------------------------------------------------------------
// Semaphores, barriers, reader-writer locks

// P s0; r0=x; x=r0+1; V s0 || the same     [s0=1]
TRACES(sem_lock, "2 traces") {
  sem_init(&s0, 0, 1);
  const Body add = [] { P(), Increment(), V(); };
  Run(add, add);
}

// P s0 || P s0; V s0     [s0=1]
TRACES(sem_keep, "2 traces, 1 deadlock") {
  sem_init(&s0, 0, 1);
  Run(P, [] { P(), V(); });
}

// r2=tryP s0 || P s0     [s0=1]
TRACES(sem_try, "2 traces, 1 deadlock") {
  sem_init(&s0, 0, 1);
  Run([] { TryP(); }, P);
}

// P s0; x=1 || P s0; r0=x || V s0     [s0=0]
TRACES(sem_2wait, "2 traces, 2 deadlock") {
  sem_init(&s0, 0, 0);
  Run([] { P(), Store(x, 1); }, [] { P(), Load(x); }, V);
}

// x=1; barrier b0; r0=y || y=1; barrier b0; r0=x     [b0 for 2]
TRACES(barrier_2, "1 traces") {
  pthread_barrier_init(&b0, nullptr, 2);
  Run([] { Store(x, 1), Barrier(), Load(y); }, [] { Store(y, 1), Barrier(), Load(x); });
}

// barrier b0; barrier b0 || barrier b0; x=1; barrier b0 || barrier b0; r0=x; barrier b0     [b0 for
// 3]
TRACES(barrier_reuse, "2 traces") {
  pthread_barrier_init(&b0, nullptr, 3);
  Run([] { Barrier(), Barrier(); }, [] { Barrier(), Store(x, 1), Barrier(); },
      [] { Barrier(), Load(x), Barrier(); });
}

// barrier b0; x=1 || barrier b0; r0=x || barrier b0     [b0 for 2: one thread too many, so the
// order of arrivals matters]
TRACES(barrier_short, "8 traces, 8 deadlock") {
  pthread_barrier_init(&b0, nullptr, 2);
  Run([] { Barrier(), Store(x, 1); }, [] { Barrier(), Load(x); }, Barrier);
}

// rdlock w0 || rdlock w0 || wrlock w0
TRACES(rw_keep, "2 traces, 2 deadlock") { Run(ReadLock, ReadLock, WriteLock); }

// rdlock w0; r0=x; rdunlock w0 || the same || wrlock w0; x=1; wrunlock w0
TRACES(rw, "4 traces") {
  const Body read = [] { ReadLock(), Load(x), ReadWriteUnlock(); };
  Run(read, read, [] { WriteLock(), Store(x, 1), ReadWriteUnlock(); });
}

// rdlock w0; wrlock w0 || rdlock w0; wrlock w0
TRACES(rw_upgrade, "1 traces, 1 deadlock") {
  const Body upgrade = [] { ReadLock(), WriteLock(); };
  Run(upgrade, upgrade);
}

// rdlock w0; rdunlock w0 || r2=trywr w0, if r2==1 {; wrunlock w0} || r2=tryrd w0, if r2==1 {;
// rdunlock w0}
TRACES(rw_try, "11 traces") {
  Run([] { ReadLock(), ReadWriteUnlock(); },
      [] {
        if (TryWriteLock()) ReadWriteUnlock();
      },
      [] {
        if (TryReadLock()) ReadWriteUnlock();
      });
}

// ------------------------------------------------------------------------------------------------
// Threads

// x=1; create T1; join T1; r0=x || (T1) x=r0+2 || r0=x
TRACES(create_join, "3 traces") {
  Run(
      [] {
        Store(x, 1);
        pthread_join(Start([] { Store(x, 2); }), nullptr);
        Load(x);
      },
      [] { Load(x); });
}

// create T2, r0=x || x=1 || (T2) y=1
TRACES(create_block, "2 traces") {
  Run(
      [] {
        pthread_t created;
        Step([&] {
          created = Start([] { Store(y, 1); });
          Load(x);
        });
        pthread_join(created, nullptr);
      },
      [] { Store(x, 1); });
}

// r0=x || x=1 || join T1
TRACES(join, "2 traces") {
  static pthread_t writer;
  const pthread_t reader = Start([] { Load(x); });
  writer = Start([] { Store(x, 1); });
  const pthread_t joiner = Start([] { pthread_join(writer, nullptr); });
  pthread_join(reader, nullptr);
  pthread_join(joiner, nullptr);
}

// join T1 || join T0
TRACES(join_cycle, "1 traces, 1 deadlock") {
  static pthread_t main_thread;
  main_thread = pthread_self();
  pthread_join(Start([] { pthread_join(main_thread, nullptr); }), nullptr);
}

// ------------------------------------------------------------------------------------------------
// Loops that wait

// x=1; spin until y==1 || y=1; spin until x==1
TRACES(spin_2, "3 traces") {
  Run(
      [] {
        Store(x, 1);
        while (Load(y) != 1) {
        }
      },
      [] {
        Store(y, 1);
        while (Load(x) != 1) {
        }
      });
}

// spin until x or y || y=1 || spin until x or y
TRACES(spin_or, "4 traces") {
  const Body spin = [] { SpinUntil([] { return Load(x) != 0 || Load(y) != 0; }); };
  Run(
      spin, [] { Store(y, 1); }, spin);
}

// spin until cas(x,0,1); x=0 || the same
TRACES(spin_lock, "4 traces") {
  const Body critical = [] {
    while (!Cas(x, 0, 1)) {
    }
    Store(x, 0);
  };
  Run(critical, critical);
}

// spin until trylock m0; unlock m0 || spin until trylock m0
TRACES(spin_try, "3 traces, 1 livelock") {
  Run(
      [] {
        while (!TryLock(m0)) {
        }
        Unlock(m0);
      },
      [] {
        while (!TryLock(m0)) {
        }
      });
}

// spin until x or y || spin until cas(x,0,2) || y=1     (4 if a woken spinner does not look again
// at all it waited for)
TRACES(spin_trunc, "4 or 5 traces") {
  Run([] { SpinUntil([] { return Load(x) != 0 || Load(y) != 0; }); },
      [] { SpinUntil([] { return Cas(x, 0, 2); }); }, [] { Store(y, 1); });
}

// ------------------------------------------------------------------------------------------------
// Choices, assumptions, assertions

// r0=choose(2) || r0=choose(3)
TRACES(choose_2x3, "6 traces") {
  Run([] { mc_choose(2); }, [] { mc_choose(3); });
}

// r0=choose(3) || r0=choose(2), r0=choose(2)
TRACES(choose_twice, "12 traces") {
  Run([] { mc_choose(3); }, [] { Step([] { mc_choose(2), mc_choose(2); }); });
}

// r0=choose(2), x=r0+1 || r3=x
TRACES(choose_store, "4 traces") {
  Run([] { Step([] { Store(x, mc_choose(2) + 1); }); }, [] { Load(x); });
}

// x=1 || r1=choose(3), if r1==1 {x=2}
TRACES(choose_branch, "4 traces") {
  Run([] { Store(x, 1); },
      [] {
        Step([] {
          if (mc_choose(3) == 1) Store(x, 2);
        });
      });
}

// r0=choose(2); y=1 || y=1
TRACES(choose_again, "4 traces") {
  Run([] { mc_choose(2), Store(y, 1); }, [] { Store(y, 1); });
}

// - || r0=choose(2), x=1 || r2=x
TRACES(choose_beside_nothing, "4 traces") {
  Run(
      Nothing, [] { Step([] { mc_choose(2), Store(x, 1); }); }, [] { Load(x); });
}

// - || r1=y || r1=choose(2), if r1==0 {y=2}
TRACES(choose_to_write, "3 traces") {
  Run(
      Nothing, [] { Load(y); },
      [] {
        Step([] {
          if (mc_choose(2) == 0) Store(y, 2);
        });
      });
}

// r1=choose(3), assume r1==2; x=1 || r0=x
TRACES(choose_assume, "4 traces, 2 assume") {
  Run(
      [] {
        mc_assume(mc_choose(3) == 2);
        Store(x, 1);
      },
      [] { Load(x); });
}

// x=1 || r3=x, assume r3==1
TRACES(assume, "2 traces, 1 assume") {
  Run([] { Store(x, 1); }, [] { mc_assume(Load(x) == 1); });
}

// x=1 || r3=x, assume r3==1; y=1 || r0=y
TRACES(assume_2, "3 traces, 1 assume") {
  Run([] { Store(x, 1); },
      [] {
        mc_assume(Load(x) == 1);
        Store(y, 1);
      },
      [] { Load(y); });
}

// r3=x, assert r3==0 || x=1; x=0
TRACES(assert_0, "3 traces, 1 assert") {
  Run([] { mc_assert(Load(x) == 0); }, [] { Store(x, 1), Store(x, 0); });
}

// ------------------------------------------------------------------------------------------------
// Exit. How many traces these have under --exit=immediate depends on how finely the creating
// thread's own steps are cut, since every one of them may fall before or after the exit;
// counts.test knows what must hold.

// - || exit
MC_TEST(exit_1) {
  Run(Nothing, [] { _exit(0); });
}

// x=1; r0=y || r0=x; exit
MC_TEST(exit_2) {
  Run([] { Store(x, 1), Load(y); },
      [] {
        Load(x);
        _exit(0);
      });
}

// lock m0; x=1; unlock m0 || lock m0; exit
MC_TEST(exit_lock) {
  Run([] { Lock(m0), Store(x, 1), Unlock(m0); },
      [] {
        Lock(m0);
        _exit(0);
      });
}

MC_MAIN();
