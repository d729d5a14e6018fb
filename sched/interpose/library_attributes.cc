// Attribute objects of threads and of what synchronises them, sets of signals, and what else is a
// plain value behind a function: what each touches (library_call.h).
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

#define MC_MAKE(name, type) MC_TOUCHES(int, name, (type* object), (object), Out(object))
#define MC_GET(name, type, value) \
  MC_TOUCHES(int, name, (const type* object, value* to), (object, to), In(object), Out(to))
#define MC_SET(name, type, value) \
  MC_TOUCHES(int, name, (type* object, value to), (object, to), InOut(object))

// ---- Attributes of threads

MC_MAKE(pthread_attr_init, pthread_attr_t)
MC_MAKE(pthread_attr_destroy, pthread_attr_t)
#define MC_THREAD_ATTRIBUTE(name, value)               \
  MC_GET(pthread_attr_get##name, pthread_attr_t, value) \
  MC_SET(pthread_attr_set##name, pthread_attr_t, value)
MC_THREAD_ATTRIBUTE(detachstate, int)
MC_THREAD_ATTRIBUTE(guardsize, size_t)
MC_THREAD_ATTRIBUTE(inheritsched, int)
MC_THREAD_ATTRIBUTE(schedpolicy, int)
MC_THREAD_ATTRIBUTE(scope, int)
MC_THREAD_ATTRIBUTE(stacksize, size_t)
MC_THREAD_ATTRIBUTE(stackaddr, void*)
MC_GET(pthread_attr_getschedparam, pthread_attr_t, sched_param)
MC_TOUCHES(int, pthread_attr_setschedparam, (pthread_attr_t* object, const sched_param* from),
           (object, from), InOut(object), In(from))
MC_TOUCHES(int, pthread_attr_getstack, (const pthread_attr_t* object, void** place, size_t* size),
           (object, place, size), In(object), Out(place), Out(size))
MC_TOUCHES(int, pthread_attr_setstack, (pthread_attr_t* object, void* place, size_t size),
           (object, place, size), InOut(object))
MC_TOUCHES(int, pthread_attr_getaffinity_np,
           (const pthread_attr_t* object, size_t size, cpu_set_t* to), (object, size, to),
           In(object), Out(to, size))
MC_TOUCHES(int, pthread_attr_setaffinity_np,
           (pthread_attr_t* object, size_t size, const cpu_set_t* from), (object, size, from),
           InOut(object), In(from, size))

// ---- Of locks and their kin

#define MC_KIND_OF_ATTRIBUTE(kind)                                 \
  MC_MAKE(pthread_##kind##attr_init, pthread_##kind##attr_t)       \
  MC_MAKE(pthread_##kind##attr_destroy, pthread_##kind##attr_t)    \
  MC_GET(pthread_##kind##attr_getpshared, pthread_##kind##attr_t, int) \
  MC_SET(pthread_##kind##attr_setpshared, pthread_##kind##attr_t, int)
MC_KIND_OF_ATTRIBUTE(mutex)
MC_KIND_OF_ATTRIBUTE(cond)
MC_KIND_OF_ATTRIBUTE(rwlock)
MC_KIND_OF_ATTRIBUTE(barrier)
MC_GET(pthread_mutexattr_gettype, pthread_mutexattr_t, int)
MC_SET(pthread_mutexattr_settype, pthread_mutexattr_t, int)
MC_GET(pthread_mutexattr_getrobust, pthread_mutexattr_t, int)
MC_SET(pthread_mutexattr_setrobust, pthread_mutexattr_t, int)
MC_GET(pthread_mutexattr_getprotocol, pthread_mutexattr_t, int)
MC_SET(pthread_mutexattr_setprotocol, pthread_mutexattr_t, int)
MC_GET(pthread_mutexattr_getprioceiling, pthread_mutexattr_t, int)
MC_SET(pthread_mutexattr_setprioceiling, pthread_mutexattr_t, int)
MC_GET(pthread_condattr_getclock, pthread_condattr_t, clockid_t)
MC_SET(pthread_condattr_setclock, pthread_condattr_t, clockid_t)
MC_GET(pthread_rwlockattr_getkind_np, pthread_rwlockattr_t, int)
MC_SET(pthread_rwlockattr_setkind_np, pthread_rwlockattr_t, int)

// ---- What is asked of a thread

MC_TOUCHES(int, pthread_getcpuclockid, (pthread_t thread, clockid_t* to), (thread, to), Out(to))
MC_TOUCHES(int, __sched_cpucount, (size_t size, const cpu_set_t* set), (size, set), In(set, size))

#define MC_THREAD_DEFAULT(name, parameters, arguments, mode, ...)                         \
  MC_LIBRARY_FUNCTION(int, name, parameters, arguments, BeforeHidden(&g_thread_defaults, pc), \
                      Hidden(&g_thread_defaults, mode), __VA_ARGS__)
MC_THREAD_DEFAULT(pthread_setattr_default_np, (const pthread_attr_t* from), (from), kReadWrite,
                  In(from))
MC_THREAD_DEFAULT(pthread_getattr_default_np, (pthread_attr_t* to), (to), kRead, Out(to))
MC_THREAD_DEFAULT(pthread_setconcurrency, (int level), (level), kReadWrite)
MC_THREAD_DEFAULT(pthread_getconcurrency, (), (), kRead)
MC_ASKS_KERNEL(int, prctl, (int option, void* text, long a, long b, long c), (option, text, a, b, c),
           option == PR_SET_NAME ? Text(static_cast<const char*>(text), 15) : In(text, 0),
           Out(text, option == PR_GET_NAME ? 16 : option == PR_GET_CHILD_SUBREAPER ? sizeof(int) : 0))

// ---- Sets of signals

MC_MAKE(sigemptyset, sigset_t)
MC_MAKE(sigfillset, sigset_t)
MC_SET(sigaddset, sigset_t, int)
MC_SET(sigdelset, sigset_t, int)
MC_TOUCHES(int, sigismember, (const sigset_t* set, int number), (set, number), In(set))
MC_TOUCHES(int, sigisemptyset, (const sigset_t* set), (set), In(set))
MC_TOUCHES(int, sigandset, (sigset_t* to, const sigset_t* a, const sigset_t* b), (to, a, b),
           Out(to), In(a), In(b))
MC_TOUCHES(int, sigorset, (sigset_t* to, const sigset_t* a, const sigset_t* b), (to, a, b), Out(to),
           In(a), In(b))
MC_ASKS_KERNEL(int, sigaltstack, (const stack_t* from, stack_t* old), (from, old), In(from),
           Out(old))
