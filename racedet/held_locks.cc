#include "racedet/held_locks.h"

namespace mc::racedet {

using sched::Cell;
using sched::CellKind;
using sched::Event;
using sched::MicroAccess;
using sched::Trace;

void HeldLocks::Reset() {
  ++generation_;
  for (uint32_t i = 0; i < threads_.size(); ++i) threads_[i] = Thread{};
}

void HeldLocks::Change(sched::ThreadId thread, Cell lock, LockChange change) {
  uint32_t& lockset = threads_[thread].lockset;
  log_.Set(lockset, table_.locksets().Apply(lockset, lock, change));
}

void HeldLocks::Apply(const Trace& trace, const Event& event, const MicroAccess& access) {
  if (sched::KindOf(access.begin) == CellKind::kSemaphore) {
    return ApplyToSemaphore(trace, event, access);
  }
  ForEachLockChange(access,
                    [&](Cell lock, LockChange change) { Change(event.thread, lock, change); });
}

HeldLocks::Semaphore& HeldLocks::SemaphoreAt(Cell cell) {
  uint32_t index = semaphore_index_.Find(cell);
  if (index == semaphore_index_.kAbsent) {
    index = semaphores_.size();
    semaphores_.GrowTo(index + 1);
    semaphore_index_.Insert(cell, index);
  }
  Semaphore& semaphore = semaphores_[index];
  if (semaphore.generation != generation_) semaphore = {generation_, kUntouched};
  return semaphore;
}

void HeldLocks::ApplyToSemaphore(const Trace& trace, const Event& event,
                                 const MicroAccess& access) {
  Semaphore& semaphore = SemaphoreAt(access.begin);
  const uint32_t held = kHeldBy + event.thread;
  if ((access.flags & sched::kAcquire) && !(access.flags & sched::kBlockingTest)) {
    bool lock = semaphore.state <= kFree;
    if (semaphore.state == kUntouched) {
      for (const sched::LedgerEntry& entry : trace.LedgerOf(event)) {
        if (entry.object == access.begin && entry.before != 1) lock = false;
      }
    }
    if (!lock) table_.ContradictSemaphore(access.begin);
    log_.Set(semaphore.state, held);
    Change(event.thread, access.begin, LockChange::kAcquire);
  } else if (access.flags & sched::kRelease) {
    if (semaphore.state != held) table_.ContradictSemaphore(access.begin);
    log_.Set(semaphore.state, kFree);
    Change(event.thread, access.begin, LockChange::kRelease);
  } else if (access.mode == sched::kWrite && !(access.flags & sched::kRelative)) {
    log_.Set(semaphore.state, kUntouched);  // initialised or destroyed
  }
}

}  // namespace mc::racedet
