// HeapCheckpoint: the program heap as it stood in the middle of an execution.
//
// What is kept: the records and the bytes of the live blocks allocated since the snapshot, the
// lists that say which places are handed out next. Blocks of the snapshot itself are part of the
// process's snapshot (Snapshot); if one of them has been freed, no checkpoint can be made.
#ifndef MC_SCHED_HEAP_CHECKPOINT_H_
#define MC_SCHED_HEAP_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/heap_region.h"
#include "sched/memory_copy.h"

namespace mc::sched {

// The states of the size classes of `touched`, one after the other.
struct ClassStatesCopy {
  TouchedClasses touched;
  size_t first = 0;  // in HeapCheckpoint::classes
};

struct HeapCheckpoint {
  struct Region {
    HeapRegion* region = nullptr;
    uint32_t units = 0;
    HeapBlock* next_record = nullptr;
    uint64_t allocations = 0;
    ClassStatesCopy classes;
  };

  std::vector<Region> regions;
  std::vector<ClassState> classes;
  ClassStatesCopy shared;
  uint64_t live_bytes = 0;
  uint64_t live_since_snapshot = 0;
  MemoryCopy memory;  // spans, records, bytes of live blocks
};

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_CHECKPOINT_H_
