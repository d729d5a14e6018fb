#include "sched/heap_checkpoint.h"

#include <algorithm>
#include <bit>

#include "sched/heap.h"

namespace mc::sched {
namespace {

// Calls visit(size class) for each class in `touched`.
template <typename Visit>
void ForEachClass(const TouchedClasses& touched, Visit visit) {
  for (uint32_t word = 0; word < 2; ++word) {
    for (uint64_t rest = touched.bits[word]; rest != 0; rest &= rest - 1) {
      visit(word * 64 + static_cast<uint32_t>(std::countr_zero(rest)));
    }
  }
}

void SaveClasses(const TouchedClasses& touched, const ClassState* states, HeapCheckpoint* out,
                 ClassStatesCopy* copy) {
  *copy = {touched, out->classes.size()};
  ForEachClass(touched, [&](uint32_t c) { out->classes.push_back(states[c]); });
}

void RestoreClasses(const ClassStatesCopy& copy, const HeapCheckpoint& from,
                    TouchedClasses* touched, ClassState* states) {
  touched->Clear(states);
  *touched = copy.touched;
  size_t next = copy.first;
  ForEachClass(copy.touched, [&](uint32_t c) { states[c] = from.classes[next++]; });
}

}  // namespace

bool ProgramHeap::Save(size_t max_bytes, HeapCheckpoint* out) const {
  if (undo_ != nullptr || limit_exceeded_ || live_bytes_ - snapshot_live_bytes_ > max_bytes) {
    return false;
  }
  out->regions.clear();
  out->classes.clear();
  out->memory.Clear();
  for (HeapRegion* region = touched_; region != nullptr; region = region->next_touched) {
    HeapCheckpoint::Region saved;
    saved.region = region;
    saved.units = region->units;
    saved.next_record = region->next_record;
    saved.allocations = region->allocations;
    SaveClasses(region->touched_classes, region->classes, out, &saved.classes);
    out->regions.push_back(saved);
    out->memory.Add(&region->spans[region->snapshot_units],
                    (region->units - region->snapshot_units) * sizeof(HeapSpan));
    region->VisitBlocks(region->snapshot_units, [&](const HeapBlock& block) {
      out->memory.Add(&block, sizeof block);
      if (block.live()) {
        out->memory.Add(reinterpret_cast<const void*>(block.begin), (block.size + 7) & ~7ull);
      }
    });
    if (out->memory.size() > max_bytes) return false;
  }
  SaveClasses(shared_touched_, shared_, out, &out->shared);
  out->live_bytes = live_bytes_;
  out->live_since_snapshot = live_since_snapshot_;
  return true;
}

void ProgramHeap::RestoreTo(const HeapCheckpoint& from) {
  Restore();
  for (size_t i = from.regions.size(); i-- > 0;) {  // so that the list has its order again
    const HeapCheckpoint::Region& saved = from.regions[i];
    HeapRegion* const region = saved.region;
    Touch(region);
    region->units = saved.units;
    region->next_record = saved.next_record;
    region->allocations = saved.allocations;
    RestoreClasses(saved.classes, from, &region->touched_classes, region->classes);
  }
  from.memory.PutBack();
  for (const HeapCheckpoint::Region& saved : from.regions) {
    saved.region->VisitBlocks(saved.region->snapshot_units, [](const HeapBlock& block) {
      if (block.live()) UnpoisonBlock(block.begin, block.size);
    });
  }
  RestoreClasses(from.shared, from, &shared_touched_, shared_);
  live_bytes_ = from.live_bytes;
  live_since_snapshot_ = from.live_since_snapshot;
}

}  // namespace mc::sched
