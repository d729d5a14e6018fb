// Thread: one thread of the program under test, as the scheduler sees it in one execution.
//
// A Thread object belongs to a slot; slots are handed out per thread *name* (creator, ordinal) and
// keep their stack, thread-local storage, heap region and pthread_t for as long as the process
// lives, so that all addresses are functions of the name (spec optimal-dpor 1.1).
#ifndef MC_SCHED_THREAD_H_
#define MC_SCHED_THREAD_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "sched/event.h"
#include "sched/loop_bound.h"
#include "sched/spin.h"
#include "sched/thread_register.h"
#include "sched/trace.h"

namespace mc::sched {

struct Thread;

// Can the thread's next block run now? Reads the state of the object it waits for.
using EnabledTest = bool (*)(const Thread& thread);

// How a thread stopped, beyond ThreadStatus.
enum class StopReason : uint8_t { kNone, kFailure, kAssumption, kExit };

// What others can see of a thread, and what they can change of it when it has ended: little, since
// executions are made again from checkpoints at which most threads may have ended.
struct ThreadStanding {
  bool exists = false;  // created in this execution
  bool started = false;
  ThreadStatus status = ThreadStatus::kRunnable;
  StopReason stop_reason = StopReason::kNone;
  bool detached = false;
  bool joined = false;
  uint32_t creations = 0;  // threads it has created
  uint64_t clock_ns = 0;   // virtual time
  void* result = nullptr;
  char name[16] = {};    // pthread_setname_np
  int cancel_state = 0;  // pthread_setcancelstate, pthread_setcanceltype
  int cancel_type = 0;
  int policy = 0;  // pthread_setschedparam: mc does not heed it
  int priority = 0;
  int nice = 0;  // setpriority: added to what the process had at the start
};

// What belongs to one execution, and is saved in a checkpoint.
struct ThreadState : ThreadStanding {
  bool yielded = false;             // its last block ended at a yield or a sleep
  bool preemption_due = false;      // a PP follows the last operation: the next one begins a block
  bool woken = false;               // waiters: was woken since it began to wait
  bool timed_out = false;           // waiters: the wait ran out
  bool past_bound = false;          // has waited in a bounded loop (loop_bound.h)
  bool tells_that_it_waits = true;  // of the last such loop: it yields, sleeps, tries, ...
  uint32_t atomic_depth = 0;        // mc_atomic_begin nesting
  uint32_t events = 0;              // number of its events so far, the running one included
  Operation pending;                // what it does first when scheduled next
  MicroAccess attempt;  // what its hook does by itself, until it is recorded; size 0: none
  EnabledTest can_run = nullptr;  // of `pending`; nullptr: always
  uintptr_t wait_object = 0;      // address of the object it waits for (condvar, futex word, ...)
  uintptr_t wait_mutex = 0;       // condition waits: the mutex to take again
  uint64_t wait_argument = 0;     // free for the operation (barrier generation, futex bitset, ...)
  uint64_t created = 0;           // when (OwnedMemory::Time): the creator has done less before
  size_t forced_round = 0;        // the last one's position in the trace + 1; 0: none

  void* (*entry)(void*) = nullptr;
  void* argument = nullptr;
  void* context = nullptr;  // where it stopped (Boost.Context fcontext)

  bool has_left = false;  // main, by pthread_exit: over for all others (Scheduler::LeaveMain)

  void* cleanup = nullptr;  // its innermost clean-up handler of C code: a __pthread_unwind_buf_t

  uint32_t vector_control = 0;  // the floating-point control words (MXCSR, x87) that it
  uint16_t scalar_control = 0;  // begins with: its creator's

  uint64_t random_draws = 0;    // random numbers it has asked the system for
  uint64_t signal_mask = 0;     // bit n-1: signal n is blocked
  uint64_t system_call_pc = 0;  // of the C library's function that asks the kernel; 0: of none
};
static_assert(std::is_trivially_copyable_v<ThreadState>);

// What belongs to one execution as well, but is mostly empty.
struct ThreadLists {
  struct ReadHold {
    uintptr_t lock;
    uint32_t count;
  };
  std::vector<ReadHold> read_holds;

  struct HeldMutex {  // for reports (who holds what) and deadlock cycles
    uintptr_t object;
    uint64_t pc;
    bool robust = false;  // a robust mutex: others learn of it if the thread ends
  };
  std::vector<HeldMutex> held;

  struct Destructor {  // thread_local destructors (__cxa_thread_atexit)
    void (*function)(void*);
    void* object;
  };
  std::vector<Destructor> destructors;
  std::vector<void*> specific;            // pthread_setspecific values by key
  std::vector<uintptr_t> barriers;        // barriers it has arrived at, since they were initialised
  std::vector<unsigned char> processors;  // pthread_setaffinity_np; empty: wherever main may run
  std::vector<LoopRounds> loops;          // loops that it waits in

  bool AllEmpty() const {
    return read_holds.empty() && held.empty() && destructors.empty() && specific.empty() &&
           barriers.empty() && processors.empty() && loops.empty();
  }
};

struct Thread : ThreadState, ThreadLists {
  // -- for the life of the slot
  ThreadId id = 0;
  ThreadId creator = kNoThread;
  uint32_t ordinal = 0;          // among the creator's creations
  uintptr_t thread_pointer = 0;  // base of its thread-local storage; also its pthread_t
  StorageUse storage_use;
  uintptr_t stack_low = 0, stack_high = 0;
  std::vector<ThreadId> children;  // by ordinal

  // -- for one execution
  SpinTracker spin;
};

// For whoever waits for its end, or asks.
inline bool HasEnded(const Thread& thread) {
  return thread.status == ThreadStatus::kFinished || thread.has_left;
}

inline bool Holds(const Thread& thread, uintptr_t lock) {
  return std::ranges::any_of(thread.held,
                             [&](const Thread::HeldMutex& held) { return held.object == lock; });
}

}  // namespace mc::sched

#endif  // MC_SCHED_THREAD_H_
