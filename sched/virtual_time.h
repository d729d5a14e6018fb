// Virtual time: what the clocks of the program show at the start (DESIGN section 5).
#ifndef MC_SCHED_VIRTUAL_TIME_H_
#define MC_SCHED_VIRTUAL_TIME_H_

#include <cstdint>

namespace mc::sched {

inline constexpr uint64_t kNanosecondsPerSecond = 1000000000;
// 2026-01-01 00:00 UTC, in nanoseconds since 1970.
inline constexpr uint64_t kStartOfTimeNs = 1767225600 * kNanosecondsPerSecond;
// How far a clock is put on that a loop looks at and nothing else moves.
inline constexpr uint64_t kMonthNs = uint64_t{30} * 24 * 3600 * kNanosecondsPerSecond;

}  // namespace mc::sched

#endif  // MC_SCHED_VIRTUAL_TIME_H_
