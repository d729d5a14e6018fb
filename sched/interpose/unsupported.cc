// What mc does not support says so, clearly, where the program asks for it; and what looks at files
// only to wait is a sleep.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

using namespace mc::sched;

MC_HOOK int pthread_cancel(pthread_t handle) {
  if (!g_scheduler.program_running()) return Real().pthread_cancel(handle);
  EngineScope scope;
  Unsupported("pthread_cancel");
}

// Named semaphores are shared with other processes, and would keep their value between executions.
MC_HOOK sem_t* sem_open(const char* name, int flags, ...) {
  if (g_scheduler.program_running()) {
    EngineScope scope;
    Unsupported("sem_open (a named semaphore)");
  }
  __builtin_va_list arguments;
  __builtin_va_start(arguments, flags);
  const unsigned mode = __builtin_va_arg(arguments, unsigned);
  const unsigned value = __builtin_va_arg(arguments, unsigned);
  __builtin_va_end(arguments);
  return Real().sem_open(name, flags, mode, value);
}

MC_HOOK int timer_create(clockid_t clock, sigevent* event, timer_t* timer) {
  if (!g_scheduler.program_running()) return Real().timer_create(clock, event, timer);
  EngineScope scope;
  Unsupported("timer_create");
}

namespace {

// Which files are ready: one step, as other calls by which threads tell of each other
// (system_call_point.h).
template <typename Before, typename Call>
int AskForFiles(uint64_t pc, Before before, Call call, std::initializer_list<Touch> touched) {
  BeforeOperation(kPpLock, pc, OperationDetail::kSystemCall);
  before();
  const int result = call();
  RecordTouchedInScope(touched, pc);
  AfterOperation(kPpUnlock);
  return result;
}

}  // namespace

MC_SPIN_STUB(poll, mc_entry_poll);
MC_BEHIND_STUB int mc_entry_poll(pollfd* files, nfds_t count, int milliseconds) {
  if (!g_scheduler.program_running()) return Real().poll(files, count, milliseconds);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (count != 0) {
    return AskForFiles(
        MC_CALLER_PC(), [&] { BeforeSystemCall(SYS_poll, files, count, milliseconds); },
        [&] { return Real().poll(files, count, milliseconds); },
        {InOut(files, count * sizeof *files)});
  }
  if (milliseconds < 0) Unsupported("poll without files and without a time-out");
  Sleep(static_cast<uint64_t>(milliseconds) * 1000000, MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(select, mc_entry_select);
MC_BEHIND_STUB int mc_entry_select(int count, fd_set* read, fd_set* write, fd_set* except,
                                   timeval* timeout) {
  if (!g_scheduler.program_running()) return Real().select(count, read, write, except, timeout);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (count != 0) {
    return AskForFiles(
        MC_CALLER_PC(), [&] { BeforeSystemCall(SYS_select, count, read, write, except, timeout); },
        [&] { return Real().select(count, read, write, except, timeout); },
        {InOut(read), InOut(write), InOut(except), InOut(timeout)});
  }
  if (timeout == nullptr) {
    Unsupported("select without files and without a time-out");
  }
  timespec interval;
  interval.tv_sec = timeout->tv_sec;
  interval.tv_nsec = timeout->tv_usec * 1000;
  Sleep(IntervalOf(interval), MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(ppoll, mc_entry_ppoll);
MC_BEHIND_STUB int mc_entry_ppoll(pollfd* files, nfds_t count, const timespec* timeout,
                                  const sigset_t* mask) {
  if (!g_scheduler.program_running()) return Real().ppoll(files, count, timeout, mask);
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (count != 0) {
    return AskForFiles(
        MC_CALLER_PC(), [&] { BeforeSystemCall(SYS_ppoll, files, count, timeout, mask); },
        [&] { return Real().ppoll(files, count, timeout, mask); },
        {InOut(files, count * sizeof *files), In(timeout), In(mask)});
  }
  if (timeout == nullptr) Unsupported("ppoll without files and without a time-out");
  Sleep(IntervalOf(*timeout), MC_CALLER_PC(), registers);
  return 0;
}

MC_SPIN_STUB(pselect, mc_entry_pselect);
MC_BEHIND_STUB int mc_entry_pselect(int count, fd_set* read, fd_set* write, fd_set* except,
                                    const timespec* timeout, const sigset_t* mask) {
  if (!g_scheduler.program_running()) {
    return Real().pselect(count, read, write, except, timeout, mask);
  }
  EngineScope scope;
  const EntryRegisters registers = g_entry_registers;
  if (count != 0) {
    return AskForFiles(
        MC_CALLER_PC(),
        [&] { BeforeSystemCall(SYS_pselect6, count, read, write, except, timeout); },
        [&] { return Real().pselect(count, read, write, except, timeout, mask); },
        {InOut(read), InOut(write), InOut(except), In(timeout), In(mask)});
  }
  if (timeout == nullptr) Unsupported("pselect without files and without a time-out");
  Sleep(IntervalOf(*timeout), MC_CALLER_PC(), registers);
  return 0;
}
