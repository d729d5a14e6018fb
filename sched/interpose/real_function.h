// The C library's function behind an interposed one, looked up at the first call.
#ifndef MC_SCHED_INTERPOSE_REAL_FUNCTION_H_
#define MC_SCHED_INTERPOSE_REAL_FUNCTION_H_

#include <dlfcn.h>

namespace mc::sched {

// Not thread-safe, nor need it be: whoever comes second finds the same.
template <typename Function>
Function Find(Function* known, const char* name) {
  if (*known == nullptr) *known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return *known;
}

}  // namespace mc::sched

// Declares `real`, of the type of ::name.
#define MC_REAL_OF(name)                \
  static decltype(&::name) known##name; \
  const auto real = mc::sched::Find(&known##name, #name)

#endif  // MC_SCHED_INTERPOSE_REAL_FUNCTION_H_
