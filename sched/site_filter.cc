#include "sched/site_filter.h"

#include <algorithm>

#include "sched/c_library.h"

namespace mc::sched {

void SiteFilter::Configure(const PreemptionPoints& points, bool learn, bool omit_ordered) {
  ranges_ = points.accesses;
  const bool all = (points.classes & kPpEveryAccess) != 0;
  learning_ = all && learn;
  // Only where every operation of synchronisation is a PP does an order follow from theirs.
  omits_ordered_ = learning_ && omit_ordered && (points.classes & kPpSync) == kPpSync;
  every_ = all && !learn;
  every_atomic_ = (points.classes & kPpAtomic) != 0 && !learning_;
  if (!learning_) learned_.clear();
  nothing_ = !every_ && !every_atomic_ && ranges_.empty() && learned_.empty();
  cache_.fill(CacheEntry{});
}

bool SiteFilter::Learn(uint64_t pc) {
  const auto at = std::lower_bound(learned_.begin(), learned_.end(), pc);
  if (at != learned_.end() && *at == pc) return false;
  learned_.insert(at, pc);
  nothing_ = false;
  cache_.fill(CacheEntry{});
  return true;
}

void SiteFilter::Fill(uint64_t pc, CacheEntry* entry) const {
  entry->pc = pc;
  entry->is_point = false;
  if (IsCLibraryCode(pc)) return;
  entry->is_point = std::binary_search(learned_.begin(), learned_.end(), pc);
  if (entry->is_point) return;
  // The call lies before its return address.
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), pc - 1,
      [](uint64_t address, const CodeRange& range) { return address < range.begin; });
  entry->is_point = after != ranges_.begin() && pc - 1 < std::prev(after)->end;
}

}  // namespace mc::sched
