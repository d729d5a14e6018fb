// ClockCells: what was last published on each cell (a mutex, a thread's exit, an atomic, ...).
//
// Cells keep their slot for the life of the detector; a slot of an earlier execution counts as
// empty (generation numbers), so an execution begins in constant time.
#ifndef MC_RACEDET_CLOCK_CELLS_H_
#define MC_RACEDET_CLOCK_CELLS_H_

#include <cstdint>

#include "racedet/clock_arena.h"
#include "racedet/open_hash.h"
#include "racedet/stable_array.h"
#include "racedet/undo_log.h"
#include "sched/cell.h"

namespace mc::racedet {

class ClockCells {
 public:
  explicit ClockCells(UndoLog& log) : log_(log) {}

  void Reset() { ++generation_; }

  ClockArena::Publication Get(sched::Cell cell) const {
    const uint32_t index = index_.Find(cell);
    if (index == OpenHash<uint64_t>::kAbsent) return {};
    const Slot& slot = slots_[index];
    if (slot.generation != generation_) return {};
    return {slot.ref, slot.thread, slot.bound};
  }

  void Set(sched::Cell cell, const ClockArena::Publication& publication) {
    uint32_t index = index_.Find(cell);
    if (index == OpenHash<uint64_t>::kAbsent) {
      index = slots_.size();
      slots_.GrowTo(index + 1);
      index_.Insert(cell, index);
    }
    Slot& slot = slots_[index];
    if (slot.generation != generation_) slot = Slot{generation_};
    log_.Set(slot.ref, publication.ref);
    log_.Set(slot.thread, publication.thread);
    log_.Set(slot.bound, publication.bound);
  }

 private:
  struct Slot {
    uint32_t generation = 0;
    uint32_t ref = 0, thread = 0, bound = 0;
  };

  UndoLog& log_;
  uint32_t generation_ = 1;
  OpenHash<uint64_t> index_;
  StableArray<Slot> slots_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_CLOCK_CELLS_H_
