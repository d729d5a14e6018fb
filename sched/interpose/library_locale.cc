// Functions of the C library that depend on the locale or the time zone, and on nothing else that
// other threads could change (library_call.h).
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wctype.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"
#include "sched/start.h"

namespace mc::sched {
namespace {

uint64_t g_zone_at_start = 0;

// Of the environment's TZ.
uint64_t HashOfZone() {
  uint64_t hash = 14695981039346656037u;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const volatile char* at = *entry;  // not the C library's functions, which are recorded
    if (at[0] != 'T' || at[1] != 'Z' || at[2] != '=') continue;
    for (at += 3; *at != 0; ++at) {
      hash = (hash ^ static_cast<unsigned char>(*at)) * 1099511628211u;
    }
    return hash;
  }
  return 0;
}

}  // namespace

void NoteZoneAtStart() { g_zone_at_start = HashOfZone(); }

Touch Locale() {
  const bool is_global = uselocale(nullptr) == LC_GLOBAL_LOCALE;
  return In(&g_locale_state, is_global ? 1 : 0);
}

void BeforeHidden(const char* variable, uint64_t pc) {
  EngineScope scope;
  g_scheduler.BeforeAccess(reinterpret_cast<uintptr_t>(variable), 1, kReadWrite, kAtomic, pc);
}
Touch LookedUpZone(uint64_t pc) {
  const uint64_t difference = HashOfZone() ^ g_zone_at_start;
  if (!g_scheduler.ChangeZone(difference)) return Hidden(&g_zone_state, kRead);
  // Whoever looks it up next has a lock in between: before and after.
  const Touch zone = Hidden(&g_zone_state, kReadWrite);
  RecordTouched({zone, Out(&timezone), Out(&daylight), Out(tzname, sizeof tzname)}, pc);
  return zone;
}

}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

MC_TOUCHES(size_t, __ctype_get_mb_cur_max, (), (), Locale())
MC_TOUCHES(char*, nl_langinfo, (nl_item item), (item), Locale())

#define MC_WIDE_CLASS(name) MC_TOUCHES(int, name, (wint_t character), (character), Locale())
MC_WIDE_CLASS(iswalnum)
MC_WIDE_CLASS(iswalpha)
MC_WIDE_CLASS(iswblank)
MC_WIDE_CLASS(iswcntrl)
MC_WIDE_CLASS(iswdigit)
MC_WIDE_CLASS(iswgraph)
MC_WIDE_CLASS(iswlower)
MC_WIDE_CLASS(iswprint)
MC_WIDE_CLASS(iswpunct)
MC_WIDE_CLASS(iswspace)
MC_WIDE_CLASS(iswupper)
MC_WIDE_CLASS(iswxdigit)
MC_TOUCHES(wint_t, towlower, (wint_t character), (character), Locale())
MC_TOUCHES(wint_t, towupper, (wint_t character), (character), Locale())
MC_TOUCHES(int, iswctype, (wint_t character, wctype_t kind), (character, kind), Locale())
MC_TOUCHES(wctype_t, wctype, (const char* name), (name), Text(name), Locale())
MC_TOUCHES(wctrans_t, wctrans, (const char* name), (name), Text(name), Locale())
