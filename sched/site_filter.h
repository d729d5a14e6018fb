// SiteFilter: is there a preemption point before the access made by this instruction?
//
// An access PP is an instruction (the return address of its hook). Under `all` every *shared*
// access is one; which ones are shared is learned: a site is added when a detector sees it in a
// conflict that neither happens-before nor common locks order (preempting anywhere else adds no
// trace, see Job::LearnsFrom), and the job starts again. With --no-shared-sites every instrumented
// access is one from the start.
#ifndef MC_SCHED_SITE_FILTER_H_
#define MC_SCHED_SITE_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/preemption_points.h"

namespace mc::sched {

class SiteFilter {
 public:
  // `learn`: under `all`, only learned sites count; `omit_ordered`: to a search as well.
  void Configure(const PreemptionPoints& points, bool learn, bool omit_ordered);

  bool IsPreemptionPoint(uint64_t pc, bool atomic) {
    if (nothing_) return false;
    if (every_ || (atomic && every_atomic_)) return true;
    CacheEntry& entry = cache_[(pc ^ (pc >> 12)) & (kCacheSize - 1)];
    if (entry.pc != pc) Fill(pc, &entry);
    return entry.is_point;
  }

  // False if it is a preemption point, or has to be looked up.
  bool IsKnownNoPoint(uint64_t pc) const {
    const CacheEntry& entry = cache_[(pc ^ (pc >> 12)) & (kCacheSize - 1)];
    return entry.pc == pc && !entry.is_point && pc != 0;
  }

  // Whether the accesses of this instruction may be left out of what a search looks at.
  bool IsOrderedBySync(uint64_t pc) {
    return omits_ordered_ && pc != 0 && !IsPreemptionPoint(pc, false);
  }
  // Then every operation that other threads can see has a PP before it, and no other is needed.
  bool omits_ordered() const { return omits_ordered_; }

  // Adds a learned site; true if it is new.
  bool Learn(uint64_t pc);
  bool learning() const { return learning_; }
  const std::vector<uint64_t>& learned() const { return learned_; }

 private:
  struct CacheEntry {
    uint64_t pc = 0;
    bool is_point = false;
  };
  static constexpr size_t kCacheSize = 1024;

  void Fill(uint64_t pc, CacheEntry* entry) const;

  std::vector<CodeRange> ranges_;
  std::vector<uint64_t> learned_;  // sorted
  bool nothing_ = true;            // no access is a PP
  bool every_ = false;             // every access is
  bool every_atomic_ = false;
  bool learning_ = false;
  bool omits_ordered_ = false;  // accesses of sites not learned are marked kOrderedBySync
  std::array<CacheEntry, kCacheSize> cache_{};
};

}  // namespace mc::sched

#endif  // MC_SCHED_SITE_FILTER_H_
