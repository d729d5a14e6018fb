// Clocks, sleeps and yields on virtual time (virtual_time.h). All clocks show the same time, except
// those of processor time, which begin at 0.
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

namespace mc::sched {

namespace {

constexpr uint64_t kClockReadNs = 1000;

timespec TimeOf(uint64_t nanoseconds) {
  timespec time;
  time.tv_sec = static_cast<time_t>(nanoseconds / kNanosecondsPerSecond);
  time.tv_nsec = static_cast<long>(nanoseconds % kNanosecondsPerSecond);
  return time;
}

timeval IntervalInMicroseconds(uint64_t nanoseconds) {
  timeval time;
  time.tv_sec = static_cast<time_t>(nanoseconds / kNanosecondsPerSecond);
  time.tv_usec = static_cast<suseconds_t>(nanoseconds % kNanosecondsPerSecond / 1000);
  return time;
}

bool IsProcessorClock(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

// The program's memory that a clock is read into: a write like any other.
template <class T>
void Store(T* place, const T& value, uint64_t pc) {
  g_scheduler.Access(reinterpret_cast<uintptr_t>(place), sizeof *place, kWrite, 0, pc);
  *place = value;
}

}  // namespace

uint64_t ReadClock(Thread& thread) {
  thread.spin.OnClockRead(&thread.clock_ns);
  g_scheduler.NoteClockRead();
  thread.clock_ns += kClockReadNs;
  return kStartOfTimeNs + thread.clock_ns;
}

uint64_t IntervalOf(const timespec& interval) {
  constexpr time_t kCentury = 3155760000;
  if (interval.tv_sec < 0) return 0;
  if (interval.tv_sec >= kCentury) return kCentury * kNanosecondsPerSecond;
  return static_cast<uint64_t>(interval.tv_sec) * kNanosecondsPerSecond +
         static_cast<uint64_t>(interval.tv_nsec);
}

uint64_t ClockAt(const timespec& absolute) {
  const uint64_t time = IntervalOf(absolute);
  return time < kStartOfTimeNs ? 0 : time - kStartOfTimeNs;
}

void Yield(uint64_t pc, const EntryRegisters& registers) {
  g_scheduler.WaitingPoint(pc, registers);
  if (!g_scheduler.PreemptionPointOn(kPpYield)) return;
  g_scheduler.current().yielded = true;
  g_scheduler.After(kPpYield);
}

void Sleep(uint64_t nanoseconds, uint64_t pc, const EntryRegisters& registers) {
  Yield(pc, registers);
  g_scheduler.current().clock_ns += nanoseconds;
}

}  // namespace mc::sched

using namespace mc::sched;

MC_DISTANT_STUB(clock_gettime, mc_entry_clock_gettime);
MC_BEHIND_STUB int mc_entry_clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!g_scheduler.program_running()) return Real().clock_gettime(clock, time);
  EngineScope scope;
  const uint64_t now = ReadClock(g_scheduler.current());
  Store(time, TimeOf(IsProcessorClock(clock) ? now - kStartOfTimeNs : now), MC_CALLER_PC());
  return 0;
}

MC_HOOK int timespec_get(timespec* time, int base) noexcept {
  if (!g_scheduler.program_running()) return Real().timespec_get(time, base);
  EngineScope scope;
  if (base != TIME_UTC) return 0;
  Store(time, TimeOf(ReadClock(g_scheduler.current())), MC_CALLER_PC());
  return base;
}

MC_HOOK int gettimeofday(timeval* time, void* zone) noexcept {
  if (!g_scheduler.program_running()) return Real().gettimeofday(time, zone);
  EngineScope scope;
  const uint64_t now = ReadClock(g_scheduler.current());
  Store(time, IntervalInMicroseconds(now), MC_CALLER_PC());
  return 0;
}

