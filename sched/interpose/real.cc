#include "sched/interpose/real.h"

#include <dlfcn.h>
#include <string.h>

namespace mc::sched {

namespace {

RealFunctions g_real;
bool g_resolved = false;

// Condition variables have two versions on x86-64; without a name dlsym finds the old one.
void* FindNext(const char* name) {
  if (strncmp(name, "pthread_cond_", 13) == 0) {
    if (void* found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2")) return found;
  }
  return dlsym(RTLD_NEXT, name);
}

template <class Function>
void Resolve(Function* function, const char* name) {
  *function = reinterpret_cast<Function>(FindNext(name));
}

// Threads that come here at once find the same values.
void ResolveAll() {
#define MC_RESOLVE(name) Resolve(&g_real.name, #name);
#define MC_RESOLVE_SYMBOL(name, symbol, type) Resolve(&g_real.name, symbol);
  MC_REAL_FUNCTIONS(MC_RESOLVE)
  MC_REAL_SYMBOLS(MC_RESOLVE_SYMBOL)
#undef MC_RESOLVE
#undef MC_RESOLVE_SYMBOL
  __atomic_store_n(&g_resolved, true, __ATOMIC_RELEASE);
}

}  // namespace

const RealFunctions& Real() {
  if (!__atomic_load_n(&g_resolved, __ATOMIC_ACQUIRE)) [[unlikely]]
    ResolveAll();
  return g_real;
}

}  // namespace mc::sched
