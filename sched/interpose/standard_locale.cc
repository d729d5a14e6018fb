#include "sched/interpose/standard_locale.h"

#include <sys/single_threaded.h>

#include "sched/interpose/real.h"

namespace mc::sched {

void CompleteClassicLocale() {
  // As long as there is only one thread, the library does not note that this was done.
  __libc_single_threaded = 0;
  const RealFunctions& real = Real();
  if (real.locale_classic == nullptr || real.use_facet_ctype == nullptr) return;
  const void* const ctype = real.use_facet_ctype(real.locale_classic());
  if (real.ctype_widen_init != nullptr) real.ctype_widen_init(ctype);
  if (real.ctype_narrow_init != nullptr) real.ctype_narrow_init(ctype);
}

}  // namespace mc::sched
