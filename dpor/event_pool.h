// EventPool: the events a search remembers beyond the trace that recorded them: those of the
// current path, sleeping events, and the events of requests (spec optimal-dpor 2.1, 3.1).
//
// An event is named by a 32-bit EventId and counted by reference. Invariant: a record does not
// change after Create. Records and their lists come from free lists: in the steady state nothing is
// allocated.
#ifndef MC_DPOR_EVENT_POOL_H_
#define MC_DPOR_EVENT_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dpor/footprint.h"
#include "sched/event.h"

namespace mc::dpor {

// Blocks of memory in sizes of 16 bytes times a power of two; freed blocks are handed out again.
class BlockAllocator {
 public:
  // The size class for `bytes`; bytes == 0 needs no block.
  static uint8_t ClassOf(size_t bytes);
  void* Allocate(uint8_t size_class);
  void Free(void* block, uint8_t size_class);
  // Of the blocks that are handed out.
  size_t used_bytes() const { return used_bytes_; }

 private:
  static constexpr size_t kSlabSize = size_t{1} << 16;
  static constexpr int kClasses = 40;
  struct FreeBlock {
    FreeBlock* next;
  };
  FreeBlock* free_[kClasses] = {};
  std::vector<std::unique_ptr<std::byte[]>> slabs_;
  std::byte* slab_position_ = nullptr;
  size_t slab_left_ = 0;
  size_t used_bytes_ = 0;
};

using EventId = uint32_t;
inline constexpr EventId kNoEvent = 0xffffffff;

struct EventRecord {
  Summary summary;
  uint64_t identity = 0;  // hash of thread, index and choices (missing choices read as 0)
  const Range* ranges = nullptr;
  const uint32_t* choices = nullptr;
  uint32_t range_count = 0;
  uint32_t choice_count = 0;
  uint32_t index = 0;
  uint32_t references = 0;
  sched::ThreadId thread = sched::kNoThread;
  // False: footprint and choices are a certain prefix, a lower bound of what will happen.
  bool exact = false;
  // Depends on every event, whatever its footprint (the begin of the handler phase).
  bool universal = false;
  uint8_t block_class = 0;

  std::span<const Range> footprint() const { return {ranges, range_count}; }
  std::span<const uint32_t> choice_values() const { return {choices, choice_count}; }
};

class EventPool {
 public:
  // A new event with one reference. `ranges` must be normalised. Both lists are copied.
  EventId Create(sched::ThreadId thread, uint32_t index, bool exact, bool universal,
                 std::span<const Range> ranges, std::span<const uint32_t> choices);
  void AddReference(EventId id) { ++records_[id].references; }
  void Release(EventId id) {
    if (--records_[id].references == 0) Destroy(id);
  }
  const EventRecord& operator[](EventId id) const { return records_[id]; }

  bool Conflict(const EventRecord& a, const EventRecord& b) const {
    if (a.universal || b.universal) return true;
    return a.summary.MayConflict(b.summary) && RangesConflict(a.footprint(), b.footprint());
  }
  // Missing choices read as 0.
  static bool SameChoices(const EventRecord& a, const EventRecord& b);
  // Number of events alive, for tests of memory use.
  size_t live() const { return records_.size() - free_.size(); }
  // What they take.
  size_t used_bytes() const { return live() * sizeof(EventRecord) + blocks_.used_bytes(); }

 private:
  void Destroy(EventId id);

  std::vector<EventRecord> records_;
  std::vector<EventId> free_;
  BlockAllocator blocks_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_EVENT_POOL_H_
