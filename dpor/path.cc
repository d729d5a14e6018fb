#include "dpor/path.h"

#include <algorithm>

namespace mc::dpor {

using sched::Cell;
using sched::CellKind;
using sched::OperationKind;
using sched::ThreadId;

namespace {

// Cells whose whole history the enabledness rules and the disablers need.
bool HasHistory(Cell cell) {
  switch (sched::KindOf(cell)) {
    case CellKind::kSemaphore:
    case CellKind::kWriterHalf:
    case CellKind::kReadersHalf:
    case CellKind::kBarrierGeneration:
    case CellKind::kWake:
      return true;
    default:
      return false;  // a mutex is entered by its ledger, other cells are asked for their last write
  }
}

// Cells that nothing but the dependence of events is read from: they need not be entered while one
// thread has them for itself.
bool CanBeOwned(Cell cell) {
  return sched::IsMemory(cell) || sched::KindOf(cell) == CellKind::kThreadHandle;
}

// Up to this distance D(i) is found by looking at every event after i.
constexpr size_t kScanDistance = 256;

}  // namespace

void Path::BuildRanges(const sched::Trace& trace, size_t position, std::vector<Range>* out,
                       bool* universal) const {
  const sched::Event& e = trace.events[position];
  out->clear();
  for (const sched::MicroAccess& a : trace.AccessesOf(e)) {
    if (IsLookedAt(a)) out->push_back({a.begin, a.size, a.mode});
  }
  Normalise(out);
  *universal = sched::DependsOnAll(e.operation.kind);
}

// The record of the trace's event at `position`: one seen lately, or `expected`, or a new one.
RecentEvents::Variant* Path::RecordOf(const sched::Trace& trace, uint32_t position,
                                      EventId expected, EventId* id) {
  const sched::Event& e = trace.events[position];
  if (RecentEvents::Variant* known = recent_.Find(trace, e)) {
    *id = known->id;
    pool_.AddReference(*id);
    return known;
  }
  bool universal;
  BuildRanges(trace, position, &ranges_, &universal);
  choices_.clear();
  for (const sched::Choice& c : trace.ChoicesOf(e)) choices_.push_back(c.value);
  *id = kNoEvent;
  if (expected != kNoEvent) {
    const EventRecord& x = pool_[expected];
    if (x.exact && x.thread == e.thread && x.index == e.index && x.universal == universal &&
        std::ranges::equal(x.footprint(), ranges_) &&
        std::ranges::equal(x.choice_values(), choices_)) {
      *id = expected;
      pool_.AddReference(expected);
    }
  }
  if (*id == kNoEvent) {
    *id = pool_.Create(e.thread, e.index, true, universal, ranges_, choices_);
  }
  RecentEvents::Variant* const entered = recent_.Enter(trace, e, *id);
  if (entered != nullptr) {
    const auto ranges = pool_[*id].footprint();
    entered->has_history = std::ranges::any_of(
        ranges, [](const Range& r) { return !sched::IsMemory(r.begin) && HasHistory(r.begin); });
  }
  return entered;
}

void Path::Extend(const sched::Trace& trace, EventId expected) {
  const uint32_t position = static_cast<uint32_t>(events_.size());
  const sched::Event& e = trace.events[position];
  EventId id;
  RecentEvents::Variant* const known = RecordOf(trace, position, expected, &id);
  const EventRecord& record = pool_[id];
  PathEvent& added = events_.emplace_back();
  added.id = id;
  added.thread = e.thread;
  added.index = e.index;
  added.serial = next_serial_++;
  added.first_pair = static_cast<uint32_t>(pairs_.size());
  added.first_object_undo = static_cast<uint32_t>(object_undo_.size());
  added.cell_mark = cells_.mark();
  added.summary = record.summary;

  if (positions_.size() <= e.thread) positions_.resize(e.thread + 1);
  const uint32_t previous =
      positions_[e.thread].empty() ? kNoPosition : positions_[e.thread].back();
  clocks_.Reserve(e.thread + 1u, e.index + 1);
  clocks_.Resize(position + 1);
  if (previous == kNoPosition) {
    clocks_.Clear(position);
  } else {
    clocks_.Copy(position, previous);
  }

  predecessors_.clear();
  TouchKnownCells(record.footprint(), position, known);
  if (record.universal) {
    for (const auto& of_thread : positions_) {
      if (!of_thread.empty()) clocks_.Join(position, of_thread.back());
    }
    if (position > 0) events_[position].last_predecessor = position - 1;
  } else {
    AddRaces(e, position, previous);
    AddWaits(e, position, previous);
  }
  if (e.choice_count > 0) pairs_.push_back({position, position, PairKind::kChoice, kNoPosition, 0});
  clocks_.Set(position, e.thread, e.index + 1);
  positions_[e.thread].push_back(position);
  if (known == nullptr || known->has_history) AddToHistory(position, record.footprint());
  if (e.ledger_count > 0) AddToLedger(trace, e, position);
  if ((e.flags & sched::kExited) != 0) exit_position_ = position;
  if (position == 0) {
    alive_modelled_ = false;
    for (const Range& r : record.footprint()) {
      alive_modelled_ = alive_modelled_ || sched::KindOf(r.begin) == CellKind::kAlive;
    }
  }
  if (cells_.outdated()) RebuildCells(position + 1);
}

uint64_t Path::Written(const sched::Trace& trace, size_t position) {
  PathEvent& event = events_[position];
  if (!event.written_known) {
    event.written_known = true;
    for (const sched::MicroAccess& a : trace.AccessesOf(trace.events[position])) {
      if (a.size == 0 || (a.mode & (sched::kWrite | sched::kAdd)) == 0) continue;
      event.written |= BitsOf({a.begin, a.size, a.mode});
    }
  }
  return event.written;
}

// Enters an access to a cell; if `collect`, gathers the events it depends on directly.
[[gnu::always_inline]] inline void Path::TouchCell(uint32_t cell, uint32_t modes, uint32_t position,
                                                   bool collect) {
  if (collect) LookAtCell(cell, modes);
  cells_.Touch(cell, modes, position, [this](uint32_t at) { return events_[at].thread; });
}

// Gathers the events that an access to the cell depends on directly.
[[gnu::always_inline]] inline void Path::LookAtCell(uint32_t cell, uint32_t modes) {
  // The cells of an object often have one history.
  auto add = [this](uint32_t position) {
    if (predecessors_.empty() || predecessors_.back() != position) {
      predecessors_.push_back(position);
    }
  };
  auto add_list = [&](uint32_t head) {
    for (; head != 0; head = cells_.node(head).next) add(cells_.node(head).position);
  };
  const CellState& s = cells_.state(cell);
  if (s.last_write != kNoPosition) add(s.last_write);
  if ((modes & (sched::kWrite | sched::kAdd)) != 0) add_list(s.reads);
  if ((modes & (sched::kWrite | sched::kRead)) != 0) add_list(s.adds);
}

// Notes whose the event's cells are. What its accesses depend on is in the table then, of all but
// the cells that have an owner.
void Path::OwnCells(std::span<const Range> footprint, uint32_t position) {
  const sched::ThreadId thread = events_[position].thread;
  for (const Range& range : footprint) {
    if (!CanBeOwned(range.begin)) continue;
    cells_.ForEachCell(range, [&](uint32_t cell) { cells_.Own(cell, thread); });
  }
  // Blocks overlap words, and where cells often change hands it does not pay to look whose they
  // are.
  constexpr uint64_t kMuch = 1u << 19;
  const bool share_all = cells_.has_blocks() || rebuilt_ > kMuch;
  if (share_all && !cells_.all_shared()) cells_.ShareAll();
  if (cells_.outdated()) RebuildCells(position);
}

// Enters the event's accesses and gathers the events it depends on directly: cell by cell where
// they are known from when the event was last seen.
void Path::TouchKnownCells(std::span<const Range> footprint, uint32_t position,
                           RecentEvents::Variant* known) {
  if (known == nullptr || cells_.has_blocks()) {
    if (!cells_.all_shared()) OwnCells(footprint, position);
    TouchCells(footprint, position, true);
    return;
  }
  if (known->cells_version != cells_.version()) {
    OwnCells(footprint, position);
    if (cells_.has_blocks()) {
      TouchCells(footprint, position, true);
      return;
    }
    touched_.clear();
    for (const Range& range : footprint) {
      const bool can_be_owned = CanBeOwned(range.begin);
      cells_.ForEachCell(range, [&](uint32_t cell) {
        if (!can_be_owned || !cells_.IsOwned(cell)) touched_.push_back({cell, range.modes});
      });
    }
    recent_.SetCells(known, touched_);
    known->cells_version = cells_.version();
  }
  for (const auto& [cell, modes] : recent_.CellsOf(*known)) TouchCell(cell, modes, position, true);
}

void Path::TouchCells(std::span<const Range> ranges, uint32_t position, bool collect) {
  for (const Range& range : ranges) {
    if (collect) {
      cells_.ForEachNested(range, [&](uint32_t cell) { LookAtCell(cell, range.modes); });
    }
    cells_.ForEachCell(range,
                       [&](uint32_t cell) { TouchCell(cell, range.modes, position, collect); });
  }
}

// Joins the clocks of the direct predecessors, latest first. One that is not yet covered when its
// turn comes has no other direct predecessor after it: a race (3.2).
void Path::AddRaces(const sched::Event& e, size_t position, uint32_t previous) {
  std::vector<uint32_t>& p = predecessors_;
  uint32_t last = previous;
  if (p.size() > 1) {
    if (p.size() <= 8) {
      for (size_t i = 1; i < p.size(); ++i) {
        const uint32_t moving = p[i];
        size_t k = i;
        for (; k > 0 && p[k - 1] < moving; --k) p[k] = p[k - 1];
        p[k] = moving;
      }
    } else {
      std::sort(p.begin(), p.end(), std::greater<>());
    }
  }
  if (!p.empty() && (last == kNoPosition || p[0] > last)) last = p[0];
  events_[position].last_predecessor = last;
  for (const uint32_t i : p) {
    if (clocks_.Get(position, events_[i].thread) > events_[i].index) continue;
    clocks_.Join(position, i);
    if (pool_[events_[i].id].universal) continue;  // never reversed
    if (Enables(i, e)) continue;
    pairs_.push_back({i, static_cast<uint32_t>(position), PairKind::kRace, kNoPosition, 0});
  }
}

// Is it the creation of the event's thread before its first event, or the end of the thread that
// the event begins by joining? The event cannot be without: no use to ask that every time.
bool Path::Enables(uint32_t i, const sched::Event& e) {
  if (e.operation.kind == OperationKind::kJoin) return LastWrite(e.operation.object) == i;
  return e.index == 0 && LastWrite(sched::MakeCell(CellKind::kThreadStart, e.thread)) == i;
}

void Path::AddWaits(const sched::Event& e, size_t position, uint32_t previous) {
  if (e.operation.kind == OperationKind::kNone || e.operation.kind == OperationKind::kJoin) return;
  ForEachDisabler(e.operation, e.thread, previous, [&](uint32_t i) {
    for (size_t k = events_[position].first_pair; k < pairs_.size(); ++k) {
      if (pairs_[k].first == i) return;  // already a race, or found on the object's other half
    }
    pairs_.push_back({i, static_cast<uint32_t>(position), PairKind::kWait, kNoPosition, 0});
  });
}

ObjectLog& Path::LogOf(Cell cell) {
  const uint32_t number = cells_.Single(cell);
  if (number >= log_of_cell_.size()) log_of_cell_.resize(number + 64, 0);
  if (log_of_cell_[number] == 0) {
    logs_.emplace_back();
    logs_.back().cell = cell;
    log_of_cell_[number] = static_cast<uint32_t>(logs_.size());
  }
  return logs_[log_of_cell_[number] - 1];
}

const ObjectLog* Path::FindLog(Cell cell) {
  const uint32_t number = cells_.Single(cell);
  if (number >= log_of_cell_.size() || log_of_cell_[number] == 0) return nullptr;
  return &logs_[log_of_cell_[number] - 1];
}

ObjectEntry& Path::EntryOf(Cell cell, size_t position, ThreadId thread) {
  ObjectLog& log = LogOf(cell);
  if (log.entries.empty() || log.entries.back().position != position) {
    log.entries.push_back({static_cast<uint32_t>(position), thread, 0, false, 0, 0});
    object_undo_.push_back(static_cast<uint32_t>(&log - logs_.data()));
  }
  return log.entries.back();
}

void Path::AddToHistory(size_t position, std::span<const Range> ranges) {
  const ThreadId thread = events_[position].thread;
  for (const Range& r : ranges) {
    if (sched::IsMemory(r.begin) || !HasHistory(r.begin)) continue;
    for (uint32_t k = 0; k < r.size; ++k) {
      EntryOf(r.begin + k, position, thread).modes |= static_cast<uint8_t>(r.modes);
      if ((r.modes & sched::kAdd) != 0) LogOf(r.begin + k).additions_seen = true;
    }
  }
}

void Path::AddToLedger(const sched::Trace& trace, const sched::Event& e, size_t position) {
  for (const sched::LedgerEntry& l : trace.LedgerOf(e)) {
    ObjectEntry& entry = EntryOf(l.object, position, e.thread);
    entry.has_ledger = true;
    entry.before = l.before;
    entry.after = l.after;
  }
}

// Enters the accesses of the events before `length` anew.
void Path::RebuildCells(uint32_t length) {
  cells_.ForgetAccesses();
  for (uint32_t p = 0; p < length; ++p) {
    events_[p].cell_mark = cells_.mark();
    TouchCells(pool_[events_[p].id].footprint(), p, false);
  }
  if (length < events_.size()) events_[length].cell_mark = cells_.mark();
  rebuilt_ += length;
}

void Path::CutBack(size_t length) {
  if (length >= events_.size()) return;
  const PathEvent& first_gone = events_[length];
  for (size_t k = object_undo_.size(); k-- > first_gone.first_object_undo;) {
    logs_[object_undo_[k]].entries.pop_back();
  }
  object_undo_.resize(first_gone.first_object_undo);
  cells_.RevertTo(first_gone.cell_mark);
  pairs_.resize(first_gone.first_pair);
  if (exit_position_ != kNoPosition && exit_position_ >= length) exit_position_ = kNoPosition;
  for (size_t p = events_.size(); p-- > length;) {
    positions_[events_[p].thread].pop_back();
    pool_.Release(events_[p].id);
  }
  events_.resize(length);
}

size_t Path::FirstDifference(const sched::Trace& trace, size_t length) {
  bool universal;
  for (size_t p = 0; p < length; ++p) {
    if (p >= trace.size() || trace.events[p].thread != thread(p)) return p;
    BuildRanges(trace, p, &ranges_, &universal);
    if (!std::ranges::equal(ranges_, record(p).footprint())) return p;
  }
  return length;
}

uint32_t Path::LastNotAfter(size_t i, uint32_t known_to) const {
  const size_t end = events_.size();
  uint32_t last = std::max(static_cast<uint32_t>(i), known_to);
  if (end - last <= kScanDistance) {
    const size_t found = clocks_.LastNotAfter(last + 1, end, events_[i].thread, events_[i].index);
    return found == ClockArray::kNone ? last : static_cast<uint32_t>(found);
  }
  // Within a thread, the events that happen after i come after those that do not.
  for (const std::vector<uint32_t>& p : positions_) {
    if (p.empty() || p.back() <= last) continue;
    auto first_after = std::partition_point(
        p.begin(), p.end(), [&](uint32_t k) { return k <= i || !HappensBefore(i, k); });
    if (first_after != p.begin()) last = std::max(last, *(first_after - 1));
  }
  return last;
}

size_t Path::NotAfter(size_t i, std::vector<uint32_t>* out) const {
  const size_t end = events_.size();
  if (out->size() < end - i) out->resize((end - i) * 2);
  if (end - i > kScanDistance) {
    size_t count = 0;
    bool few = true;
    for (const std::vector<uint32_t>& p : positions_) {
      if (p.empty() || p.back() <= i) continue;
      auto begin = std::upper_bound(p.begin(), p.end(), i);
      auto after =
          std::partition_point(begin, p.end(), [&](uint32_t k) { return !HappensBefore(i, k); });
      few = count + static_cast<size_t>(after - begin) <= (end - i) / 16;
      if (!few) break;
      std::copy(begin, after, out->begin() + static_cast<ptrdiff_t>(count));
      count += static_cast<size_t>(after - begin);
    }
    if (few) {
      std::sort(out->begin(), out->begin() + static_cast<ptrdiff_t>(count));
      return count;
    }
  }
  return clocks_.CollectNotAfter(i + 1, end, events_[i].thread, events_[i].index, out->data());
}

void Path::NormalForm(std::span<const uint32_t> positions, std::vector<uint32_t>* out) const {
  out->clear();
  uint32_t highest = 0;
  for (const uint32_t p : positions) {
    const uint32_t t = thread(p);
    size_t at = out->size();
    if (t < highest) {
      const size_t stop = at - std::min(at, kMaxShift);
      for (size_t k = at; k-- > stop && !HappensBefore((*out)[k], p);) {
        if (thread((*out)[k]) > t) at = k;
      }
    }
    highest = std::max(highest, t);
    out->insert(out->begin() + static_cast<ptrdiff_t>(at), p);
  }
}

uint32_t Path::TakenFor(uint32_t position, Cell cell) {
  const ObjectLog* log = FindLog(cell);
  if (log == nullptr) return kNoPosition;
  size_t k = log->entries.size();
  while (k > 0 && log->entries[k - 1].position > position) --k;
  if (k == 0 || log->entries[k - 1].position != position || !log->entries[k - 1].GivesBack()) {
    return kNoPosition;
  }
  for (--k; k-- > 0;) {
    const ObjectEntry& e = log->entries[k];
    if (e.thread == thread(position) && e.Acquires()) return e.position;
  }
  return kNoPosition;
}

uint32_t Path::Waker(ThreadId thread, uint32_t previous, uint32_t limit) {
  const ObjectLog* log = FindLog(sched::MakeCell(CellKind::kWake, thread));
  if (log == nullptr) return kNoPosition;
  for (size_t k = log->entries.size(); k-- > 0;) {
    const ObjectEntry& e = log->entries[k];
    if (e.position >= limit || (e.modes & sched::kWrite) == 0) continue;
    return previous != kNoPosition && e.position <= previous ? kNoPosition : e.position;
  }
  return kNoPosition;
}

}  // namespace mc::dpor
