// HeldLocks: the lockset of every thread, along a trace.
//
// Mutexes and spin locks: from an acquire that writes the kMutex cell to its release. Reader-writer
// locks: a write hold from acquire to release of the kWriterHalf cell, a read hold of the
// kReadersHalf cell. Semaphores used as locks (a heuristic): a thread holds one from its wait to
// its post. It is contradicted, once and for all, when its count at the first wait of an execution
// is not 1, when a thread that does not hold it posts it, or when a wait succeeds while it is held.
#ifndef MC_RACEDET_HELD_LOCKS_H_
#define MC_RACEDET_HELD_LOCKS_H_

#include <cstdint>

#include "racedet/candidate_table.h"
#include "racedet/open_hash.h"
#include "racedet/stable_array.h"
#include "racedet/undo_log.h"
#include "sched/trace.h"

namespace mc::racedet {

// Calls visit(lock, change) for what an access does to the locks that its thread holds, but for
// semaphores: nothing, one change, or a lock that is taken and given up again.
template <typename Visit>
void ForEachLockChange(const sched::MicroAccess& access, const Visit& visit) {
  const sched::CellKind kind = sched::KindOf(access.begin);
  const bool read = kind == sched::CellKind::kReadersHalf;
  if (kind != sched::CellKind::kMutex && kind != sched::CellKind::kWriterHalf && !read) return;
  const sched::Cell lock =
      read ? sched::MakeCell(sched::CellKind::kWriterHalf, sched::ObjectOf(access.begin))
           : access.begin;
  // A mutex is taken by a write. Who only reads the cell (of a routine to be run once, which has
  // run) takes nothing.
  const bool takes = access.mode != sched::kRead;
  if (takes && (access.flags & sched::kAcquire) && !(access.flags & sched::kBlockingTest)) {
    visit(lock, read ? LockChange::kReadAcquire : LockChange::kAcquire);
  }
  if (access.flags & sched::kRelease) {
    visit(lock, read ? LockChange::kReadRelease : LockChange::kRelease);
  }
}

class HeldLocks {
 public:
  // `table` outlives this; it interns the locksets and is told of contradicted semaphores.
  HeldLocks(CandidateTable& table, UndoLog& log) : table_(table), log_(log) {}

  void Reset();

  // To be called first for each event.
  void BeginEvent(const sched::Event& event) { threads_.GrowTo(event.thread + 1u); }

  // `access` is one of `event`, on a cell that is not memory.
  void Apply(const sched::Trace& trace, const sched::Event& event,
             const sched::MicroAccess& access);

  LocksetId LocksetOf(sched::ThreadId thread) const { return threads_[thread].lockset; }

 private:
  struct Thread {
    uint32_t lockset = 0;
  };
  struct Semaphore {
    uint32_t generation = 0;
    uint32_t state = 0;  // kUntouched, kFree, or kHeldBy + thread
  };
  static constexpr uint32_t kUntouched = 0, kFree = 1, kHeldBy = 2;

  void Change(sched::ThreadId thread, sched::Cell lock, LockChange change);
  void ApplyToSemaphore(const sched::Trace& trace, const sched::Event& event,
                        const sched::MicroAccess& access);
  Semaphore& SemaphoreAt(sched::Cell cell);

  CandidateTable& table_;
  UndoLog& log_;
  uint32_t generation_ = 1;
  StableArray<Thread> threads_;
  OpenHash<uint64_t> semaphore_index_;
  StableArray<Semaphore> semaphores_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_HELD_LOCKS_H_
