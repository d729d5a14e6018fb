#include "racedet/happens_before.h"

namespace mc::racedet {

using sched::Cell;
using sched::CellKind;
using sched::MemoryOrder;
using sched::MicroAccess;

namespace {

bool IsAcquire(MemoryOrder order) {
  return order == MemoryOrder::kConsume || order == MemoryOrder::kAcquire ||
         order == MemoryOrder::kAcqRel || order == MemoryOrder::kSeqCst;
}

bool IsRelease(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcqRel ||
         order == MemoryOrder::kSeqCst;
}

Cell OtherHalf(Cell cell, CellKind half) { return sched::MakeCell(half, sched::ObjectOf(cell)); }

}  // namespace

void HappensBefore::Reset() {
  cells_.Reset();
  for (uint32_t i = 0; i < threads_.size(); ++i) threads_[i] = Thread{};
}

void HappensBefore::Take(Thread& thread, Cell cell) {
  log_.Set(thread.clock, clocks_.Join(thread.clock, cells_.Get(cell)));
}

void HappensBefore::Join(Cell cell, const ClockArena::Publication& publication) {
  const ClockArena::Publication old = cells_.Get(cell);
  if (old.empty()) {
    cells_.Set(cell, publication);
    return;
  }
  cells_.Set(cell, {clocks_.Join(publication.ref, old), publication.thread, publication.bound});
}

void HappensBefore::Acquire(const sched::Event& event, const MicroAccess& access) {
  Thread& thread = threads_[event.thread];
  if (access.flags & sched::kFence) {
    if (IsAcquire(access.order)) {
      log_.Set(thread.clock, clocks_.Join(thread.clock, {thread.pending_acquire, 0, 0}));
    }
    return;
  }
  if (sched::IsMemory(access.begin)) {
    if (!(access.flags & sched::kAtomic) || access.mode == sched::kWrite) return;
    if (IsAcquire(access.order)) {
      Take(thread, access.begin);
    } else {
      log_.Set(thread.pending_acquire,
               clocks_.Join(thread.pending_acquire, cells_.Get(access.begin)));
    }
    return;
  }
  if (!(access.flags & sched::kAcquire) || (access.flags & sched::kBlockingTest)) return;
  switch (sched::KindOf(access.begin)) {
    case CellKind::kConditionVariable:
      return;
    case CellKind::kWake:
      if (event.operation.kind != sched::OperationKind::kReacquire) Take(thread, access.begin);
      return;
    case CellKind::kReadersHalf:
      Take(thread, OtherHalf(access.begin, CellKind::kWriterHalf));
      return;
    case CellKind::kWriterHalf:
      Take(thread, access.begin);
      Take(thread, OtherHalf(access.begin, CellKind::kReadersHalf));
      return;
    default:
      Take(thread, access.begin);
  }
}

void HappensBefore::Release(const sched::Event& event, const MicroAccess& access,
                            uint32_t position) {
  Thread& thread = threads_[event.thread];
  const ClockArena::Publication now{thread.clock, event.thread, position + 1};
  if (access.flags & sched::kFence) {
    if (IsRelease(access.order)) {
      log_.Set(thread.fence_clock, now.ref);
      log_.Set(thread.fence_bound, now.bound);
    }
    return;
  }
  if (sched::IsMemory(access.begin)) {
    if ((access.flags & sched::kAtomic) && access.mode != sched::kRead) {
      ReleaseAtomic(thread, access, now);
    }
    return;
  }
  if (!(access.flags & sched::kRelease)) return;
  switch (sched::KindOf(access.begin)) {
    case CellKind::kConditionVariable:
      return;
    case CellKind::kMutex:
    case CellKind::kWriterHalf:
      cells_.Set(access.begin, now);
      return;
    default:
      Join(access.begin, now);
  }
}

void HappensBefore::ReleaseAtomic(const Thread& thread, const MicroAccess& access,
                                  const ClockArena::Publication& now) {
  ClockArena::Publication released;
  if (IsRelease(access.order)) {
    released = now;
  } else if (thread.fence_bound != 0) {
    released = {thread.fence_clock, now.thread, thread.fence_bound};
  }
  if (access.mode == sched::kWrite) {
    if (!released.empty()) {
      cells_.Set(access.begin, released);
    } else {
      ForgetAtomic(access.begin);
    }
  } else if (IsRelease(access.order) && IsAcquire(access.order)) {
    cells_.Set(access.begin, released);  // it has just taken what was there
  } else if (!released.empty()) {
    Join(access.begin, released);
  }
}

void HappensBefore::ForgetAtomic(Cell cell) {
  if (!cells_.Get(cell).empty()) cells_.Set(cell, {});
}

}  // namespace mc::racedet
