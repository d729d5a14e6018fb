// What mc does not support says so, clearly, where the program asks for it.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "sched/interpose/hook.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"

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

// The signals that the program sends are not the kernel's (program_signals.h).
MC_HOOK int signalfd(int descriptor, const sigset_t* signals, int flags) noexcept {
  MC_REAL_OF(signalfd);
  if (!g_scheduler.program_running()) return real(descriptor, signals, flags);
  EngineScope scope;
  Unsupported("signalfd");
}
