#include "sched/trace.h"

#include <algorithm>

namespace mc::sched {

bool WakesSpinner(const MicroAccess& access, const CellRange& range,
                  std::span<const CellRange> cells) {
  if ((access.mode & (kWrite | kAdd)) == 0 || access.begin >= range.begin + range.size ||
      range.begin >= access.end()) {
    return false;
  }
  if ((access.flags & kTentative) == 0) return true;
  const Cell change = MakeCell(CellKind::kLockChange, ObjectOf(access.begin));
  return std::ranges::none_of(cells, [&](const CellRange& r) { return r.begin == change; });
}

void Trace::CutBack(size_t length) {
  if (length < events.size()) {
    const Event& first_gone = events[length];
    accesses.resize(first_gone.first_access);
    choices.resize(first_gone.first_choice);
    ledger.resize(first_gone.first_ledger);
    spin_cells.resize(first_gone.first_spin_cell);
    events.resize(length);
  }
  ends.clear();
  outcome = ExecutionOutcome::kCompleted;
}

namespace {

MicroAccess Touch(Cell cell, uint8_t mode, uint16_t flags = 0) {
  MicroAccess a;
  a.begin = cell;
  a.size = 1;
  a.mode = mode;
  a.flags = flags;
  return a;
}

}  // namespace

int PendingFootprint(const Operation& operation, ThreadId thread, MicroAccess out[3]) {
  const Cell wake = MakeCell(CellKind::kWake, thread);
  switch (operation.kind) {
    case OperationKind::kLock:
    case OperationKind::kSemaphoreWait:
      out[0] = Touch(operation.object, kWrite);
      return 1;
    case OperationKind::kReacquire:
      out[0] = Touch(wake, kRead, kValueRelevant);
      out[1] = Touch(operation.object, kWrite);
      return 2;
    case OperationKind::kTimedWaiter:
      out[0] = Touch(wake, kRead, kValueRelevant);
      out[1] = Touch(operation.object, kWrite);
      return 2;
    case OperationKind::kReadLock:
      out[0] = Touch(operation.object, kRead);
      out[1] = Touch(MakeCell(CellKind::kReadersHalf, ObjectOf(operation.object)), kAdd);
      return 2;
    case OperationKind::kWriteLock:
      out[0] = Touch(MakeCell(CellKind::kReadersHalf, ObjectOf(operation.object)), kRead);
      out[1] = Touch(operation.object, kWrite);
      return 2;
    case OperationKind::kJoin:
      out[0] = Touch(operation.object, kRead);
      return 1;
    case OperationKind::kFutexReturn:
      out[0] = Touch(wake, kRead, kValueRelevant);
      return 1;
    case OperationKind::kNone:
    case OperationKind::kWaiter:
    case OperationKind::kBarrierDepart:
    case OperationKind::kSpin:
    case OperationKind::kDescheduled:
    case OperationKind::kHandlerPhase:
    case OperationKind::kBoundedLoop:
    case OperationKind::kForcedRound:
      return 0;
  }
  return 0;
}

}  // namespace mc::sched
