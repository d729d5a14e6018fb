#include "racedet/must_happen_before.h"

namespace mc::racedet {

using sched::CellKind;

namespace {

// The kinds of cell on which a thread can be enabled.
bool CarriesEdges(CellKind kind) {
  return kind == CellKind::kThreadStart || kind == CellKind::kThreadExit ||
         kind == CellKind::kWake || kind == CellKind::kBarrierGeneration ||
         kind == CellKind::kSemaphore;
}

}  // namespace

void MustHappenBefore::Reset() {
  cells_.Reset();
  for (uint32_t i = 0; i < threads_.size(); ++i) threads_[i] = Thread{};
  block_ = {};
}

void MustHappenBefore::TakeEdge(Thread& thread, sched::ThreadId id, sched::Cell cell) {
  const ClockArena::Publication source = cells_.Get(cell);
  if (source.empty() || source.thread == id) return;
  block_ = block_.empty() ? source
                          : ClockArena::Publication{clocks_.Join(source.ref, block_), source.thread,
                                                    source.bound};
  log_.Set(thread.clock, clocks_.Join(thread.clock, source));
}

void MustHappenBefore::BeginEvent(const sched::Trace& trace, const sched::Event& event) {
  threads_.GrowTo(event.thread + 1u);
  Thread& thread = threads_[event.thread];
  block_ = {};
  const auto accesses = trace.AccessesOf(event);
  for (const sched::MicroAccess& access : accesses) {
    const CellKind kind = sched::KindOf(access.begin);
    if (kind == CellKind::kAlive) continue;
    // An operation touches the bytes of its object, before or after its cell.
    if (kind == CellKind::kMemory && (access.flags & sched::kObjectBytes)) continue;
    if (!CarriesEdges(kind)) break;
    const bool acquires =
        (access.flags & sched::kAcquire) && !(access.flags & (sched::kTry | sched::kBlockingTest));
    if (!acquires) break;
    TakeEdge(thread, event.thread, access.begin);
    // A created thread's start and a waiter's wake-up are followed by more of the beginning; all
    // else is the block's first operation.
    if (kind != CellKind::kThreadStart && kind != CellKind::kWake) break;
  }

  constexpr uint16_t kSource = sched::kRelease | sched::kEnables;
  for (const sched::MicroAccess& access : accesses) {
    if ((access.flags & kSource) != kSource) continue;
    if (!CarriesEdges(sched::KindOf(access.begin))) continue;
    // The edge orders the whole transition, so also the accesses that follow the release in it.
    cells_.Set(access.begin, {thread.clock, event.thread, event.first_access + event.access_count});
  }
}

}  // namespace mc::racedet
