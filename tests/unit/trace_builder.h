// TraceBuilder: writes a sched::Trace by hand, with the accesses and flags that the engine records.
//
//   TraceBuilder b;
//   b.Block(0).Write(kX, 4, pc).Create(1);   // one event of thread 0
//   b.Block(1).Start().Read(kX, 4, pc);
//
// Block begins a new event; the operations append to the event begun last.
#ifndef MC_TESTS_UNIT_TRACE_BUILDER_H_
#define MC_TESTS_UNIT_TRACE_BUILDER_H_

#include <cstdint>
#include <map>

#include "sched/trace.h"

namespace mc::sched {

class TraceBuilder {
 public:
  TraceBuilder& Block(ThreadId thread, OperationKind first = OperationKind::kNone) {
    Event event;
    event.thread = thread;
    event.index = blocks_[thread]++;
    event.first_access = static_cast<uint32_t>(trace_.accesses.size());
    event.first_ledger = static_cast<uint32_t>(trace_.ledger.size());
    event.operation.kind = first;
    trace_.events.push_back(event);
    return *this;
  }

  TraceBuilder& Access(Cell begin, uint32_t size, uint8_t mode, uint16_t flags = 0, uint64_t pc = 0,
                       MemoryOrder order = MemoryOrder::kRelaxed) {
    MicroAccess access;
    access.begin = begin;
    access.size = size;
    access.mode = mode;
    access.flags = flags;
    access.pc = pc;
    access.order = order;
    trace_.accesses.push_back(access);
    ++trace_.events.back().access_count;
    return *this;
  }

  // Memory.
  TraceBuilder& Read(Cell at, uint32_t size, uint64_t pc, uint16_t flags = 0) {
    return Access(at, size, kRead, flags | kValueRelevant, pc);
  }
  TraceBuilder& Write(Cell at, uint32_t size, uint64_t pc, uint16_t flags = 0) {
    return Access(at, size, kWrite, flags, pc);
  }
  TraceBuilder& Allocate(Cell at, uint32_t size, uint64_t pc) {
    return Access(at, size, kWrite, kAllocation, pc);
  }
  TraceBuilder& Free(Cell at, uint32_t size, uint64_t pc) {
    return Access(at, size, kWrite, kFree, pc);
  }
  TraceBuilder& Load(Cell at, MemoryOrder order, uint64_t pc) {
    return Access(at, 4, kRead, kAtomic | kValueRelevant, pc, order);
  }
  TraceBuilder& Store(Cell at, MemoryOrder order, uint64_t pc) {
    return Access(at, 4, kWrite, kAtomic, pc, order);
  }
  TraceBuilder& ReadModifyWrite(Cell at, MemoryOrder order, uint64_t pc) {
    return Access(at, 4, kReadWrite, kAtomic | kValueRelevant, pc, order);
  }
  TraceBuilder& Fence(MemoryOrder order) { return Access(0, 0, kRead, kFence, 0, order); }

  // Threads.
  TraceBuilder& Create(ThreadId u) {
    return Access(MakeCell(CellKind::kThreadStart, u), 1, kWrite, kRelease | kEnables);
  }
  TraceBuilder& Start() { return OfThread(CellKind::kThreadStart, Self(), kRead, kAcquire); }
  TraceBuilder& Exit() {
    return OfThread(CellKind::kThreadExit, Self(), kWrite, kRelease | kEnables);
  }
  TraceBuilder& Join(ThreadId u) { return OfThread(CellKind::kThreadExit, u, kRead, kAcquire); }
  TraceBuilder& FailToJoin(ThreadId u) {
    return OfThread(CellKind::kThreadExit, u, kRead, kValueRelevant | kTry);
  }
  TraceBuilder& Wake(ThreadId u) {
    return OfThread(CellKind::kWake, u, kWrite, kRelease | kEnables);
  }
  TraceBuilder& Woken() {
    return OfThread(CellKind::kWake, Self(), kRead, kAcquire | kValueRelevant);
  }

  // Locks.
  TraceBuilder& Lock(uint64_t m) { return OfObject(CellKind::kMutex, m, kWrite, kAcquire); }
  TraceBuilder& Unlock(uint64_t m) { return OfObject(CellKind::kMutex, m, kWrite, kRelease); }
  // A routine to be run once, which has run.
  TraceBuilder& OnceDone(uint64_t m) { return OfObject(CellKind::kMutex, m, kRead, kAcquire); }
  TraceBuilder& ReadLock(uint64_t rw) {
    OfObject(CellKind::kWriterHalf, rw, kRead, 0);
    return OfObject(CellKind::kReadersHalf, rw, kAdd, kAcquire);
  }
  TraceBuilder& ReadUnlock(uint64_t rw) {
    return OfObject(CellKind::kReadersHalf, rw, kAdd, kRelease);
  }
  TraceBuilder& WriteLock(uint64_t rw) {
    OfObject(CellKind::kReadersHalf, rw, kRead, 0);
    return OfObject(CellKind::kWriterHalf, rw, kWrite, kAcquire);
  }
  TraceBuilder& WriteUnlock(uint64_t rw) {
    return OfObject(CellKind::kWriterHalf, rw, kWrite, kRelease);
  }

  // Semaphores; `count` is the count before the operation.
  TraceBuilder& SemaphoreWait(uint64_t s, int count, uint16_t flags = 0) {
    AddToLedger(MakeCell(CellKind::kSemaphore, s), count, count - 1);
    return OfObject(CellKind::kSemaphore, s, kWrite, kAcquire | kRelative | flags);
  }
  TraceBuilder& SemaphorePost(uint64_t s, int count) {
    AddToLedger(MakeCell(CellKind::kSemaphore, s), count, count + 1);
    return OfObject(CellKind::kSemaphore, s, kAdd, kRelease | (count == 0 ? kEnables : 0));
  }

  // Barriers.
  TraceBuilder& Arrive(uint64_t barrier, bool last) {
    return OfObject(CellKind::kBarrierGeneration, barrier * 256, kAdd,
                    kRelease | (last ? kEnables : 0));
  }
  TraceBuilder& Depart(uint64_t barrier) {
    return OfObject(CellKind::kBarrierGeneration, barrier * 256, kRead, kAcquire);
  }

  const Trace& trace() const { return trace_; }
  Trace Take() { return std::move(trace_); }

 private:
  ThreadId Self() const { return trace_.events.back().thread; }
  TraceBuilder& OfThread(CellKind kind, ThreadId thread, uint8_t mode, uint16_t flags) {
    return Access(MakeCell(kind, thread), 1, mode, flags);
  }
  TraceBuilder& OfObject(CellKind kind, uint64_t object, uint8_t mode, uint16_t flags) {
    return Access(MakeCell(kind, object), 1, mode, flags);
  }
  // One entry per object and block: net of what happens inside.
  void AddToLedger(Cell object, int before, int after) {
    Event& event = trace_.events.back();
    for (uint32_t i = 0; i < event.ledger_count; ++i) {
      LedgerEntry& entry = trace_.ledger[event.first_ledger + i];
      if (entry.object != object) continue;
      entry.after = after;
      return;
    }
    trace_.ledger.push_back({object, before, after});
    ++event.ledger_count;
  }

  Trace trace_;
  std::map<ThreadId, uint32_t> blocks_;
};

}  // namespace mc::sched

#endif  // MC_TESTS_UNIT_TRACE_BUILDER_H_
