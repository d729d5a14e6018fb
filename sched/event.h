// Events: what a strategy and an observer see of one execution (spec optimal-dpor 1.1 to 1.5).
//
// A *transition* is what one thread does from one preemption point to just before its next. An
// *Event* is a transition in an execution, identified by (thread, index). Its micro-accesses,
// choices and ledger entries are stored, in order, in the arrays of the Trace that holds it.
#ifndef MC_SCHED_EVENT_H_
#define MC_SCHED_EVENT_H_

#include <cstddef>
#include <cstdint>

#include "sched/cell.h"

namespace mc::sched {

// A thread is named by (creator, ordinal among the creator's creations). Slots are handed out per
// name and never change within a process, so a ThreadId is a function of the name. Main is 0.
using ThreadId = uint16_t;
inline constexpr ThreadId kNoThread = 0xffff;
inline constexpr uint32_t kMaxThreads = 4096;

// Access modes. Two accesses to one cell conflict unless both are reads or both are additions.
enum AccessMode : uint8_t {
  kRead = 1,
  kWrite = 2,
  kReadWrite = 3,
  kAdd = 4,  // commuting addition whose result is not used
};

constexpr bool ModesConflict(uint8_t a, uint8_t b) {
  // R-R and A-A commute; everything else conflicts.
  return !((a == kRead && b == kRead) || (a == kAdd && b == kAdd));
}

enum AccessFlags : uint16_t {
  kValueRelevant = 1 << 0,  // what the thread does next in the block may depend on the value found
  kAtomic = 1 << 1,         // an atomic operation (order in `order`)
  kFence = 1 << 2,          // size 0; only `order` matters
  kAllocation = 1 << 3,     // a block of heap begins a new lifetime here (W on all its bytes)
  kFree = 1 << 4,           // a block of heap ends its lifetime here (W on all its bytes)
  kObjectBytes = 1 << 5,    // bytes of a synchronisation object, touched by an operation on it
  kAcquire = 1 << 6,        // a synchronisation acquire on this (non-memory) cell: lock, join, ...
  kRelease = 1 << 7,       // a synchronisation release on this (non-memory) cell: unlock, exit, ...
  kEnables = 1 << 8,       // release that took a thread from blocked to enabled (must-happen-before
                           // source: create, exit, wake, last arrival, post from 0, make_runnable)
  kBlockingTest = 1 << 9,  // the operation found the object taken and the block ends, or kNotMade:
                           // nothing that detectors look at
  kRelative = 1 << 10,     // a semaphore's W: relative, does not count as overwriting the value
  kTry = 1 << 11,          // a try or timed operation (lock by it cannot deadlock)
  kThreadLocal = 1 << 12,  // bytes that die with this event's thread (its stack): forget them then
  kOrderedBySync = 1 << 13,  // the order of all conflicts of this instruction seen so far follows
                             // from that of synchronisation: a search need not look (site_filter.h)
  kTentative = 1 << 14,      // a lock or unlock by a thread that may be in a loop (lock_attempts.h)
  kNotMade = 1 << 15,        // the access failed; in another order it may be made
};

// Memory orders as in C++: the values of __ATOMIC_*.
enum class MemoryOrder : uint8_t { kRelaxed, kConsume, kAcquire, kRelease, kAcqRel, kSeqCst };

// One access of a block to a range of cells. Repeated accesses by the same instruction to the same
// bytes within one block are recorded once (the first).
struct MicroAccess {
  Cell begin = 0;
  uint64_t pc = 0;       // return address of the hook call, or 0
  uint32_t size = 0;     // in cells; 1 for all but memory
  uint16_t flags = 0;    // AccessFlags
  uint8_t mode = kRead;  // AccessMode
  MemoryOrder order = MemoryOrder::kRelaxed;

