#include "sched/real_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "sched/thread_register.h"

namespace mc::sched {

bool CreateRealThread(void* stack, size_t size, void* (*function)(void*), void* argument) {
  // The new thread's own faults are none of the register's.
  g_thread_register.PointNow();
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, size);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // The thread inherits the signal mask: nothing may ever interrupt it, except faults, which the C
  // library's writes to protected pages of the snapshot raise.
  sigset_t all, old;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigprocmask(SIG_SETMASK, &all, &old);
  pthread_t ignored;
  const int error = create(&ignored, &attributes, function, argument);
  sigprocmask(SIG_SETMASK, &old, nullptr);
  pthread_attr_destroy(&attributes);
  errno = error;
  return error == 0;
}

}  // namespace mc::sched
