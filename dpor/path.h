// Path: the analysed execution that a search currently stands on (spec optimal-dpor 1.6, 2.4, 3.2).
//
// Holds, per event: its record in the EventPool, its vector clock, the pairs (i, j) that may have
// to be reversed, and what is needed to take the event off again. Everything is a stack indexed by
// position: Extend adds the next event of a trace, CutBack removes all from a position on. A Path
// never keeps a reference into a Trace; micro-accesses are looked up by position in the trace that
// is passed in.
#ifndef MC_DPOR_PATH_H_
#define MC_DPOR_PATH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dpor/cell_table.h"
#include "dpor/clock_array.h"
#include "dpor/event_pool.h"
#include "dpor/recent_events.h"
#include "sched/trace.h"

namespace mc::dpor {

// What an event did to one synchronisation object (or wake or generation cell).
struct ObjectEntry {
  uint32_t position = 0;
  sched::ThreadId thread = sched::kNoThread;
  uint8_t modes = 0;        // accesses of the event to the cell
  bool has_ledger = false;  // `before` and `after` are valid
  int64_t before = 0, after = 0;

  bool Acquires() const { return has_ledger && before == 0 && after != 0; }
  bool GivesBack() const { return has_ledger && before != 0 && after == 0; }
};

// The history of one such cell along the path, oldest first.
struct ObjectLog {
  sched::Cell cell = 0;
  bool additions_seen = false;  // in any execution of this search
  std::vector<ObjectEntry> entries;
};

// A pair of events of different threads that may have to be reversed.
enum class PairKind : uint8_t {
  kRace,    // they conflict and nothing lies between
  kWait,    // j began with an operation for which i is a disabler
  kChoice,  // not a pair: event i == j made choices
};

struct Pair {
  uint32_t first = 0;   // position of i
  uint32_t second = 0;  // position of j
  PairKind kind = PairKind::kRace;
  // Same-sequence cache (3.3): max(j, last event of D(i)) at the last reversal, and which event it
  // was. Serial numbers are never used again.
  uint32_t cached_last = kNoPosition;
  uint64_t cached_serial = 0;
};

class Path {
 public:
  explicit Path(EventPool& pool) : pool_(pool), recent_(pool) {}

  // Adds trace.events[size()]. `expected`, if any, is an exact record that the event may turn out
  // to equal; it is then shared instead of copied.
  void Extend(const sched::Trace& trace, EventId expected);
  // Removes all events from `length` on and releases their records.
  void CutBack(size_t length);
  // Gives up the records that are only kept because they may be needed again.
  void ForgetRecentEvents() { recent_.Clear(); }

  size_t size() const { return events_.size(); }
  EventId event(size_t position) const { return events_[position].id; }
  const EventRecord& record(size_t position) const { return pool_[events_[position].id]; }
  uint64_t serial(size_t position) const { return events_[position].serial; }
  sched::ThreadId thread(size_t position) const { return events_[position].thread; }
  uint32_t index(size_t position) const { return events_[position].index; }
  const Summary& summary(size_t position) const { return events_[position].summary; }
  // Bits (BitsOf) of all that the event wrote, looked at or not.
  uint64_t Written(const sched::Trace& trace, size_t position);
  // The greatest position of an event on which this one depends directly; kNoPosition if none.
  uint32_t last_predecessor(size_t position) const { return events_[position].last_predecessor; }

  // Does the event at `i` happen before (or is it) the one at `j`? i <= j or the answer is false.
  bool HappensBefore(size_t i, size_t j) const {
    return clocks_.Get(j, events_[i].thread) > events_[i].index;
  }
  // How many events of `thread` happen before the event at `position` (or are it).
  uint32_t ClockOf(size_t position, sched::ThreadId thread) const {
    return thread < clocks_.width() ? clocks_.Get(position, thread) : 0;
  }
  // D(i): the positions after `i` of events that do not happen after it, in order. Returns how
  // many; `out` must have room for size() - i entries.
  size_t NotAfter(size_t i, std::vector<uint32_t>* out) const;
  // Until the path changes, IsBeforeAll(i) tells whether all events from `begin` on happen after i.
  void LookFrom(size_t begin) { clocks_.Least(begin, size(), &least_); }
  bool IsBeforeAll(size_t i) const { return least_[events_[i].thread] > events_[i].index; }
  // Writes to `out` the events at `positions` (all that happens before one of them is among these,
  // or stands before them all) in the order that, of all in which no event comes before one that
  // happens before it, has the lowest threads first: the same for equal traces (lexicographic
  // normal form). But an event is moved by no more than kMaxShift places, so that long sequences
  // cost no more than their length; of these the order is just one of those.
  void NormalForm(std::span<const uint32_t> positions, std::vector<uint32_t>* out) const;
  static constexpr size_t kMaxShift = 64;
  // The last element of D(i); i itself if D(i) is empty. If that is known for events up to
  // `known_to`: at least that.
  uint32_t LastNotAfter(size_t i, uint32_t known_to = 0) const;

