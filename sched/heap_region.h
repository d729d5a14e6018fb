// HeapRegion: the table that describes one thread's part of the program heap.
//
// It lies at a fixed address apart from the region itself and is followed by the records of the
// region's blocks. Units are handed out in order; a run of them that holds slots of one size class,
// or one large block, is a span. All of it is zero when first mapped.
#ifndef MC_SCHED_HEAP_REGION_H_
#define MC_SCHED_HEAP_REGION_H_

#include <bit>
#include <cstdint>

#include "sched/heap_block.h"
#include "sched/heap_layout.h"
#include "sched/heap_size_class.h"

namespace mc::sched {

struct HeapSpan {
  HeapBlock* records = nullptr;  // one per slot
  uint32_t first_unit = 0;       // of the span: all its units have an entry
  uint32_t units = 0;
  uint32_t handed_out = 0;  // slots [0, handed_out) have a valid record
  uint32_t size_class = 0;
};

// Where the blocks of one size class come from.
struct ClassState {
  HeapBlock* free = nullptr;  // last freed first
  HeapSpan* open = nullptr;   // has slots that were not handed out yet, or is full
};

// Which classes of a set of ClassState are not as at the snapshot (when all are empty).
struct TouchedClasses {
  uint64_t bits[2] = {0, 0};
  static_assert(kSizeClassCount <= 128);

  void Add(uint32_t size_class) { bits[size_class >> 6] |= uint64_t{1} << (size_class & 63); }
  void Clear(ClassState* states) {
    for (uint32_t word = 0; word < 2; ++word) {
      for (uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
        states[word * 64 + std::countr_zero(rest)] = {};
      }
      bits[word] = 0;
    }
  }
};

struct HeapRegion {
  ThreadId thread;
  bool touched;  // on the heap's list of changed regions
  HeapRegion* next_touched;
  uint32_t units, snapshot_units;  // units [1, units) are in use; unit 0 stays unused
  uint32_t dirty_units;            // units from here on still are as the system gave them
  HeapBlock *next_record, *snapshot_next_record;
  uint64_t allocations, snapshot_allocations;
  TouchedClasses touched_classes;
  ClassState classes[kSizeClassCount];
  HeapSpan spans[kUnitsPerRegion];

  HeapBlock* RecordsBegin() {
    return reinterpret_cast<HeapBlock*>((reinterpret_cast<uint64_t>(this) + sizeof(*this) + 63) &
                                        ~uint64_t{63});
  }
  // Records of slots lie below; above it there is room for as many copies (Restore).
  HeapBlock* RecordsMiddle() {
    const uint64_t end = reinterpret_cast<uint64_t>(this) + kRegionTableBytes - kMostCacheColour;
    return RecordsBegin() +
           (end - reinterpret_cast<uint64_t>(RecordsBegin())) / 2 / sizeof(HeapBlock);
  }

  // Calls visit(block) for every block, live or freed, in the units from `first` on.
  template <class Visitor>
  void VisitBlocks(uint32_t first, Visitor visit) const {
    for (uint32_t unit = first; unit < units; unit += spans[unit].units) {
      const HeapSpan& span = spans[unit];
      for (uint32_t slot = 0; slot < span.handed_out; ++slot) visit(span.records[slot]);
    }
  }
};

// Where the memory for a region's table lies, and the table in it.
inline uint64_t RegionTableArea(ThreadId thread) {
  return kRegionTableBase + static_cast<uint64_t>(thread) * kRegionTableBytes;
}
inline HeapRegion* RegionTable(ThreadId thread) {
  return reinterpret_cast<HeapRegion*>(RegionTableArea(thread) + CacheColour(thread));
}

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_REGION_H_
