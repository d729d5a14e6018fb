// Which kinds of unordered accesses are a data race (candidate_detector.h).
#ifndef MC_RACEDET_DATA_RACE_H_
#define MC_RACEDET_DATA_RACE_H_

#include <cstdint>

#include "sched/event.h"

namespace mc::racedet {

inline bool IsPlain(uint16_t flags) {
  return !(flags & (sched::kAtomic | sched::kAllocation | sched::kFree | sched::kObjectBytes));
}

// Whether two unordered accesses with these flags, not both reads, are undefined behaviour.
inline bool Races(uint16_t a, uint16_t b) {
  const bool plain_a = IsPlain(a), plain_b = IsPlain(b);
  if (plain_a && plain_b) return true;
  constexpr uint16_t kPartner = sched::kAtomic | sched::kFree;
  if (plain_a || plain_b) return (plain_a ? b : a) & kPartner;
  return ((a & sched::kFree) && (b & sched::kAtomic)) ||
         ((b & sched::kFree) && (a & sched::kAtomic));
}

}  // namespace mc::racedet

#endif  // MC_RACEDET_DATA_RACE_H_