  Cell end() const { return begin + size; }
  bool Overlaps(const MicroAccess& other) const {
    return begin < other.end() && other.begin < end();
  }
  bool ConflictsWith(const MicroAccess& other) const {
    return Overlaps(other) && ModesConflict(mode, other.mode);
  }
};
static_assert(sizeof(MicroAccess) == 24);

// A data choice inside a block: mc_choose, or which waiter a signal wakes.
struct Choice {
  uint32_t value = 0;
  uint32_t arity = 0;
  uint32_t position = 0;  // number of the event's micro-accesses recorded before this choice
};

// The kinds of first operation that can block (spec 1.1 item 4).
enum class OperationKind : uint8_t {
  kNone = 0,       // nothing that can block: always enabled
  kLock,           // mutex or spin lock; object = its kMutex cell
  kReacquire,      // after a condition wait, once woken or timed out; object = kMutex cell
  kTimedWaiter,    // still waiting, its time-out is what would run; object = condvar or futex cell
  kWaiter,         // waiting without a time-out (or spuriously wakeable: then kTimedWaiter)
  kSemaphoreWait,  // object = kSemaphore cell
  kReadLock,       // object = kWriterHalf cell
  kWriteLock,      // object = kWriterHalf cell
  kJoin,           // object = kThreadExit cell of the thread waited for
  kBarrierDepart,  // object = kBarrierGeneration cell; enabled once `needed` arrivals are in
  kSpin,           // waits until another thread writes a cell it read in its last iteration
  kDescheduled,    // mc_deschedule: until its kWake cell is written; object = kWake cell
  kFutexReturn,    // a futex or deschedule waiter that was woken; object = its kWake cell
  kHandlerPhase,   // the exit handlers: enabled when nothing else can run
  kBoundedLoop,  // waits in a bounded loop (loop_bound.h), as kSpin, for a thread that is not past
                 // its own bound
  kForcedRound,  // was kBoundedLoop until nothing else could run: depends on all before it
};

// What a thread that has not run its next block will do first.
struct Operation {
  OperationKind kind = OperationKind::kNone;
  Cell object = 0;
  uint32_t needed = 0;  // barrier: how many arrivals the generation takes
  uint64_t pc = 0;      // where the program does it
  uint8_t detail = 0;   // OperationDetail, for people: what the operation is called
  // kReacquire and kFutexReturn of a thread that was woken from a wait with a time-out (or one that
  // may wake spuriously): the cell that its time-out would have written (condvar or futex queue).
  // 0 if the wait has no time-out, or the time-out is what ended it.
  Cell timeout_object = 0;
  // kReacquire of a thread whose wait is over whoever else does what: it ran out.
  bool wait_is_over = false;
};

// Does an event that begins with this depend on all earlier ones, whatever it touches?
constexpr bool DependsOnAll(OperationKind kind) {
  return kind == OperationKind::kHandlerPhase || kind == OperationKind::kForcedRound;
}
// Does a thread that waits so wait for a write to what it read?
constexpr bool WaitsInLoop(OperationKind kind) {
  return kind == OperationKind::kSpin || kind == OperationKind::kBoundedLoop;
}

// The change a block made to one synchronisation object, net (spec 1.1 item 5).
//   mutex:      before, after = holder + 1, or 0 when free
//   semaphore:  after - before = change of the count; before of a first touch is the count then
//   rwlock, kWriterHalf: holder + 1 or 0; kReadersHalf: this thread's number of read holds
struct LedgerEntry {
  Cell object = 0;
  int64_t before = 0;
  int64_t after = 0;
};

struct Event {
  ThreadId thread = kNoThread;
  uint16_t flags = 0;  // EventFlags
  uint32_t index = 0;  // within the thread, from 0
  uint32_t first_access = 0, access_count = 0;
  uint32_t first_choice = 0, choice_count = 0;
  uint32_t first_ledger = 0, ledger_count = 0;
  uint32_t first_spin_cell = 0, spin_cell_count = 0;  // of the iteration before, if kSpin began it
  uint64_t hook_calls = 0;  // raw count, for the light divergence check of fast-forward
  Operation operation;      // first operation, if it can block; kNone otherwise
};

enum EventFlags : uint16_t {
  kFailed = 1 << 1,            // the thread failed in this event (assertion, crash) and is stopped
  kAssumptionFailed = 1 << 2,  // mc_assume(false): the thread is stopped, the execution marked
  kExited = 1 << 3,            // wrote kAlive: the process ended here (--exit=immediate)
  kTimedOut = 1 << 4,          // this event is a time-out (or a spurious wake-up)
  kWasPreemption = 1 << 5,     // the previous event's thread was enabled and not yielding
  kVoluntary = 1 << 6,         // ended at sched_yield, mc_yield or a sleep: a free switch
  kPastBound = 1 << 7,         // of a thread that is past the bound of a loop (loop_bound.h)
};

}  // namespace mc::sched

#endif  // MC_SCHED_EVENT_H_
