// syscall(): the system calls that are part of the model. Everything else goes to the system.
#include "sched/interpose/system_call.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/program_signals.h"
#include "sched/interpose/real.h"
#include "sched/interpose/spin_stub.h"
#include "sched/interpose/virtual_time.h"

using namespace mc::sched;

// syscall() is variadic: its seventh argument, if there is one, lies on the stack, where the
// compiler looks for that of a function with seven parameters.
MC_SPIN_STUB_WITH_STACK(syscall, mc_entry_syscall);
MC_BEHIND_STUB long mc_entry_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (!g_scheduler.program_running()) return Real().syscall(number, a, b, c, d, e, f);
  const uint64_t pc = MC_CALLER_PC();
  switch (number) {
    case SYS_futex: {
      EngineScope scope;
      const EntryRegisters registers = g_entry_registers;
      const int command = static_cast<int>(b) & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
      const bool has_mask = command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET;
      const bool waits = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
      return DoFutex(reinterpret_cast<uint32_t*>(a), static_cast<int>(b), static_cast<uint32_t>(c),
                     waits ? reinterpret_cast<const timespec*>(d) : nullptr,
                     has_mask ? static_cast<uint32_t>(f) : FUTEX_BITSET_MATCH_ANY, pc, registers);
    }
    case SYS_sched_yield: {
      EngineScope scope;
      const EntryRegisters registers = g_entry_registers;
      Yield(pc, registers);
      return 0;
    }
    case SYS_gettid:
      return gettid();
    case SYS_getrandom: {
      Writes(reinterpret_cast<void*>(a), static_cast<size_t>(b), pc);
      EngineScope scope;
      FillRandom(reinterpret_cast<void*>(a), static_cast<size_t>(b));
      return b;
    }
    // On virtual time, as the functions of these names.
    case SYS_clock_gettime:
      return clock_gettime(static_cast<clockid_t>(a), reinterpret_cast<timespec*>(b));
    case SYS_gettimeofday:
      return gettimeofday(reinterpret_cast<timeval*>(a), nullptr);
    case SYS_time:
      return time(reinterpret_cast<time_t*>(a));
    case SYS_times:
      return times(reinterpret_cast<tms*>(a));
    case SYS_getrusage:
      return getrusage(static_cast<int>(a), reinterpret_cast<rusage*>(b));
    case SYS_exit_group:
      _exit(static_cast<int>(a));
    case SYS_mmap:
      return reinterpret_cast<long>(mmap(reinterpret_cast<void*>(a), static_cast<size_t>(b),
                                         static_cast<int>(c), static_cast<int>(d),
                                         static_cast<int>(e), f));
    case SYS_munmap:
      return munmap(reinterpret_cast<void*>(a), static_cast<size_t>(b));
    default: {
      if (IsSignalCall(number)) return SignalCall(number, pc, a, b, c, d);
      {
        EngineScope scope;
        if (const char* const what = RefusedSystemCall(number)) Unsupported(what);
        BeforeSystemCall(number, a, b, c, d, e, f);
      }
      return Real().syscall(number, a, b, c, d, e, f);  // seen by kernel_boundary.h too
    }
  }
}
