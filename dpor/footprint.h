// Footprint: what an event touches, as sorted disjoint ranges of cells with the set of modes used
// on each, and a 64-bit summary per mode (Abdulla et al., JACM 2017; spec optimal-dpor 1.2, 3.2).
//
// Two footprints whose summaries do not meet do not conflict; the exact test walks both lists.
#ifndef MC_DPOR_FOOTPRINT_H_
#define MC_DPOR_FOOTPRINT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sched/event.h"

namespace mc::dpor {

// Does the access count for what conflicts with what?
inline bool IsLookedAt(const sched::MicroAccess& access) {
  return access.size > 0 && (access.flags & sched::kOrderedBySync) == 0;
}

// Cells [begin, begin + size), touched with `modes` (bits of sched::AccessMode). Normalised, memory
// that is written has no other mode: a write conflicts with all that a read or addition does.
struct Range {
  sched::Cell begin = 0;
  uint32_t size = 0;
  uint32_t modes = 0;

  sched::Cell end() const { return begin + size; }
  bool operator==(const Range&) const = default;
};

// Do two sets of modes on one cell conflict? All pairs but read-read and add-add do.
constexpr bool ModeSetsConflict(uint32_t a, uint32_t b) {
  const uint32_t both = a | b;
  return both != sched::kRead && both != sched::kAdd;
}

// One bit per (hashed) cell and mode. An empty intersection proves that there is no conflict.
struct Summary {
  uint64_t read = 0, write = 0, add = 0;

  void Add(const Range& range);
  void Add(const Summary& other) {
    read |= other.read;
    write |= other.write;
    add |= other.add;
  }
  bool MayConflict(const Summary& o) const {
    return ((write & (o.read | o.write | o.add)) | (read & (o.write | o.add)) |
            (add & (o.read | o.write))) != 0;
  }
};

// One bit per (hashed) cell of the range.
uint64_t BitsOf(const Range& range);

// Sorts the ranges and makes them disjoint, adjacent memory ranges of equal modes merged: the form
// in which equal footprints are equal lists.
void Normalise(std::vector<Range>* ranges);

// Exact test on normalised lists.
bool RangesConflict(std::span<const Range> a, std::span<const Range> b);

// Is every access of `part` also in `whole` (both normalised), or a write in its place? A write
// conflicts with whatever conflicts with a read. (An access that fails is recorded as a read.)
bool RangesInclude(std::span<const Range> whole, std::span<const Range> part);

}  // namespace mc::dpor

#endif  // MC_DPOR_FOOTPRINT_H_