  // Positions of a thread's events, by index.
  const std::vector<uint32_t>& positions_of(sched::ThreadId thread) const {
    return thread < positions_.size() ? positions_[thread] : none_;
  }
  // The position of event `index` of `thread`, or kNoPosition.
  uint32_t Find(sched::ThreadId thread, uint32_t index) const {
    const std::vector<uint32_t>& p = positions_of(thread);
    return index < p.size() ? p[index] : kNoPosition;
  }
  // The position of the thread's event before event `index`, or kNoPosition.
  uint32_t Previous(sched::ThreadId thread, uint32_t index) const {
    return index == 0 ? kNoPosition : Find(thread, index - 1);
  }

  // All pairs of the path, in the order of their second event.
  std::vector<Pair>& pairs() { return pairs_; }
  const std::vector<Pair>& pairs() const { return pairs_; }
  // The first of those whose second event is at `position`.
  size_t first_pair(size_t position) const { return events_[position].first_pair; }

  // The history of a synchronisation object; nullptr if nothing touched it yet.
  const ObjectLog* FindLog(sched::Cell cell);
  // The position of the last write to a cell that is not memory; kNoPosition if none.
  uint32_t LastWrite(sched::Cell cell) { return cells_.state(cells_.Single(cell)).last_write; }
  // Position of the event that ended the process; kNoPosition if none.
  uint32_t exit_position() const { return exit_position_; }
  // True if events read the cell *process alive*.
  bool alive_modelled() const { return alive_modelled_; }

  // The normalised footprint of the event at trace.events[position].
  void BuildRanges(const sched::Trace& trace, size_t position, std::vector<Range>* out,
                   bool* universal) const;
  // The first of the first `length` events of the path that the trace does not repeat: another
  // thread, or another footprint; `length` if there is none.
  size_t FirstDifference(const sched::Trace& trace, size_t length);
  EventPool& pool() { return pool_; }
  const EventPool& pool() const { return pool_; }

  // Calls visit(i) for the disablers (2.4) of `operation` of `thread` among the events so far: of
  // other threads, not happening before `previous` (the thread's last event, or kNoPosition).
  template <typename Visit>
  void ForEachDisabler(const sched::Operation& operation, sched::ThreadId thread, uint32_t previous,
                       const Visit& visit);
  // The event that woke `thread` since `previous`, before position `limit`; kNoPosition if none.
  uint32_t Waker(sched::ThreadId thread, uint32_t previous, uint32_t limit);

 private:
  struct PathEvent {
    EventId id = kNoEvent;
    sched::ThreadId thread = 0;
    uint32_t index = 0;
    uint32_t last_predecessor = kNoPosition;
    uint32_t first_pair = 0;
    uint32_t first_object_undo = 0;
    CellTable::Mark cell_mark{};
    uint64_t serial = 0;
    uint64_t written = 0;
    bool written_known = false;
    Summary summary;
  };

  // If the event at `position` gave `cell` back: where its thread had taken it. Else kNoPosition.
  uint32_t TakenFor(uint32_t position, sched::Cell cell);
  void AddRaces(const sched::Event& e, size_t position, uint32_t previous);
  bool Enables(uint32_t i, const sched::Event& e);
  void AddWaits(const sched::Event& e, size_t position, uint32_t previous);
  RecentEvents::Variant* RecordOf(const sched::Trace& trace, uint32_t position, EventId expected,
                                  EventId* id);
  void TouchCell(uint32_t cell, uint32_t modes, uint32_t position, bool collect);
  void LookAtCell(uint32_t cell, uint32_t modes);
  void TouchKnownCells(std::span<const Range> footprint, uint32_t position,
                       RecentEvents::Variant* known);
  void TouchCells(std::span<const Range> ranges, uint32_t position, bool collect);
  void AddToHistory(size_t position, std::span<const Range> ranges);
  void AddToLedger(const sched::Trace& trace, const sched::Event& e, size_t position);
  ObjectLog& LogOf(sched::Cell cell);
  ObjectEntry& EntryOf(sched::Cell cell, size_t position, sched::ThreadId thread);
  void OwnCells(std::span<const Range> footprint, uint32_t position);
  void RebuildCells(uint32_t length);

