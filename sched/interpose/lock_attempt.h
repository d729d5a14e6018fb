// Locks that a thread takes and gives back where it may be in a loop (sched/lock_attempts.h).
//
// Such an operation carries the flag kTentative, changes nothing as far as the spin rule is
// concerned, and is noted together with the cells of the lock, which the loop then waits for.
#ifndef MC_SCHED_INTERPOSE_LOCK_ATTEMPT_H_
#define MC_SCHED_INTERPOSE_LOCK_ATTEMPT_H_

#include <cstddef>
#include <cstdint>

#include "sched/interpose/hook.h"
#include "sched/lock_attempts.h"

namespace mc::sched {

// kTentative if what the running thread does to a lock now may be part of a loop, else 0.
inline uint16_t TentativeFlag() {
  return g_scheduler.current().spin.watched() ? static_cast<uint16_t>(kTentative) : uint16_t{0};
}

// How a write to a lock's cell is recorded: a tentative one also looks at it.
inline uint8_t WriteMode(uint16_t flags) {
  return (flags & (kTentative | kValueRelevant)) != 0 ? kReadWrite : kWrite;
}

// The running thread, if it may be in a loop, did `step` to the lock whose state is `cells`.
template <typename... Cells>
void NoteAttempt(const volatile void* lock, size_t size, LockStep step, uint64_t pc,
                 Cells... cells) {
  SpinTracker& spin = g_scheduler.current().spin;
  if (!spin.watched()) return;
  spin.OnLock({reinterpret_cast<uintptr_t>(lock), size, step});
  // An iteration takes what it gives back, or fails to: from then on it waits for the lock.
  if (step == LockStep::kReleased || !spin.locks().any_taken()) return;
  (g_scheduler.NoteRead(cells), ...);
  g_scheduler.RecordCell(CellOf(CellKind::kLockChange, lock), kRead, 0, pc);
}

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_LOCK_ATTEMPT_H_
