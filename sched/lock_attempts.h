// LockAttempts: what a thread that may be in a loop does to locks.
//
// An iteration of a loop may take locks if it gives them all back: a poll under a lock, or the
// back-off of std::lock (lock a; try b fails; unlock a; lock b; ...). Others can notice it only by
// a try operation that fails. Two threads that back off from each other could go on so for ever,
// each changing what the other looks at; but an attempt that failed and that nobody who got any
// further noticed can be left out of the execution, or be done in one with the next.
//
// So what a thread does to locks while it is watched (spin.h) is *tentative* (kTentative) and wakes
// no thread in such a loop. It is *announced* (kAdd on the kLockChange cells of the locks) once the
// thread turns out to get further: it changes something, comes to a state it has not been in since
// it last changed anything, waits for something else or ends. Locks that it holds then are left
// out: giving them back will wake the others. A thread in such a loop waits for a write that is not
// tentative or for an announcement. Hence an execution holds finitely many attempts. It can end
// with threads that wait although what they tried has become free since: it is then one with
// attempts too many, which does not count (ExecutionOutcome::kRepeats).
//
// The locks are mutexes, spin locks and reader-writer locks. The argument is made for attempts that
// take locks, fail at one and give all back, as std::lock does. It does not cover a loop whose
// single iteration waits for several attempts of another thread that loops as well, by refusals in
// a certain order, and tells a third thread half-way.
//
// Invariant: the operations are those since the thread last changed anything; the locks to announce
// may be older by at most one block.
#ifndef MC_SCHED_LOCK_ATTEMPTS_H_
#define MC_SCHED_LOCK_ATTEMPTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mc::sched {

enum class LockStep : uint8_t {
  kTaken,
  kReleased,
  kRefused,         // somebody held it
  kRefusedReading,  // a read lock: somebody held it for writing
};

struct LockOperation {
  uintptr_t lock;
  size_t size;  // of the object, in bytes
  LockStep step;

  bool refused() const { return step == LockStep::kRefused || step == LockStep::kRefusedReading; }
};

class LockAttempts {
 public:
  // The thread changed something else.
  void Progress() {
    operations_.clear();
    any_taken_ = false;
  }
  void Reset() {
    Progress();
    unannounced_.clear();
    announce_soon_ = false;
  }

  void Add(const LockOperation& operation) {
    operations_.push_back(operation);
    if (operation.refused()) return;
    any_taken_ = true;
    if (std::ranges::find(unannounced_, operation.lock) == unannounced_.end()) {
      unannounced_.push_back(operation.lock);
    }
  }

  std::span<const LockOperation> operations() const { return operations_; }
  // Was any of them more than a refusal?
  bool any_taken() const { return any_taken_; }

  // The locks whose operations have not been announced, each once.
  std::span<const uintptr_t> unannounced() const { return unannounced_; }
  // The thread gets further with this block.
  void AnnounceSoon() { announce_soon_ = !unannounced_.empty(); }
  bool announces_soon() const { return announce_soon_; }
  void Announced() {
    unannounced_.clear();
    announce_soon_ = false;
  }

 private:
  std::vector<LockOperation> operations_;
  bool any_taken_ = false;
  std::vector<uintptr_t> unannounced_;
  bool announce_soon_ = false;
};

}  // namespace mc::sched

#endif  // MC_SCHED_LOCK_ATTEMPTS_H_
