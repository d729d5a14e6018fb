#include "dpor/event_code.h"

namespace mc::dpor {
namespace {

enum EventBits : uint32_t { kExactBit = 1 << 16, kUniversalBit = 1 << 17 };

}  // namespace

void WriteEvent(const EventRecord& event, Words* words) {
  words->push_back(event.thread | (event.exact ? kExactBit : 0u) |
                   (event.universal ? kUniversalBit : 0u));
  words->push_back(event.index);
  words->push_back(event.choice_count);
  words->insert(words->end(), event.choices, event.choices + event.choice_count);
  words->push_back(event.range_count);
  for (const Range& range : event.footprint()) {
    WriteLong(range.begin, words);
    words->push_back(range.size);
    words->push_back(range.modes);
  }
}

EventId ReadEvent(WordReader& reader, EventPool* pool) {
  const uint32_t head = reader.Next();
  const uint32_t index = reader.Next();
  std::vector<uint32_t> choices(reader.NextCount());
  for (uint32_t& choice : choices) choice = reader.Next();
  std::vector<Range> ranges(reader.NextCount());
  for (Range& range : ranges) {
    range.begin = reader.NextLong();
    range.size = reader.Next();
    range.modes = reader.Next();
  }
  return pool->Create(static_cast<sched::ThreadId>(head), index, (head & kExactBit) != 0,
                      (head & kUniversalBit) != 0, ranges, choices);
}

void WriteSequence(const EventPool& pool, std::span<const EventId> events, Words* words) {
  words->push_back(static_cast<uint32_t>(events.size()));
  for (const EventId event : events) WriteEvent(pool[event], words);
}

RequestId ReadSequence(WordReader& reader, EventPool* pool, RequestStore* requests) {
  const uint32_t length = reader.NextCount();
  const RequestId id = requests->Create(length);
  for (uint32_t k = 0; k < length; ++k) requests->Append(id, ReadEvent(reader, pool));
  return id;
}

}  // namespace mc::dpor
