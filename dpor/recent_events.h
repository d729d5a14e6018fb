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

#include <algorithm>
#include <cstdint>
#include <span>
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
    // Whether the footprint has cells of which a path keeps the history.
    bool has_history = true;
    // Of version `cells_version` of the cell table; 0: not known.
    uint64_t cells_version = 0;

   private:
    friend class RecentEvents;
    struct Part {  // of an array that has the parts of all variants
      uint32_t first = 0, count = 0, room = 0;
    };
    uint32_t next = 0;  // of the same event; number + 1, 0: none
    Part accesses;      // those that are looked at, as the event made them
    Part choices;
    Part cells;  // those of the footprint, in its order
  };

  explicit RecentEvents(EventPool& pool) : pool_(pool) {}
  RecentEvents(const RecentEvents&) = delete;
  RecentEvents& operator=(const RecentEvents&) = delete;

  // The variant that is this event; nullptr if none is. Valid until the next Enter.
  Variant* Find(const sched::Trace& trace, const sched::Event& event);
  // Remembers that `id` is the record of this event, which Find does not know. nullptr if there is
  // no room.
  Variant* Enter(const sched::Trace& trace, const sched::Event& event, EventId id);
  std::span<const TouchedCell> CellsOf(const Variant& variant) const {
    return {cells_.data() + variant.cells.first, variant.cells.count};
  }
  void SetCells(Variant* variant, std::span<const TouchedCell> cells) {
    Store(cells, &cells_, &variant->cells);
  }
  // Forgets all and releases their records.
  void Clear();

 private:
  static constexpr uint32_t kMaxVariants = 4;
  static constexpr uint32_t kMaxEvents = 1u << 14;
  static constexpr size_t kMaxParts = 1u << 20;  // elements of one array: then all is forgotten

  struct Entry {
    uint32_t first = 0;   // number of a variant + 1, 0: none
    uint32_t count = 0;   // of variants
    uint32_t oldest = 0;  // which of them to give up next
  };

  bool Fits(const Variant& variant, const sched::Trace& trace, const sched::Event& event) const;
  // Puts `values` where the part was, or, if they need more room, at the end.
  template <typename Values, typename Array>
  static void Store(const Values& values, Array* array, Variant::Part* part) {
    part->count = static_cast<uint32_t>(values.size());
    if (part->count > part->room) {
      part->first = static_cast<uint32_t>(array->size());
      part->room = part->count;
      array->resize(array->size() + part->room);
    }
    std::copy(values.begin(), values.end(), array->begin() + part->first);
  }
  Variant& NewVariant(Entry& entry);

  EventPool& pool_;
  std::vector<std::vector<Entry>> entries_;  // by thread, by index
  uint32_t count_ = 0;                       // of events
  // In the order in which they came, which is the order in which they will be looked at: what an
  // execution needs of them lies together.
  std::vector<Variant> variants_;
  std::vector<Range> accesses_;
  std::vector<uint32_t> choices_;
  std::vector<TouchedCell> cells_;
  std::vector<Range> looked_at_;  // scratch
  std::vector<uint32_t> values_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_RECENT_EVENTS_H_
