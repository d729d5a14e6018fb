// Spilling: where the requests of a search go that are not needed soon, when memory is short (spec
// optimal-dpor 3.5).
//
// The requests that wait at shallow nodes can be many (readers, lastzero), and are only appended to
// and scanned. A search asks for nothing but places that hold words: what they are, and what a lack
// of room means, its owner knows.
#ifndef MC_DPOR_SPILL_H_
#define MC_DPOR_SPILL_H_

#include <cstdint>
#include <span>

#include "dpor/event_code.h"

namespace mc::dpor {

// Keeps sequences of words elsewhere than in memory.
class SpillStore {
 public:
  using Place = uint64_t;
  static constexpr Place kNoPlace = ~Place{0};

  virtual ~SpillStore() = default;
  // kNoPlace if there is no room: the words stay where they are.
  virtual Place Write(std::span<const uint32_t> words) = 0;
  // What was written there, `count` words. False if it cannot be had any more.
  virtual bool Read(Place place, size_t count, Words* words) = 0;
  // The place may be used for something else.
  virtual void Free(Place place, size_t count) = 0;
};

// What the requests of all searches that share it may take in memory, in bytes. While they take
// more, the search that runs spills its own.
struct SpillBudget {
  uint64_t limit = ~uint64_t{0};
  uint64_t used = 0;
  uint64_t spilled_requests = 0;  // how often one was written; for reports
};

}  // namespace mc::dpor

#endif  // MC_DPOR_SPILL_H_