  EventPool& pool_;
  RecentEvents recent_;
  CellTable cells_;
  ClockArray clocks_;
  std::vector<PathEvent> events_;
  std::vector<std::vector<uint32_t>> positions_;  // by thread, by index
  std::vector<uint32_t> none_;
  std::vector<Pair> pairs_;
  std::vector<ObjectLog> logs_;
  std::vector<uint32_t> log_of_cell_;  // by cell number; 0 = none, else number of the log + 1
  std::vector<uint32_t> object_undo_;  // logs that got an entry, in order
  uint64_t next_serial_ = 1;
  uint64_t rebuilt_ = 0;  // events that were entered in cells_ anew
  uint32_t exit_position_ = kNoPosition;
  bool alive_modelled_ = false;
  std::vector<uint32_t> least_;  // by thread, of the clocks that LookFrom looked at
  // scratch
  std::vector<Range> ranges_;
  std::vector<uint32_t> choices_;
  std::vector<RecentEvents::TouchedCell> touched_;
  std::vector<uint32_t> predecessors_;
  std::vector<sched::ThreadId> readers_seen_;
};

template <typename Visit>
void Path::ForEachDisabler(const sched::Operation& operation, sched::ThreadId thread,
                           uint32_t previous, const Visit& visit) {
  using sched::OperationKind;
  auto candidate = [&](uint32_t i) {
    return events_[i].thread != thread && (previous == kNoPosition || !HappensBefore(i, previous));
  };
  // The last event that took `cell` from free to held.
  auto last_acquisition = [&](sched::Cell cell) {
    const ObjectLog* log = FindLog(cell);
    if (log == nullptr) return kNoPosition;
    for (size_t k = log->entries.size(); k-- > 0;) {
      if (log->entries[k].Acquires()) return log->entries[k].position;
    }
    return kNoPosition;
  };
  auto visit_last_acquisition = [&](sched::Cell cell) {
    const uint32_t i = last_acquisition(cell);
    if (i != kNoPosition && candidate(i)) visit(i);
    return i;
  };
  // A thread may give one half of the lock back and take the other in one event: it held the lock
  // before, and what disabled is where it took that half, or the one before that.
  auto visit_earlier_halves = [&](uint32_t i, sched::Cell half, sched::Cell other) {
    while (i != kNoPosition && (i = TakenFor(i, other)) != kNoPosition) {
      if (candidate(i)) visit(i);
      std::swap(half, other);
    }
  };
  // The last acquisition of each reader. A write lock, which reads the readers half, comes after
  // all earlier changes of it: if it happens before `previous`, so do they.
  auto readers_acquisitions = [&](sched::Cell readers, sched::Cell writer) {
    const ObjectLog* log = FindLog(readers);
    if (log == nullptr) return;
    readers_seen_.clear();
    for (size_t k = log->entries.size(); k-- > 0;) {
      const ObjectEntry& e = log->entries[k];
      if (!candidate(e.position)) {
        if ((e.modes & sched::kRead) != 0) return;
        continue;
      }
      if (!e.Acquires()) continue;
      bool seen = false;
      for (const sched::ThreadId t : readers_seen_) seen = seen || t == e.thread;
      if (seen) continue;
      readers_seen_.push_back(e.thread);
      visit(e.position);
      visit_earlier_halves(e.position, readers, writer);
    }
  };
  const sched::Cell object = operation.object;
  switch (operation.kind) {
    case OperationKind::kReacquire:
    case OperationKind::kFutexReturn:
      if (operation.timeout_object != 0) {
        const uint32_t waker = Waker(thread, previous, static_cast<uint32_t>(events_.size()));
        if (waker != kNoPosition && candidate(waker)) visit(waker);
      }
      if (operation.kind == OperationKind::kFutexReturn) return;
      [[fallthrough]];
    case OperationKind::kLock:
    case OperationKind::kReadLock:  // the object is the writer half
      visit_last_acquisition(object);
      return;
    case OperationKind::kWriteLock: {
      const sched::Cell readers =
          sched::MakeCell(sched::CellKind::kReadersHalf, sched::ObjectOf(object));
      readers_acquisitions(readers, object);
      visit_earlier_halves(visit_last_acquisition(object), object, readers);
      return;
    }
    case OperationKind::kSemaphoreWait: {
      const ObjectLog* log = FindLog(object);
      if (log == nullptr) return;
      for (size_t k = log->entries.size(); k-- > 0;) {
        const ObjectEntry& e = log->entries[k];
        if (e.modes == sched::kRead) continue;
        if (!log->additions_seen) {
          if (!e.has_ledger || e.before <= 0 || e.after != 0) continue;
          if (candidate(e.position)) visit(e.position);
          return;
        }
        if (candidate(e.position)) {
          visit(e.position);
        } else if ((e.modes & sched::kWrite) != 0) {
          return;  // all before it happen before it, and so before `previous`
        }
      }
      return;
    }
    default:
      return;
  }
}

}  // namespace mc::dpor

#endif  // MC_DPOR_PATH_H_
