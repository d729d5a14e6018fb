// RecentEvents: the events that a search has seen lately, by thread and index.
//
// From execution to execution a thread's n-th event touches the same cells again and again, or is
// one of a few variants. For each of them this keeps the record in the EventPool and the cells
// (CellTable) its footprint consists of, so that neither has to be worked out anew: most of the
// cost of adding an event to a path. What an event is, is told by its micro-accesses and choices.
//
// Nothing depends on what is kept: at most kMaxVariants of each event, of not too many events. A
// record that is kept is held by a reference.
#ifndef MC_DPOR_RECENT_EVENTS_H_
#define MC_DPOR_RECENT_EVENTS_H_

#include <cstdint>
#include <vector>

#include "dpor/event_pool.h"
#include "sched/trace.h"

namespace mc::dpor {

class RecentEvents {
 public:
  struct TouchedCell {
    uint32_t cell = 0;
    uint32_t modes = 0;
  };
  struct Variant {
    EventId id = kNoEvent;
    bool universal = false;
    std::vector<Range> accesses;  // those that are looked at, as the event made them
    std::vector<uint32_t> choices;
    // The cells of the footprint, in its order; of version `cells_version` of the cell table (0:
    // not known).
    std::vector<TouchedCell> cells;
    uint64_t cells_version = 0;
    // Whether the footprint has cells of which a path keeps the history.
    bool has_history = true;
  };

  explicit RecentEvents(EventPool& pool) : pool_(pool) {}
  RecentEvents(const RecentEvents&) = delete;
  RecentEvents& operator=(const RecentEvents&) = delete;

  // The variant that is this event; nullptr if none is. Valid until the next Enter.
  Variant* Find(const sched::Trace& trace, const sched::Event& event);
  // Remembers that `id` is the record of this event, which Find does not know. nullptr if there is
  // no room.
  Variant* Enter(const sched::Trace& trace, const sched::Event& event, EventId id);
  // Forgets all and releases their records.
  void Clear();

 private:
  static constexpr uint32_t kMaxVariants = 4;
  static constexpr uint32_t kMaxEvents = 1u << 14;

  struct Entry {
    std::vector<Variant> variants;
    uint32_t oldest = 0;  // which to give up next
  };

  EventPool& pool_;
  std::vector<std::vector<Entry>> entries_;  // by thread, by index
  uint32_t count_ = 0;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_RECENT_EVENTS_H_
