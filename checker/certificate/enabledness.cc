#include "checker/certificate/enabledness.h"

#include <algorithm>

namespace mc::checker {

using sched::Cell;
using sched::CellKind;
using sched::MakeCell;
using sched::ObjectOf;
using sched::OperationKind;
using sched::ThreadId;

namespace {

constexpr Cell kAliveCell = MakeCell(CellKind::kAlive, 0);

bool Touches(const RecordedAccess& access, Cell cell) {
  return access.begin <= cell && cell < access.end();
}

bool HasMode(const RecordedEvent& event, Cell cell, uint8_t mode) {
  return std::ranges::any_of(event.accesses, [&](const RecordedAccess& a) {
    return (a.mode & mode) != 0 && Touches(a, cell);
  });
}

Cell ReadersOf(Cell writer_half) { return MakeCell(CellKind::kReadersHalf, ObjectOf(writer_half)); }

}  // namespace

void Cut::TakePrefix(size_t length) {
  contains_.assign(order_.size(), 0);
  counts_.assign(order_.threads(), 0);
  for (size_t p = 0; p < length; ++p) Add(p);
}

void Cut::TakeWithout(size_t i) {
  contains_.assign(order_.size(), 0);
  counts_.assign(order_.threads(), 0);
  for (size_t p = 0; p < order_.size(); ++p) {
    if (p < i || !order_.HappensBefore(i, p)) Add(p);
  }
}

void Cut::Drop(size_t position) {
  for (size_t p = position; p < contains_.size(); ++p) {
    if (contains_[p] == 0 || !order_.HappensBefore(position, p)) continue;
    contains_[p] = 0;
    --counts_[order_.event(p).thread];
  }
}

bool Enabledness::LearnCounts(const RecordedEnds& ends) {
  return std::ranges::all_of(ends.first_counts, [this](const FirstCount& first) {
    return first_counts_.try_emplace(first.semaphore, first.count).first->second == first.count;
  });
}

bool Enabledness::FindNext(const Cut& cut, const RecordedEnds& ends, ThreadId thread,
                           NextBlock* next) const {
  next->thread = thread;
  const size_t position = order_.Find(thread, cut.CountOf(thread));
  if (position != kNoEventPosition) {
    next->operation = order_.event(position).operation;
    next->spin_cells = order_.event(position).spin_cells;
    return Exists(cut, thread);
  }
  if (thread >= ends.threads.size()) return false;
  const RecordedEnd& end = ends.threads[thread];
  next->operation = end.pending;
  next->spin_cells = end.spin_cells;
  return end.status == sched::ThreadStatus::kRunnable && Exists(cut, thread);
}

bool Enabledness::Exists(const Cut& cut, ThreadId thread) const {
  const size_t exit = order_.exit_position(), creation = order_.CreationOf(thread);
  if (exit != kNoEventPosition && cut.Contains(exit)) return false;
  // A thread that nothing creates is there from the start.
  return creation == kNoEventPosition || cut.Contains(creation);
}

RecordedOperation Enabledness::OperationIn(const Cut& cut, const NextBlock& next) const {
  RecordedOperation operation = next.operation;
  const bool was_woken = (operation.kind == OperationKind::kReacquire && !operation.wait_is_over) ||
                         operation.kind == OperationKind::kFutexReturn;
  if (!was_woken || WokenSinceLast(cut, next.thread)) return operation;
  operation.object = operation.timeout_object;
  operation.kind =
      operation.timeout_object == 0 ? OperationKind::kWaiter : OperationKind::kTimedWaiter;
  return operation;
}

bool Enabledness::Enabled(const Cut& cut, const NextBlock& next,
                          const RecordedOperation& operation) const {
  const Cell object = operation.object;
  switch (operation.kind) {
    case OperationKind::kNone:
    case OperationKind::kTimedWaiter:
    case OperationKind::kFutexReturn:
      return true;
    case OperationKind::kWaiter:
    case OperationKind::kHandlerPhase:  // not before all others have ended; asked elsewhere
    case OperationKind::kBoundedLoop:   // no certificate has these
    case OperationKind::kForcedRound:
      return false;
    case OperationKind::kDescheduled:
      return WokenSinceLast(cut, next.thread);
    case OperationKind::kLock:
    case OperationKind::kReadLock:  // the object is the writer half
      return Free(cut, object);
    case OperationKind::kReacquire: {
      // The waiter may hold it still, having taken a recursive mutex more than once.
      const RecordedLedger* last = LastChange(cut, object);
      return last == nullptr || last->after == 0 || last->after == int64_t{next.thread} + 1;
    }
    case OperationKind::kWriteLock:
      return Free(cut, object) && !HeldForReading(cut, ReadersOf(object));
    case OperationKind::kSemaphoreWait:
      return CountOf(cut, object) > 0;
    case OperationKind::kJoin:
      return Writes(cut, object, 0);
    case OperationKind::kBarrierDepart:
      return Arrivals(cut, object) >= operation.needed;
    case OperationKind::kSpin:
      return SpinnerWoken(cut, next);
  }
  return false;
}

bool Enabledness::DropReaders(const RecordedOperation& operation, size_t i, Cut* cut) const {
  if (operation.kind != OperationKind::kWriteLock) return false;
  const Cell readers = ReadersOf(operation.object);
  std::vector<size_t> acquisitions;
  // Of each thread, the last acquisition: given back if its count is 0 by now.
  absl::flat_hash_map<ThreadId, size_t> acquired;
  for (size_t p = 0; p < cut->size(); ++p) {
    if (!cut->Contains(p)) continue;
    const RecordedEvent& event = order_.event(p);
    for (const RecordedLedger& change : event.ledger) {
      if (change.object != readers) continue;
      if (change.after == 0) {
        acquired.erase(event.thread);
      } else if (change.before == 0) {
        acquired[event.thread] = p;
      }
    }
  }
  for (const auto& [thread, position] : acquired) {
    if (position > i) acquisitions.push_back(position);
  }
  for (const size_t position : acquisitions) cut->Drop(position);
  return !acquisitions.empty();
}

std::vector<RecordedAccess> Enabledness::PendingFootprint(const RecordedOperation& operation,
                                                          ThreadId thread, bool alive) {
  std::vector<RecordedAccess> out;
  const auto add = [&out](Cell cell, uint8_t mode) { out.push_back({cell, 1, mode, 0}); };
  const Cell wake = MakeCell(CellKind::kWake, thread);
  switch (operation.kind) {
    case OperationKind::kLock:
    case OperationKind::kSemaphoreWait:
      add(operation.object, sched::kWrite);
      break;
    case OperationKind::kReadLock:
      add(operation.object, sched::kRead);
      add(ReadersOf(operation.object), sched::kAdd);
      break;
    case OperationKind::kWriteLock:
      add(operation.object, sched::kWrite);
      add(ReadersOf(operation.object), sched::kRead);
      break;
    case OperationKind::kJoin:
      add(operation.object, sched::kRead);
      break;
    case OperationKind::kReacquire:    // the object is the mutex
    case OperationKind::kTimedWaiter:  // the condition variable or queue
      add(wake, sched::kRead);
      add(operation.object, sched::kWrite);
      break;
    case OperationKind::kFutexReturn:
      add(wake, sched::kRead);
      break;
    default:
      break;
  }
  if (alive) add(kAliveCell, sched::kRead);
  return out;
}

const RecordedLedger* Enabledness::LastChange(const Cut& cut, Cell object) const {
  for (size_t p = cut.size(); p-- > 0;) {
    if (!cut.Contains(p)) continue;
    for (const RecordedLedger& change : order_.event(p).ledger) {
      if (change.object == object) return &change;
    }
  }
  return nullptr;
}

bool Enabledness::Free(const Cut& cut, Cell lock) const {
  const RecordedLedger* last = LastChange(cut, lock);
  return last == nullptr || last->after == 0;
}

bool Enabledness::HeldForReading(const Cut& cut, Cell readers) const {
  absl::flat_hash_map<ThreadId, int64_t> holds;
  for (size_t p = 0; p < cut.size(); ++p) {
    if (!cut.Contains(p)) continue;
    for (const RecordedLedger& change : order_.event(p).ledger) {
      if (change.object == readers) holds[order_.event(p).thread] = change.after;
    }
  }
  return std::ranges::any_of(holds, [](const auto& entry) { return entry.second > 0; });
}

int64_t Enabledness::CountOf(const Cut& cut, Cell semaphore) const {
  const auto first = first_counts_.find(semaphore);
  int64_t count = first == first_counts_.end() ? 0 : first->second;
  for (size_t p = 0; p < cut.size(); ++p) {
    if (!cut.Contains(p)) continue;
    const RecordedEvent& event = order_.event(p);
    for (const RecordedLedger& change : event.ledger) {
      if (change.object != semaphore) continue;
      count = OverwritesCount(event, semaphore) ? change.after : count + change.after;
    }
  }
  return count;
}

bool Enabledness::Writes(const Cut& cut, Cell cell, size_t from) const {
  for (size_t p = from; p < cut.size(); ++p) {
    if (cut.Contains(p) && HasMode(order_.event(p), cell, sched::kWrite)) return true;
  }
  return false;
}

// The position after the thread's last event in the cut.
size_t Enabledness::AfterLastOf(const Cut& cut, ThreadId thread) const {
  const uint32_t count = cut.CountOf(thread);
  return count == 0 ? 0 : order_.Find(thread, count - 1) + 1;
}

bool Enabledness::WokenSinceLast(const Cut& cut, ThreadId thread) const {
  return Writes(cut, MakeCell(CellKind::kWake, thread), AfterLastOf(cut, thread));
}

uint32_t Enabledness::Arrivals(const Cut& cut, Cell generation) const {
  uint32_t count = 0;
  for (size_t p = 0; p < cut.size(); ++p) {
    if (cut.Contains(p) && HasMode(order_.event(p), generation, sched::kAdd)) ++count;
  }
  return count;
}

// Has another thread written one of the cells after the loop read it? What others do to locks
// tentatively does not count for a loop that hears of it when it is announced.
bool Enabledness::SpinnerWoken(const Cut& cut, const NextBlock& next) const {
  const auto hears_of = [&](Cell cell) {
    const Cell change = MakeCell(CellKind::kLockChange, ObjectOf(cell));
    return std::ranges::any_of(next.spin_cells,
                               [&](const RecordedRange& range) { return range.begin == change; });
  };
  for (const RecordedRange& range : next.spin_cells) {
    const size_t read = order_.Find(next.thread, range.reader);
    if (read == kNoEventPosition) continue;
    for (size_t p = read + 1; p < cut.size(); ++p) {
      if (!cut.Contains(p) || order_.event(p).thread == next.thread) continue;
      for (const RecordedAccess& a : order_.event(p).accesses) {
        if (a.mode == sched::kRead || a.begin >= range.begin + range.size ||
            range.begin >= a.end()) {
          continue;
        }
        if ((a.flags & sched::kTentative) == 0 || !hears_of(a.begin)) return true;
      }
    }
  }
  return false;
}

}  // namespace mc::checker
