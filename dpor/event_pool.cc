#include "dpor/event_pool.h"

#include <bit>
#include <cstring>

namespace mc::dpor {

uint8_t BlockAllocator::ClassOf(size_t bytes) {
  return bytes <= 16 ? 0 : static_cast<uint8_t>(std::bit_width((bytes - 1) >> 4));
}

void* BlockAllocator::Allocate(uint8_t size_class) {
  used_bytes_ += size_t{16} << size_class;
  if (FreeBlock* block = free_[size_class]; block != nullptr) {
    free_[size_class] = block->next;
    return block;
  }
  const size_t size = size_t{16} << size_class;
  if (size > slab_left_) {
    const size_t slab = size > kSlabSize ? size : kSlabSize;
    // Uninitialised on purpose: the blocks are written before they are read.
    slabs_.emplace_back(new std::byte[slab]);
    if (size > kSlabSize) return slabs_.back().get();
    slab_position_ = slabs_.back().get();
    slab_left_ = slab;
  }
  void* block = slab_position_;
  slab_position_ += size;
  slab_left_ -= size;
  return block;
}

void BlockAllocator::Free(void* block, uint8_t size_class) {
  used_bytes_ -= size_t{16} << size_class;
  FreeBlock* freed = static_cast<FreeBlock*>(block);
  freed->next = free_[size_class];
  free_[size_class] = freed;
}

EventId EventPool::Create(sched::ThreadId thread, uint32_t index, bool exact, bool universal,
                          std::span<const Range> ranges, std::span<const uint32_t> choices) {
  EventId id;
  if (free_.empty()) {
    id = static_cast<EventId>(records_.size());
    records_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  EventRecord& e = records_[id];
  e = EventRecord();
  e.thread = thread;
  e.index = index;
  e.exact = exact;
  e.universal = universal;
  e.references = 1;
  e.range_count = static_cast<uint32_t>(ranges.size());
  e.choice_count = static_cast<uint32_t>(choices.size());
  const size_t bytes = ranges.size_bytes() + choices.size_bytes();
  if (bytes > 0) {
    e.block_class = BlockAllocator::ClassOf(bytes);
    std::byte* block = static_cast<std::byte*>(blocks_.Allocate(e.block_class));
    if (!ranges.empty()) memcpy(block, ranges.data(), ranges.size_bytes());
    if (!choices.empty()) memcpy(block + ranges.size_bytes(), choices.data(), choices.size_bytes());
    e.ranges = reinterpret_cast<const Range*>(block);
    e.choices = reinterpret_cast<const uint32_t*>(block + ranges.size_bytes());
  }
  for (const Range& r : ranges) e.summary.Add(r);
  uint64_t h = ((uint64_t{thread} << 32) | index) * 0x9e3779b97f4a7c15u;
  h ^= h >> 29;
  for (size_t k = 0; k < choices.size(); ++k) {
    h += choices[k] * (0xbf58476d1ce4e5b9u + 2 * k * 0x94d049bb133111ebu);
  }
  e.identity = (h ^ (h >> 32)) * 0xff51afd7ed558ccdu;
  return id;
}

void EventPool::Destroy(EventId id) {
  EventRecord& e = records_[id];
  if (e.ranges != nullptr) {
    blocks_.Free(const_cast<Range*>(e.ranges), e.block_class);
    e.ranges = nullptr;
  }
  free_.push_back(id);
}

bool EventPool::SameChoices(const EventRecord& a, const EventRecord& b) {
  const uint32_t count = a.choice_count > b.choice_count ? a.choice_count : b.choice_count;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t x = k < a.choice_count ? a.choices[k] : 0;
    const uint32_t y = k < b.choice_count ? b.choices[k] : 0;
    if (x != y) return false;
  }
  return true;
}

}  // namespace mc::dpor
