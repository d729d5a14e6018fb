// Causal order: which events of a trace happen before which, and which events are the same in
// different traces (spec optimal-dpor 1.6 and 11).
//
// Two events depend on each other if they are of one thread or touch a cell in ways that do not
// commute; happens-before is what follows from that. An event's *key* stands for the event and all
// that happens before it: (thread, index, choices, keys of what it depends on). Equal keys in two
// traces are one event.
//
// Invariants: Follow makes one trace the current one, reusing what it shares with the one before.
// The tables over all traces hold those that were entered, in order.
#ifndef MC_CHECKER_CERTIFICATE_CAUSAL_ORDER_H_
#define MC_CHECKER_CERTIFICATE_CAUSAL_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "checker/certificate/recorded_trace.h"

namespace mc::checker {

inline constexpr uint32_t kNoKey = 0xffffffff;
inline constexpr size_t kNoEventPosition = ~size_t{0};

// Two events of different threads that conflict, with nothing in between.
struct ConflictingPair {
  uint32_t first = 0, second = 0;  // positions
};

// Does the event depend on all others (the begin of the exit handlers)?
inline bool IsUniversal(const RecordedEvent& event) {
  return sched::DependsOnAll(event.operation.kind);
}
bool Conflict(const RecordedAccess& a, const RecordedAccess& b);

class CausalOrder {
 public:
  explicit CausalOrder(const RecordedTraces& traces);

  // -- the current trace
  // Returns the first position that the trace does not share with the one before.
  size_t Follow(size_t trace);
  size_t size() const { return positions_.size(); }
  const RecordedEvent& event(size_t position) const {
    return traces_.events[positions_[position].event];
  }
  uint32_t key(size_t position) const { return positions_[position].key; }
  // How many events of each thread happen before it, itself included.
  std::span<const uint32_t> Clock(size_t position) const { return {ClockAt(position), width_}; }
  // The same event or one before it.
  bool HappensBefore(size_t i, size_t j) const {
    const RecordedEvent& e = event(i);
    return ClockAt(j)[e.thread] > e.index;
  }
  // In the order of their second events.
  const std::vector<ConflictingPair>& races() const { return races_; }
  // The position of event `index` of the thread, or kNoEventPosition.
  size_t Find(sched::ThreadId thread, size_t index) const {
    const std::vector<uint32_t>& of_thread = by_thread_[thread];
    return index < of_thread.size() ? of_thread[index] : kNoEventPosition;
  }
  size_t EventsOf(sched::ThreadId thread) const { return by_thread_[thread].size(); }
  // Where the thread is created and where the process ends, or kNoEventPosition.
  size_t CreationOf(sched::ThreadId thread) const { return created_at_[thread]; }
  size_t exit_position() const { return exit_position_; }
  // Do the two events conflict?
  bool Depend(const RecordedEvent& a, const RecordedEvent& b) const;

  // -- keys
  size_t threads() const { return width_; }
  const RecordedEvent& EventOfKey(uint32_t key) const { return traces_.events[keys_[key].event]; }
  uint32_t EventNumberOfKey(uint32_t key) const { return keys_[key].event; }
  // How many events of each thread happen before it, itself included.
  std::span<const uint32_t> ClockOfKey(uint32_t key) const {
    return {key_clocks_.data() + size_t{key} * width_, width_};
  }
  uint32_t EventNumber(size_t position) const { return positions_[position].event; }

  // -- all traces
  // Enters the current trace. Returns the number of an equal one that was entered before, or its
  // own.
  size_t Enter();
  size_t entered() const { return starts_.size() / (width_ + 1); }
  const std::vector<uint32_t>& TracesWith(uint32_t key) const { return keys_[key].traces; }
  // The key of event `index` of the thread in the trace; kNoKey if it has no such event.
  uint32_t KeyIn(size_t trace, sched::ThreadId thread, uint32_t index) const {
    const size_t* start = starts_.data() + trace * (width_ + 1) + thread;
    return start[0] + index < start[1] ? entered_keys_[start[0] + index] : kNoKey;
  }

 private:
  struct Position {
    uint32_t event = 0, key = 0, first_race = 0;
  };
  struct Key {
    uint32_t event = 0;
    std::vector<uint32_t> traces;
  };
  // Bits of the cells that an event touches, and of those that it does more to than read.
  struct Summary {
    uint64_t touched = 0, changed = 0;
  };

  const uint32_t* ClockAt(size_t position) const { return clocks_.data() + position * width_; }
  void CutBack(size_t length);
  void Append(uint32_t event);
  uint32_t KeyOf(const RecordedEvent& event, uint32_t number);

  const RecordedTraces& traces_;
  size_t width_ = 0;
  std::vector<Summary> summaries_;  // by event number

  std::vector<Position> positions_;
  std::vector<uint32_t> clocks_;  // width_ of each position
  std::vector<ConflictingPair> races_;
  std::vector<std::vector<uint32_t>> by_thread_;
  std::vector<size_t> created_at_;  // by thread
  size_t exit_position_ = kNoEventPosition;

  std::vector<Key> keys_;
  std::vector<uint32_t> key_clocks_;  // width_ of each key
  absl::flat_hash_map<std::vector<uint32_t>, uint32_t> key_numbers_;

  std::vector<uint32_t> entered_keys_;  // of each trace, thread by thread
  std::vector<size_t> starts_;          // in it: width_ + 1 of each trace
  absl::flat_hash_map<std::vector<uint32_t>, size_t> last_keys_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_CAUSAL_ORDER_H_
