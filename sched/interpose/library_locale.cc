// Functions of the C library that depend on the locale or the time zone, and on nothing else that
// other threads could change (library_call.h); and those that make locales.
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
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

void TouchLoadedLocales(std::initializer_list<Touch> touched, uint64_t pc) {
  BeforeHidden(&g_loaded_locales, pc);
  RecordTouched({Hidden(&g_loaded_locales, kReadWrite)}, pc);
  RecordTouched(touched, pc);
}

// The names of locales that are not named themselves.
Touch Environment(const char* name) {
  return In(&environ, name != nullptr && *name == 0 ? sizeof environ : 0);
}

// How its characters are converted the library finds out when a locale is first used. Now, so that
// no thread does for others what only it is seen to do.
void LoadConversion(locale_t locale) {
  if (locale == nullptr) return;
  static size_t (*known)(wchar_t*, const char*, size_t, mbstate_t*);
  const locale_t before = uselocale(locale);
  wchar_t character;
  mbstate_t state{};
  Find(&known, "mbrtowc")(&character, "a", 1, &state);
  uselocale(before);
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

// What locales are made of is loaded once, its uses are counted, and it is kept: who comes later
// finds it there. What is loaded, and so allocated, depends on that: it is recorded first. The
// function gives back `result`; `made` is the locale that is new then, or null.
#define MC_LOADS_LOCALE(type, name, parameters, arguments, made, ...)                             \
  MC_EXPORT type mc_c_##name parameters noexcept __asm__(#name);                                  \
  MC_EXPORT type mc_c_##name parameters noexcept {                                                \
    static type(*known) parameters;                                                               \
    const auto real = Find(&known, #name);                                                        \
    if (g_program_running) TouchLoadedLocales({__VA_ARGS__}, MC_CALLER_PC());                     \
    const auto result = real arguments;                                                           \
    LoadConversion(made);                                                                         \
    return result;                                                                                \
  }
#define MC_LOCALE_OBJECTS(prefix)                                                                 \
  MC_LOADS_LOCALE(locale_t, prefix##newlocale, (int mask, const char* name, locale_t base),       \
                  (mask, name, base), result, Text(name), Environment(name))                      \
  MC_LOADS_LOCALE(locale_t, prefix##duplocale, (locale_t locale), (locale), result)               \
  MC_EXPORT void mc_c_##prefix##freelocale(locale_t) noexcept __asm__(#prefix "freelocale");      \
  MC_EXPORT void mc_c_##prefix##freelocale(locale_t locale) noexcept {                            \
    static void (*known)(locale_t);                                                               \
    const auto real = Find(&known, #prefix "freelocale");                                         \
    if (g_program_running) TouchLoadedLocales({}, MC_CALLER_PC());                                \
    real(locale);                                                                                 \
  }
MC_LOCALE_OBJECTS()
MC_LOCALE_OBJECTS(__)

MC_LOADS_LOCALE(char*, setlocale, (int category, const char* name), (category, name),
                name == nullptr || result == nullptr ? nullptr : LC_GLOBAL_LOCALE, Text(name),
                Environment(name), name == nullptr ? In(&g_locale_state) : Out(&g_locale_state))
