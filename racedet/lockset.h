// LocksetTable: the sets of locks threads hold, interned as small numbers.
//
// A lockset lists for each lock whether it is held for writing and how many times for reading.
// Two accesses are protected from each other by a lock both threads hold, unless both hold it for
// reading only: a read hold protects against writers, not against other readers' writes.
//
// A semaphore may be used as a lock: initial value 1, posted by the thread that waited. Whether it
// is one is a guess from what has been seen so far. Contradict takes the guess back for good: from
// then on the semaphore protects nothing. Number 0 is the empty set. Sets are never removed: there
// are as many as a program has different sets of locks held together.
#ifndef MC_RACEDET_LOCKSET_H_
#define MC_RACEDET_LOCKSET_H_

#include <cstdint>
#include <span>
#include <vector>

#include "racedet/open_hash.h"
#include "sched/cell.h"

namespace mc::racedet {

using LocksetId = uint32_t;

enum class LockChange : uint8_t { kAcquire, kRelease, kReadAcquire, kReadRelease };

enum class Protection : uint8_t {
  kNone,            // no common lock
  kSemaphoresOnly,  // only semaphores taken for locks: may be contradicted later
  kLocks,
};

class LocksetTable {
 public:
  struct Hold {
    sched::Cell lock = 0;  // kMutex, kWriterHalf (for both halves) or kSemaphore cell
    uint32_t read_holds = 0;
    bool write = false;

    bool operator==(const Hold&) const = default;
  };

  LocksetTable();

  // The set after the change. Releasing what is not held changes nothing.
  LocksetId Apply(LocksetId set, sched::Cell lock, LockChange change);

  Protection CommonProtection(LocksetId a, LocksetId b) const {
    return (sets_[a].signature & sets_[b].signature) == 0 ? Protection::kNone : Intersect(a, b);
  }

  // The set of these holds, as HoldsOf gave them in another table.
  LocksetId SetOf(std::span<const Hold> holds);
  // The holds of a set, by lock. Valid until the next Apply.
  std::span<const Hold> HoldsOf(LocksetId set) const {
    return {holds_.data() + sets_[set].first, sets_[set].count};
  }

  // The semaphore is not used as a lock. Returns whether that is new.
  bool Contradict(sched::Cell semaphore);
  bool Contradicted(sched::Cell semaphore) const;
  std::span<const sched::Cell> contradicted() const { return contradicted_; }

 private:
  struct Set {
    uint32_t first = 0, count = 0;
    uint64_t signature = 0;  // one bit per lock, by hash: disjoint signatures, disjoint sets
  };
  struct Step {
    sched::Cell lock = 0;
    LocksetId set = 0;
    LockChange change = LockChange::kAcquire;

    bool operator==(const Step&) const = default;
  };
  struct StepHash {
    uint64_t operator()(const Step& step) const {
      return MixBits(step.lock ^ (uint64_t{step.set} << 8) ^ static_cast<uint64_t>(step.change));
    }
  };

  Protection Intersect(LocksetId a, LocksetId b) const;
  LocksetId Intern(const std::vector<Hold>& holds);

  std::vector<Set> sets_;
  std::vector<Hold> holds_;
  OpenHash<Step, StepHash> steps_;
  OpenHash<uint64_t> by_content_;  // hash of the content, probed on by adding 1
  std::vector<sched::Cell> contradicted_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_LOCKSET_H_