MC_HOOK time_t time(time_t* place) noexcept {
  if (!g_scheduler.program_running()) return Real().time(place);
  EngineScope scope;
  const auto now = static_cast<time_t>(ReadClock(g_scheduler.current()) / kNanosecondsPerSecond);
  if (place != nullptr) Store(place, now, MC_CALLER_PC());
  return now;
}

MC_HOOK clock_t clock() noexcept {
  if (!g_scheduler.program_running()) return Real().clock();
  EngineScope scope;
  const uint64_t used = ReadClock(g_scheduler.current()) - kStartOfTimeNs;
  return static_cast<clock_t>(used / (kNanosecondsPerSecond / CLOCKS_PER_SEC));
}

// What the program has used is a function of what it has done, as far as that is known: the time of
// its clock.
MC_HOOK clock_t times(tms* place) noexcept {
  MC_REAL_OF(times);
  if (!g_scheduler.program_running()) return real(place);
  EngineScope scope;
  const uint64_t tick = kNanosecondsPerSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  const uint64_t now = ReadClock(g_scheduler.current());
  tms value = {};
  value.tms_utime = static_cast<clock_t>((now - kStartOfTimeNs) / tick);
  if (place != nullptr) Store(place, value, MC_CALLER_PC());
  return static_cast<clock_t>(now / tick);
}

MC_HOOK int getrusage(int who, rusage* place) noexcept {
  MC_REAL_OF(getrusage);
  if (!g_scheduler.program_running()) return real(who, place);
  EngineScope scope;
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN && who != RUSAGE_THREAD) {
    errno = EINVAL;
    return -1;
  }
  rusage value = {};
  if (who != RUSAGE_CHILDREN) {
    value.ru_utime = IntervalInMicroseconds(ReadClock(g_scheduler.current()) - kStartOfTimeNs);
  }
  Store(place, value, MC_CALLER_PC());
  return 0;
}

MC_SPIN_STUB(sched_yield, mc_entry_sched_yield);
MC_BEHIND_STUB int mc_entry_sched_yield() {
  if (!g_scheduler.program_running()) return Real().sched_yield();
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Yield(MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(pthread_yield, mc_entry_pthread_yield);
MC_BEHIND_STUB int mc_entry_pthread_yield() {
  if (!g_scheduler.program_running()) return Real().sched_yield();
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Yield(MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(nanosleep, mc_entry_nanosleep);
MC_BEHIND_STUB int mc_entry_nanosleep(const timespec* interval, timespec* remaining) {
  if (!g_scheduler.program_running()) return Real().nanosleep(interval, remaining);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (!IsValidTime(*interval) || interval->tv_sec < 0) {
    errno = EINVAL;
    return -1;
  }
  Sleep(IntervalOf(*interval), MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(clock_nanosleep, mc_entry_clock_nanosleep);
MC_BEHIND_STUB int mc_entry_clock_nanosleep(clockid_t clock, int flags, const timespec* time,
                                            timespec* remaining) {
  if (!g_scheduler.program_running()) return Real().clock_nanosleep(clock, flags, time, remaining);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (!IsValidTime(*time) || time->tv_sec < 0) return EINVAL;
  if ((flags & TIMER_ABSTIME) == 0) {
    Sleep(IntervalOf(*time), MC_CALLER_PC(), registers);
  } else {
    Yield(MC_CALLER_PC(), registers);
    RaiseClock(&g_scheduler.current().clock_ns, ClockAt(*time));
  }
  return 0;
}

MC_SPIN_STUB(usleep, mc_entry_usleep);
MC_BEHIND_STUB int mc_entry_usleep(useconds_t microseconds) {
  if (!g_scheduler.program_running()) return Real().usleep(microseconds);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Sleep(uint64_t{microseconds} * 1000, MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(sleep, mc_entry_sleep);
MC_BEHIND_STUB unsigned mc_entry_sleep(unsigned seconds) {
  if (!g_scheduler.program_running()) return Real().sleep(seconds);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  Sleep(seconds * kNanosecondsPerSecond, MC_CALLER_PC(), registers);
  return 0;
}
