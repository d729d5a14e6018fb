// Cells: the unit of interaction between threads (spec optimal-dpor 1.2).
//
// A cell is a byte of memory, or one of the tagged cells that stand for the state of a
// synchronisation object or of a thread. Both live in one 64-bit number space, so that a footprint
// is simply a list of half-open cell ranges: memory cells are the native addresses (below 2^56),
// every other kind carries its CellKind in the top byte.
#ifndef MC_SCHED_CELL_H_
#define MC_SCHED_CELL_H_

#include <cstdint>

namespace mc::sched {

using Cell = uint64_t;

enum class CellKind : uint8_t {
  kMemory = 0,         // object = address of the byte
  kMutex,              // object = address of the mutex (also spin locks)
  kConditionVariable,  // object = address
  kSemaphore,          // object = address
  kBarrierState,       // object = address
  kBarrierGeneration,  // object = address * 256 + generation % 256
  kWriterHalf,         // reader-writer lock, object = address; or its announcement (below)
  kReadersHalf,        // reader-writer lock, object = address; likewise
  kThreadStart,        // object = ThreadId
  kThreadExit,         // object = ThreadId
  kWake,               // object = ThreadId
  kAlive,              // object = 0: the process is alive
  kFutexQueue,         // object = address of the word
  kHeapClass,          // object = size class; only under --heap=recycle
  kHandlerPhase,       // object = 0: the exit handlers run (written once, after everything else)
  kLockChange,         // object = address: announced attempts to take the lock (lock_attempts.h)
  kThreadHandle,       // object = ThreadId: whether it is joined or detached
  kDescheduled,        // object = ThreadId: is it in mc_deschedule, for mc_make_runnable to end?
  kSharedState,        // object = number of a library cell that is truly shared (rand, file offset)
};

inline constexpr int kCellKindShift = 56;
inline constexpr uint64_t kCellObjectMask = (uint64_t{1} << kCellKindShift) - 1;

constexpr Cell MakeCell(CellKind kind, uint64_t object) {
  return (static_cast<uint64_t>(kind) << kCellKindShift) | (object & kCellObjectMask);
}
constexpr CellKind KindOf(Cell cell) { return static_cast<CellKind>(cell >> kCellKindShift); }
constexpr uint64_t ObjectOf(Cell cell) { return cell & kCellObjectMask; }
// A lock that prefers writers has a second pair of halves, of which a writer takes its half before
// it waits (interpose/rwlock.cc). Their object is the word in the lock that says who did.
inline constexpr uint64_t kAnnouncementOffset = 4;
constexpr bool IsAnnouncement(Cell cell) {
  return KindOf(cell) == CellKind::kWriterHalf && ObjectOf(cell) % 8 == kAnnouncementOffset;
}
constexpr bool IsMemory(Cell cell) { return cell >> kCellKindShift == 0; }

}  // namespace mc::sched

#endif  // MC_SCHED_CELL_H_
