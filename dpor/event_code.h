// Event code: events and sequences written down as numbers, for another process or another pool.
//
// A pool's ids mean nothing elsewhere, so an event goes out in full: thread, index, flags, choices,
// footprint. Readers never trust what they read: past the end they get zeros, and `ok` is false.
#ifndef MC_DPOR_EVENT_CODE_H_
#define MC_DPOR_EVENT_CODE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dpor/event_pool.h"
#include "dpor/request_store.h"

namespace mc::dpor {

using Words = std::vector<uint32_t>;

class WordReader {
 public:
  explicit WordReader(std::span<const uint32_t> words) : words_(words) {}
  uint32_t Next() {
    if (position_ < words_.size()) return words_[position_++];
    ok_ = false;
    return 0;
  }
  uint64_t NextLong() {
    const uint64_t low = Next();
    return low | uint64_t{Next()} << 32;
  }
  // The next number, of things that take at least one word each.
  uint32_t NextCount() {
    const uint32_t count = Next();
    if (count <= words_.size() - position_) return count;
    ok_ = false;
    return 0;
  }
  // All that is left, unread.
  std::span<const uint32_t> Rest() const { return words_.subspan(position_); }
  bool ok() const { return ok_; }
  bool AtEnd() const { return position_ == words_.size(); }

 private:
  std::span<const uint32_t> words_;
  size_t position_ = 0;
  bool ok_ = true;
};

inline void WriteLong(uint64_t value, Words* words) {
  words->push_back(static_cast<uint32_t>(value));
  words->push_back(static_cast<uint32_t>(value >> 32));
}

void WriteEvent(const EventRecord& event, Words* words);
// Returns an event with one reference.
EventId ReadEvent(WordReader& reader, EventPool* pool);

// A number of events, then these.
void WriteSequence(const EventPool& pool, std::span<const EventId> events, Words* words);
// Returns a request in no list.
RequestId ReadSequence(WordReader& reader, EventPool* pool, RequestStore* requests);

}  // namespace mc::dpor

#endif  // MC_DPOR_EVENT_CODE_H_
