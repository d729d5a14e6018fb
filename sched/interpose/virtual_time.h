// Virtual time (DESIGN section 5): every thread has a clock of its own, so that what it reads is a
// function of the events it depends on. Reading a clock adds a microsecond, a sleep its length, a
// time-out raises the clock to its deadline; synchronisation hands the later of two times on.
#ifndef MC_SCHED_INTERPOSE_VIRTUAL_TIME_H_
#define MC_SCHED_INTERPOSE_VIRTUAL_TIME_H_

#include <sys/time.h>
#include <time.h>

#include <cstdint>

#include "sched/spin.h"
#include "sched/thread.h"
#include "sched/virtual_time.h"

namespace mc::sched {

// Reads the clock of the thread, in nanoseconds since 1970.
uint64_t ReadClock(Thread& thread);

// tv_nsec lies in its range.
inline bool IsValidTime(const timespec& time) {
  return time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(kNanosecondsPerSecond);
}
// An interval in nanoseconds; negative ones are 0, those beyond 100 years are cut.
uint64_t IntervalOf(const timespec& interval);
// The value of Thread::clock_ns at the absolute time; 0 if it lies before the start.
uint64_t ClockAt(const timespec& absolute);

// A place where the thread gives way: a `yield` preemption point, and a spin point at `pc`.
void Yield(uint64_t pc, const EntryRegisters& registers);
// The same, and the thread's clock goes on by `nanoseconds`.
void Sleep(uint64_t nanoseconds, uint64_t pc, const EntryRegisters& registers);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_VIRTUAL_TIME_H_
