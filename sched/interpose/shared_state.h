// State of the process that is no memory of the program, and that several threads share: the cells
// of kind kSharedState.
#ifndef MC_SCHED_INTERPOSE_SHARED_STATE_H_
#define MC_SCHED_INTERPOSE_SHARED_STATE_H_

#include <cstdint>

#include "sched/cell.h"

namespace mc::sched {

enum class SharedState : uint64_t {
  kKeyTable = 1,      // which thread-specific keys are taken
  kRand = 2,          // rand and random
  kEnvironment = 4,   // the lock of setenv and its relatives
  kExitHandlers = 5,  // which handlers atexit and at_quick_exit have registered
  // Whether narrow or wide characters have been written to standard output; 1 more: standard error.
  kNarrowOutput = 6,
  kWideOutput = 8
};

constexpr Cell SharedStateCell(SharedState state) {
  return MakeCell(CellKind::kSharedState, static_cast<uint64_t>(state));
}

// Whose number the thread-specific key has.
constexpr Cell KeyCell(uint64_t key) {
  return MakeCell(CellKind::kSharedState, (uint64_t{1} << 40) + key);
}
// What the thread is called, where it may run, and how urgently.
constexpr Cell ThreadPropertiesCell(uint64_t thread) {
  return MakeCell(CellKind::kSharedState, (uint64_t{1} << 41) + thread);
}
// How far a conversion of iconv has got.
constexpr Cell ConversionCell(uint64_t number) {
  return MakeCell(CellKind::kSharedState, (uint64_t{1} << 42) + number);
}

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SHARED_STATE_H_
