// The cells of the toy machine's objects.
#ifndef MC_TESTS_TOY_CELLS_H_
#define MC_TESTS_TOY_CELLS_H_

#include <cstdint>

#include "sched/cell.h"

namespace mc::toy {

using sched::Cell;
using sched::CellKind;
using sched::MakeCell;

inline Cell ObjectCell(CellKind kind, uint64_t base, int object) {
  return MakeCell(kind, base + 16 * static_cast<uint64_t>(object));
}
inline Cell VariableCell(int v) { return 0x10000 + 8 * static_cast<uint64_t>(v); }
inline Cell MutexCell(int m) { return ObjectCell(CellKind::kMutex, 0x20000, m); }
inline Cell CondvarCell(int c) { return ObjectCell(CellKind::kConditionVariable, 0x30000, c); }
inline Cell SemaphoreCell(int s) { return ObjectCell(CellKind::kSemaphore, 0x40000, s); }
inline Cell WriterCell(int w) { return ObjectCell(CellKind::kWriterHalf, 0x50000, w); }
inline Cell ReadersCell(int w) { return ObjectCell(CellKind::kReadersHalf, 0x50000, w); }
inline Cell BarrierCell(int b) { return ObjectCell(CellKind::kBarrierState, 0x60000, b); }
inline Cell GenerationCell(int b, uint32_t generation) {
  return MakeCell(CellKind::kBarrierGeneration,
                  (0x60000 + 16 * static_cast<uint64_t>(b)) * 256 + generation % 256);
}
inline Cell WakeCell(int t) { return MakeCell(CellKind::kWake, static_cast<uint64_t>(t)); }
inline Cell ExitCell(int t) { return MakeCell(CellKind::kThreadExit, static_cast<uint64_t>(t)); }
inline Cell StartCell(int t) { return MakeCell(CellKind::kThreadStart, static_cast<uint64_t>(t)); }
inline constexpr Cell kAliveCell = MakeCell(CellKind::kAlive, 0);

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_CELLS_H_
