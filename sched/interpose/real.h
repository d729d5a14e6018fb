// The functions of the C library (and a few of the C++ library) behind the interposed ones. Engine
// code and plain runs call these.
#ifndef MC_SCHED_INTERPOSE_REAL_H_
#define MC_SCHED_INTERPOSE_REAL_H_

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <locale>

namespace mc::sched {

// Those that headers declare: MC_REAL(name) has the type of ::name.
#define MC_REAL_FUNCTIONS(MC_REAL)                                                                                  \
  MC_REAL(pthread_mutex_init)                                                                                       \
  MC_REAL(pthread_mutex_destroy)                                                                                    \
  MC_REAL(pthread_mutex_lock)                                                                                       \
  MC_REAL(pthread_mutex_unlock)                                                                                     \
  MC_REAL(pthread_mutex_trylock)                                                                                    \
  MC_REAL(pthread_mutex_timedlock)                                                                                  \
  MC_REAL(pthread_mutex_clocklock)                                                                                  \
  MC_REAL(pthread_mutex_consistent)                                                                                 \
  MC_REAL(pthread_mutex_setprioceiling)                                                                             \
  MC_REAL(pthread_spin_init)                                                                                        \
  MC_REAL(pthread_spin_destroy)                                                                                     \
  MC_REAL(pthread_spin_lock) MC_REAL(pthread_spin_unlock) MC_REAL(pthread_spin_trylock) MC_REAL(                    \
      pthread_cond_init) MC_REAL(pthread_cond_destroy) MC_REAL(pthread_cond_signal) MC_REAL(pthread_cond_broadcast) \
      MC_REAL(pthread_cond_wait) MC_REAL(pthread_cond_timedwait) MC_REAL(pthread_cond_clockwait) MC_REAL(           \
          pthread_rwlock_init) MC_REAL(pthread_rwlock_destroy) MC_REAL(pthread_rwlock_rdlock)                       \
          MC_REAL(pthread_rwlock_wrlock) MC_REAL(pthread_rwlock_unlock) MC_REAL(pthread_rwlock_tryrdlock) MC_REAL(  \
              pthread_rwlock_trywrlock) MC_REAL(pthread_rwlock_timedrdlock) MC_REAL(pthread_rwlock_timedwrlock)     \
              MC_REAL(pthread_rwlock_clockrdlock) MC_REAL(pthread_rwlock_clockwrlock) MC_REAL(                      \
                  sem_init) MC_REAL(sem_destroy) MC_REAL(sem_wait) MC_REAL(sem_post) MC_REAL(sem_getvalue)          \
                  MC_REAL(sem_trywait) MC_REAL(sem_timedwait) MC_REAL(sem_clockwait) MC_REAL(                       \
                      sem_open) MC_REAL(pthread_barrier_init) MC_REAL(pthread_barrier_destroy)                      \
                      MC_REAL(pthread_barrier_wait) MC_REAL(pthread_create) MC_REAL(pthread_join) MC_REAL(          \
                          pthread_tryjoin_np) MC_REAL(pthread_timedjoin_np) MC_REAL(pthread_clockjoin_np)           \
                          MC_REAL(pthread_detach) MC_REAL(pthread_exit) MC_REAL(pthread_getattr_np) MC_REAL(        \
                              pthread_setname_np) MC_REAL(pthread_getname_np) MC_REAL(pthread_setaffinity_np)       \
                              MC_REAL(sched_setaffinity) MC_REAL(pthread_setschedparam) MC_REAL(                    \
                                  pthread_setschedprio) MC_REAL(pthread_kill) MC_REAL(pthread_cancel)               \
                                  MC_REAL(pthread_sigqueue) MC_REAL(gettid) MC_REAL(pthread_once) MC_REAL(          \
                                      pthread_key_create) MC_REAL(pthread_key_delete) MC_REAL(pthread_setspecific)  \
                                      MC_REAL(pthread_getspecific) MC_REAL(thrd_create) MC_REAL(                    \
                                          thrd_join) MC_REAL(thrd_detach) MC_REAL(thrd_exit)                        \
                                          MC_REAL(thrd_yield) MC_REAL(thrd_sleep) MC_REAL(mtx_init) MC_REAL(        \
                                              mtx_destroy) MC_REAL(mtx_lock) MC_REAL(mtx_unlock)                    \
                                              MC_REAL(mtx_trylock) MC_REAL(mtx_timedlock) MC_REAL(                  \
                                                  cnd_init) MC_REAL(cnd_destroy) MC_REAL(cnd_signal)                \
                                                  MC_REAL(cnd_broadcast) MC_REAL(cnd_wait) MC_REAL(                 \
                                                      cnd_timedwait) MC_REAL(call_once) MC_REAL(tss_create)         \
                                                      MC_REAL(tss_delete) MC_REAL(tss_set) MC_REAL(                 \
                                                          tss_get) MC_REAL(clock_gettime) MC_REAL(timespec_get)     \
                                                          MC_REAL(gettimeofday) MC_REAL(                            \
                                                              time) MC_REAL(clock) MC_REAL(sched_yield)             \
                                                              MC_REAL(nanosleep) MC_REAL(                           \
                                                                  clock_nanosleep) MC_REAL(usleep)                  \
                                                                  MC_REAL(sleep) MC_REAL(                           \
                                                                      poll) MC_REAL(ppoll)                          \
                                                                      MC_REAL(pselect) MC_REAL(                     \
                                                                          select) MC_REAL(timer_create)             \
                                                                          MC_REAL(syscall) MC_REAL(                 \
                                                                              rand) MC_REAL(random)                 \
                                                                              MC_REAL(srand) MC_REAL(               \
                                                                                  srandom)                          \
                                                                                                                    \
                                                                                  MC_REAL(getrandom) MC_REAL(       \
                                                                                      getentropy)                   \
                                                                                      MC_REAL(                      \
                                                                                          arc4random)               \
                                                                                          MC_REAL(                  \
                                                                                              arc4random_buf)       \
                                                                                              MC_REAL(              \
                                                                                                  arc4random_uniform)

// Those that not every compilation declares: MC_REAL(name, symbol, type).
#define MC_REAL_SYMBOLS(MC_REAL)                                                                   \
  MC_REAL(__pthread_register_cancel, "__pthread_register_cancel",                                  \
          void (*)(__pthread_unwind_buf_t*))                                                       \
  MC_REAL(__pthread_unregister_cancel, "__pthread_unregister_cancel",                              \
          void (*)(__pthread_unwind_buf_t*))                                                       \
  MC_REAL(__pthread_unwind_next, "__pthread_unwind_next", void (*)(__pthread_unwind_buf_t*))       \
  MC_REAL(__register_atfork, "__register_atfork",                                                  \
          int (*)(void (*)(), void (*)(), void (*)(), void*))                                      \
  MC_REAL(__cxa_thread_atexit, "__cxa_thread_atexit", int (*)(void (*)(void*), void*, void*))      \
  MC_REAL(__cxa_thread_atexit_impl, "__cxa_thread_atexit_impl",                                    \
          int (*)(void (*)(void*), void*, void*))                                                  \
  MC_REAL(__cxa_guard_acquire, "__cxa_guard_acquire", int (*)(uint64_t*))                          \
  MC_REAL(__cxa_guard_release, "__cxa_guard_release", void (*)(uint64_t*))                         \
  MC_REAL(__cxa_guard_abort, "__cxa_guard_abort", void (*)(uint64_t*))                             \
  MC_REAL(__cxa_end_catch, "__cxa_end_catch", void (*)())                                          \
  MC_REAL(exception_ptr_addref, "_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv",               \
          void (*)(void**))                                                                        \
  MC_REAL(exception_ptr_release, "_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv",            \
          void (*)(void**))                                                                        \
  MC_REAL(rehash_policy_need_rehash, "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm",  \
          NeedRehash (*)(const void*, size_t, size_t, size_t))                                     \
  MC_REAL(rehash_policy_next_buckets, "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm",      \
          size_t (*)(const void*, size_t))                                                         \
  MC_REAL(hash_bytes, "_ZSt11_Hash_bytesPKvmm", size_t (*)(const void*, size_t, size_t))           \
  MC_REAL(fnv_hash_bytes, "_ZSt15_Fnv_hash_bytesPKvmm", size_t (*)(const void*, size_t, size_t))   \
  MC_REAL(locale_classic, "_ZNSt6locale7classicEv", const void* (*)())                             \
  MC_REAL(use_facet_ctype, "_ZSt9use_facetISt5ctypeIcEERKT_RKSt6locale",                           \
          const void* (*)(const void*))                                                            \
  MC_REAL(ctype_widen_init, "_ZNKSt5ctypeIcE13_M_widen_initEv", void (*)(const void*))             \
  MC_REAL(ctype_narrow_init, "_ZNKSt5ctypeIcE14_M_narrow_initEv", void (*)(const void*))           \
  MC_REAL(ostream_sentry, "_ZNSo6sentryC1ERSo", void (*)(void*, void*))                            \
  MC_REAL(wostream_sentry, "_ZNSt13basic_ostreamIwSt11char_traitsIwEE6sentryC1ERS2_",              \
          void (*)(void*, void*))                                                                  \
  MC_REAL(istream_sentry, "_ZNSi6sentryC1ERSib", void (*)(void*, void*, bool))                     \
  MC_REAL(wistream_sentry, "_ZNSt13basic_istreamIwSt11char_traitsIwEE6sentryC1ERS2_b",             \
          void (*)(void*, void*, bool))                                                            \
  MC_REAL(pool_allocate, "_ZNSt3pmr28unsynchronized_pool_resource11do_allocateEmm",                \
          void* (*)(void*, size_t, size_t))                                                        \
  MC_REAL(pool_deallocate, "_ZNSt3pmr28unsynchronized_pool_resource13do_deallocateEPvmm",          \
          void (*)(void*, void*, size_t, size_t))                                                  \
  MC_REAL(pool_release, "_ZNSt3pmr28unsynchronized_pool_resource7releaseEv", void (*)(void*))      \
  MC_REAL(monotonic_new_buffer, "_ZNSt3pmr25monotonic_buffer_resource13_M_new_bufferEmm",          \
          void (*)(void*, size_t, size_t))                                                         \
  MC_REAL(monotonic_release_buffers, "_ZNSt3pmr25monotonic_buffer_resource18_M_release_buffersEv", \
          void (*)(void*))                                                                         \
  MC_REAL(thread_join, "_ZNSt6thread4joinEv", void (*)(void*))                                     \
  MC_REAL(thread_detach, "_ZNSt6thread6detachEv", void (*)(void*))                                 \
  MC_REAL(condition_variable_construct, "_ZNSt18condition_variableC1Ev", void (*)(void*))          \
  MC_REAL(locale_copy, "_ZNSt6localeC1ERKS_", void (*)(std::locale*, const std::locale*))          \
  MC_REAL(locale_destroy, "_ZNSt6localeD1Ev", void (*)(std::locale*))                              \
  MC_REAL(locale_assign, "_ZNSt6localeaSERKS_",                                                    \
          const std::locale* (*)(std::locale*, const std::locale*))                                \
  MC_REAL(random_device_getval, "_ZNSt13random_device9_M_getvalEv", unsigned (*)(void*))           \
  MC_REAL(random_device_getval_pretr1, "_ZNSt13random_device16_M_getval_pretr1Ev",                 \
          unsigned (*)(void*))                                                                     \
  MC_REAL(random_device_init,                                                                      \
          "_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",   \
          void (*)(void*, const void*))                                                            \
  MC_REAL(random_device_init_pretr1,                                                               \
          "_ZNSt13random_device14_M_init_pretr1ERKNSt7__cxx1112basic_string"                       \
          "IcSt11char_traitsIcESaIcEEE",                                                           \
          void (*)(void*, const void*))

// A std::pair<bool, std::size_t>.
struct NeedRehash {
  bool needed;
  size_t buckets;
};

// One function pointer per name. A function that this C library does not have is null.
struct RealFunctions {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define MC_DECLARE(name) decltype(&::name) name;
#define MC_DECLARE_SYMBOL(name, symbol, type) \
  using name##_type = type;                   \
  name##_type name;
  MC_REAL_FUNCTIONS(MC_DECLARE)
  MC_REAL_SYMBOLS(MC_DECLARE_SYMBOL)
#undef MC_DECLARE
#undef MC_DECLARE_SYMBOL
#pragma GCC diagnostic pop
};

// Found at the first call. May be called at any time, also before constructors have run.
const RealFunctions& Real();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_REAL_H_
