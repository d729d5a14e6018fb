#include "dpor/event_model.h"

#include <algorithm>

namespace mc::dpor {

using sched::Cell;
using sched::CellKind;
using sched::MakeCell;
using sched::ObjectOf;
using sched::Operation;
using sched::OperationKind;
using sched::ThreadId;

void PendingRanges(const Operation& operation, ThreadId thread, bool alive_modelled,
                   std::vector<Range>* out) {
  out->clear();
  sched::MicroAccess accesses[3];
  const int count = sched::PendingFootprint(operation, thread, accesses);
  for (int k = 0; k < count; ++k) out->push_back({accesses[k].begin, 1, accesses[k].mode});
  if (alive_modelled) out->push_back({MakeCell(CellKind::kAlive, 0), 1, sched::kRead});
  Normalise(out);
}

void EventModel::Begin(uint32_t i) {
  i_ = i;
  end_ = static_cast<uint32_t>(path_.size());
  subset_ = {};
  after_valid_ = false;
  any_dropped_ = false;
}

void EventModel::BeginSubset(std::span<const uint32_t> counts) {
  i_ = end_ = 0;
  subset_ = counts;
  after_valid_ = true;
  after_count_ = 0;
  any_dropped_ = false;
}

const std::vector<uint32_t>& EventModel::After() {
  if (!after_valid_) {
    after_count_ = path_.NotAfter(i_, &after_);
    while (after_count_ > 0 && after_[after_count_ - 1] >= end_) --after_count_;
    if (any_dropped_) {
      size_t kept = 0;
      for (size_t k = 0; k < after_count_; ++k) {
        if (!Dropped(after_[k])) after_[kept++] = after_[k];
      }
      after_count_ = kept;
    }
    after_valid_ = true;
  }
  return after_;
}

// Drops `position` and all in D that happens after it.
void EventModel::Drop(uint32_t position) {
  if (!any_dropped_) {
    any_dropped_ = true;
    ++drop_stamp_;
  }
  if (dropped_.size() < path_.size()) dropped_.resize(path_.size(), 0);
  for (uint32_t k = position; k < end_; ++k) {
    if (path_.HappensBefore(position, k)) dropped_[k] = drop_stamp_;
  }
  after_valid_ = false;
}

Operation EventModel::OperationIn(const Operation& operation, ThreadId thread, uint32_t previous,
                                  uint32_t j) {
  if (operation.kind != OperationKind::kReacquire &&
      operation.kind != OperationKind::kFutexReturn) {
    return operation;
  }
  if (operation.wait_is_over) return operation;
  // Whatever woke it, as long as that is in S.
  for (uint32_t waker = path_.Waker(thread, previous, j); waker != kNoPosition;
       waker = path_.Waker(thread, previous, waker)) {
    if (Contains(waker)) return operation;
  }
  Operation waiting = operation;
  waiting.kind =
      operation.timeout_object != 0 ? OperationKind::kTimedWaiter : OperationKind::kWaiter;
  waiting.object = operation.timeout_object;
  return waiting;
}

bool EventModel::Exists(ThreadId thread, uint32_t previous) {
  const uint32_t exit = path_.exit_position();
  if (exit != kNoPosition && Contains(exit)) return false;
  if (previous != kNoPosition) return Contains(previous);
  const uint32_t creation = path_.LastWrite(MakeCell(CellKind::kThreadStart, thread));
  return creation == kNoPosition || Contains(creation);
}

// The number of the first entry behind the prefix.
size_t EventModel::FirstAfter(const ObjectLog& log) const {
  return static_cast<size_t>(
      std::partition_point(log.entries.begin(), log.entries.end(),
                           [&](const ObjectEntry& e) { return e.position < i_; }) -
      log.entries.begin());
}

const ObjectEntry* EventModel::LastInPrefix(const ObjectLog& log) const {
  for (size_t k = FirstAfter(log); k-- > 0;) {
    if (log.entries[k].has_ledger) return &log.entries[k];
  }
  return nullptr;
}

template <typename Visit>
bool EventModel::VisitChangesInD(const ObjectLog& log, const Visit& visit) {
  const std::vector<ObjectEntry>& entries = log.entries;
  const size_t first = FirstAfter(log);
  // Go through what is shorter: the entries after i, or D.
  constexpr size_t kShort = 32;
  if (!subset_.empty() || entries.size() - first <= kShort ||
      entries.size() - first <= after_count()) {
    for (size_t k = entries.size(); k-- > first;) {
      if (entries[k].has_ledger && Contains(entries[k].position) && !visit(entries[k])) {
        return false;
      }
    }
    return true;
  }
  for (size_t k = after_count_; k-- > 0;) {
    auto at = std::partition_point(entries.begin() + static_cast<ptrdiff_t>(first), entries.end(),
                                   [&](const ObjectEntry& e) { return e.position < after_[k]; });
    if (at != entries.end() && at->position == after_[k] && at->has_ledger && !visit(*at)) {
      return false;
    }
  }
  return true;
}

// The last change of `object` in S; nullptr if there is none.
const ObjectEntry* EventModel::LastLedger(Cell object) {
  const ObjectLog* log = path_.FindLog(object);
  if (log == nullptr) return nullptr;
  const ObjectEntry* last = nullptr;
  VisitChangesInD(*log, [&](const ObjectEntry& e) {
    last = &e;
    return false;
  });
  return last != nullptr ? last : LastInPrefix(*log);
}

bool EventModel::MutexFree(Cell mutex) {
  const ObjectEntry* last = LastLedger(mutex);
  return last == nullptr || last->after == 0;
}

bool EventModel::EverChanged(Cell object) {
  const ObjectLog* log = path_.FindLog(object);
  return log != nullptr &&
         std::ranges::any_of(log->entries, [](const ObjectEntry& e) { return e.has_ledger; });
}

// The count after the prefix is what the last change before i left; the changes in D are added.
bool EventModel::SemaphorePositive(Cell semaphore) {
  const ObjectLog* log = path_.FindLog(semaphore);
  if (log == nullptr) return true;  // nothing is known to have disabled the thread
  int64_t count = 0;
  if (const ObjectEntry* known = LastInPrefix(*log); known != nullptr) {
    count = known->after;
  } else {
    auto first = std::ranges::find_if(log->entries, &ObjectEntry::has_ledger);
    if (first == log->entries.end()) return true;
    count = first->before;
  }
  VisitChangesInD(*log, [&](const ObjectEntry& e) {
    count += e.after - e.before;
    return true;
  });
  return count > 0;
}

// Does any thread hold the lock for reading in S?
bool EventModel::ReadHeld(Cell readers) {
  const ObjectLog* log = path_.FindLog(readers);
  if (log == nullptr) return false;
  seen_.clear();
  for (size_t k = log->entries.size(); k-- > 0;) {
    const ObjectEntry& e = log->entries[k];
    if (!e.has_ledger || !Contains(e.position)) continue;
    if (std::ranges::find(seen_, e.thread) != seen_.end()) continue;
    if (e.after > 0) return true;
    seen_.push_back(e.thread);
  }
  return false;
}

bool EventModel::DropReaders(const Operation& operation) {
  if (operation.kind != OperationKind::kWriteLock) return false;
  const ObjectLog* log =
      path_.FindLog(MakeCell(CellKind::kReadersHalf, ObjectOf(operation.object)));
  if (log == nullptr) return false;
  std::vector<uint32_t> acquisitions;
  seen_.clear();
  for (size_t k = log->entries.size(); k-- > 0;) {
    const ObjectEntry& e = log->entries[k];
    if (!e.has_ledger || !Contains(e.position)) continue;
    if (std::ranges::find(seen_, e.thread) != seen_.end()) continue;
    seen_.push_back(e.thread);
    if (e.after == 0) continue;
    // Its hold began at its last change from 0.
    for (size_t b = k + 1; b-- > 0;) {
      const ObjectEntry& a = log->entries[b];
      if (a.thread != e.thread || !a.has_ledger || a.before != 0 || a.after == 0) continue;
      if (a.position > i_) acquisitions.push_back(a.position);
      break;
    }
  }
  for (const uint32_t a : acquisitions) Drop(a);
  return !acquisitions.empty();
}

bool EventModel::BarrierFull(const Operation& operation) {
  const ObjectLog* log = path_.FindLog(operation.object);
  if (log == nullptr) return operation.needed == 0;
  uint32_t arrived = 0;
  for (const ObjectEntry& e : log->entries) {
    if ((e.modes & sched::kAdd) != 0 && Contains(e.position)) ++arrived;
  }
  return arrived >= operation.needed;
}

// An event of another thread writes one of the cells after the iteration's first read of it. Those
// that have one of `but_flags` do not count.
bool EventModel::SpinWoken(ThreadId thread, uint32_t previous,
                           std::span<const sched::CellRange> cells, uint16_t but_flags,
                           const sched::Trace& trace) {
  if (previous == kNoPosition) return false;
  const std::vector<uint32_t>& own = path_.positions_of(thread);
  const size_t end = subset_.empty() ? end_ : path_.size();
  for (const sched::CellRange& range : cells) {
    auto wakes = [&](uint32_t position) {
      const sched::Event& event = trace.events[position];
      if ((event.flags & but_flags) != 0) return false;
      return std::ranges::any_of(trace.AccessesOf(event), [&](const sched::MicroAccess& a) {
        return sched::WakesSpinner(a, range, cells);
      });
    };
    for (uint32_t w = own[range.reader] + 1; w < end; ++w) {
      if (path_.thread(w) != thread && Contains(w) && wakes(w)) return true;
    }
  }
  return false;
}

bool EventModel::Enabled(const Operation& operation, ThreadId thread, uint32_t previous,
                         std::span<const sched::CellRange> spin_cells, const sched::Trace& trace) {
  switch (operation.kind) {
    case OperationKind::kNone:
    case OperationKind::kTimedWaiter:
    case OperationKind::kFutexReturn:
      return true;
    case OperationKind::kWaiter:
    case OperationKind::kDescheduled:
    case OperationKind::kHandlerPhase:
    case OperationKind::kForcedRound:
      return false;
    case OperationKind::kLock:
      return MutexFree(operation.object);
    case OperationKind::kReacquire: {
      // A wait gives back one hold of a recursive mutex: the waiter itself may have more.
      const ObjectEntry* last = LastLedger(operation.object);
      return last == nullptr || last->after == 0 || last->after == thread + 1;
    }
    case OperationKind::kSemaphoreWait:
      return SemaphorePositive(operation.object);
    case OperationKind::kReadLock:
      return MutexFree(operation.object);  // the last writer entry is "none"
    case OperationKind::kWriteLock:
      return MutexFree(operation.object) &&
             !ReadHeld(MakeCell(CellKind::kReadersHalf, ObjectOf(operation.object)));
    case OperationKind::kJoin: {
      const uint32_t exit = path_.LastWrite(operation.object);
      return exit != kNoPosition && Contains(exit);
    }
    case OperationKind::kBarrierDepart:
      return BarrierFull(operation);
    case OperationKind::kSpin:
      return SpinWoken(thread, previous, spin_cells, 0, trace);
    case OperationKind::kBoundedLoop:
      return SpinWoken(thread, previous, spin_cells, sched::kPastBound, trace);
  }
  return true;
}

}  // namespace mc::dpor
