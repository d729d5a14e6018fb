// poll, select and their relatives: which files are ready, one step as other calls by which threads
// tell of each other (system_call_point.h).
//
// Waiting for a while is being scheduled later, as with a timed semaphore wait: the call looks
// once, and if nothing is ready its time is over. Without files it is a sleep. Waiting for ever is
// refused if there is nothing to be had at once.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <optional>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

using namespace mc::sched;

namespace {

using Interval = std::optional<uint64_t>;  // nanoseconds; none: for ever

Interval Milliseconds(int time) {
  return time < 0 ? Interval() : Interval(static_cast<uint64_t>(time) * 1000000);
}
Interval Of(const timespec* time) { return time == nullptr ? Interval() : IntervalOf(*time); }
Interval Of(const timeval* time) {
  if (time == nullptr) return Interval();
  return IntervalOf({time->tv_sec, time->tv_usec * 1000});
}

// `before` and `look` look at once if there is an interval. The touched are those of a call that
// returns 0 or more, of which the result is given.
template <typename Before, typename Look, typename Touched>
int AskForFiles(Interval interval, uint64_t pc, const EntryRegisters& registers, Before before,
                Look look, Touched touched) {
  g_scheduler.WaitingPoint(pc, registers);
  BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  before();
  const int result = look();
  if (result == 0 && interval.has_value()) g_scheduler.current().clock_ns += *interval;
  touched(result);
  AfterOperation(kPpUnlock);
  return result;
}

int OnlySleep(Interval interval, const char* what, uint64_t pc, const EntryRegisters& registers) {
  if (!interval.has_value())
    Unsupported(std::string(what) + " without files and without a time-out");
  Sleep(*interval, pc, registers);
  return 0;
}

// What select reads and writes of a set.
Touch InOutSet(fd_set* set, int count) {
  return InOut(set, set == nullptr || count < 0 ? 0 : static_cast<size_t>(count + 63) / 64 * 8);
}

constexpr timespec kAtOnce = {};

}  // namespace

MC_SPIN_STUB(poll, mc_entry_poll);
MC_BEHIND_STUB int mc_entry_poll(pollfd* files, nfds_t count, int milliseconds) {
  if (!g_scheduler.program_running()) return Real().poll(files, count, milliseconds);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  const uint64_t pc = MC_CALLER_PC();
  const Interval interval = Milliseconds(milliseconds);
  if (count == 0) return OnlySleep(interval, "poll", pc, registers);
  const int time = interval.has_value() ? 0 : -1;
  return AskForFiles(
      interval, pc, registers, [&] { BeforeSystemCall(SYS_poll, files, count, time); },
      [&] { return Real().poll(files, count, time); },
      [&](int) { RecordTouchedInScope({InOut(files, count * sizeof *files)}, pc); });
}

MC_SPIN_STUB(ppoll, mc_entry_ppoll);
MC_BEHIND_STUB int mc_entry_ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                                  const sigset_t* mask) {
  if (!g_scheduler.program_running()) return Real().ppoll(files, count, timeout, mask);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  const uint64_t pc = MC_CALLER_PC();
  const Interval interval = Of(timeout);
  if (count == 0) return OnlySleep(interval, "ppoll", pc, registers);
  const timespec* const time = interval.has_value() ? &kAtOnce : nullptr;
  return AskForFiles(
      interval, pc, registers, [&] { BeforeSystemCall(SYS_ppoll, files, count, time); },
      [&] { return Real().ppoll(files, count, time, mask); },
      [&](int) {
        RecordTouchedInScope({InOut(files, count * sizeof *files), In(timeout), In(mask)}, pc);
      });
}

MC_SPIN_STUB(select, mc_entry_select);
MC_BEHIND_STUB int mc_entry_select(int count, fd_set* read, fd_set* write, fd_set* except,
                                   timeval* timeout) {
  if (!g_scheduler.program_running()) return Real().select(count, read, write, except, timeout);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  const uint64_t pc = MC_CALLER_PC();
  const Interval interval = Of(timeout);
  if (count == 0) return OnlySleep(interval, "select", pc, registers);
  timeval at_once = {};
  timeval* const time = interval.has_value() ? &at_once : nullptr;
  const int result = AskForFiles(
      interval, pc, registers,
      [&] { BeforeSystemCall(SYS_select, count, read, write, except, time); },
      [&] { return Real().select(count, read, write, except, time); },
      [&](int) {
        RecordTouchedInScope({InOutSet(read, count), InOutSet(write, count),
                              InOutSet(except, count), InOut(timeout)},
                             pc);
      });
  if (result == 0 && timeout != nullptr) *timeout = {};  // what is left of it
  return result;
}

MC_SPIN_STUB(pselect, mc_entry_pselect);
MC_BEHIND_STUB int mc_entry_pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                                    const timespec* timeout, const sigset_t* mask) {
  if (!g_scheduler.program_running()) {
    return Real().pselect(count, read, write, except, timeout, mask);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  const uint64_t pc = MC_CALLER_PC();
  const Interval interval = Of(timeout);
  if (count == 0) return OnlySleep(interval, "pselect", pc, registers);
  const timespec* const time = interval.has_value() ? &kAtOnce : nullptr;
  return AskForFiles(
      interval, pc, registers,
      [&] { BeforeSystemCall(SYS_pselect6, count, read, write, except, time); },
      [&] { return Real().pselect(count, read, write, except, time, mask); },
      [&](int) {
        RecordTouchedInScope({InOutSet(read, count), InOutSet(write, count),
                              InOutSet(except, count), In(timeout), In(mask)},
                             pc);
      });
}

namespace {

template <typename Look>
int WaitForEvents(int file, epoll_event* to, int most, int timeout, uint64_t pc,
                  const EntryRegisters& registers, Look look) {
  const Interval interval = Milliseconds(timeout);
  const int time = interval.has_value() ? 0 : -1;
  return AskForFiles(
      interval, pc, registers, [&] { BeforeSystemCall(SYS_epoll_wait, file, to, most, time); },
      [&] { return look(time); },
      [&](int count) {
        const int filled = std::max(std::min(count, most), 0);
        RecordTouchedInScope({Out(to, static_cast<size_t>(filled) * sizeof *to)}, pc);
      });
}

}  // namespace

MC_SPIN_STUB(epoll_wait, mc_entry_epoll_wait);
MC_BEHIND_STUB int mc_entry_epoll_wait(int file, epoll_event* to, int most, int timeout) {
  static decltype(&epoll_wait) known;
  const auto real = Find(&known, "epoll_wait");
  if (!g_scheduler.program_running()) return real(file, to, most, timeout);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return WaitForEvents(file, to, most, timeout, MC_CALLER_PC(), registers,
                       [&](int time) { return real(file, to, most, time); });
}

MC_SPIN_STUB(epoll_pwait, mc_entry_epoll_pwait);
MC_BEHIND_STUB int mc_entry_epoll_pwait(int file, epoll_event* to, int most, int timeout,
                                        const sigset_t* mask) {
  static decltype(&epoll_pwait) known;
  const auto real = Find(&known, "epoll_pwait");
  if (!g_scheduler.program_running()) return real(file, to, most, timeout, mask);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  return WaitForEvents(file, to, most, timeout, MC_CALLER_PC(), registers,
                       [&](int time) { return real(file, to, most, time, mask); });
}
