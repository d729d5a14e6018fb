// Functions of the C library on calendar times: what each touches (library_call.h). Those that keep
// their result are in hidden_state.cc, clocks in time.cc.
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

#define MC_ZONE(type, name, parameters, arguments, ...) \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, BeforeHidden(&g_zone_state, pc), __VA_ARGS__)

MC_ZONE(tm*, localtime_r, (const time_t* time, tm* to), (time, to), In(time), Out(to), KnownZone())
MC_TOUCHES(tm*, gmtime_r, (const time_t* time, tm* to), (time, to), In(time), Out(to))
MC_TOUCHES(char*, asctime_r, (const tm* time, char* to), (time, to), In(time), OutText(result))
MC_ZONE(char*, ctime_r, (const time_t* time, char* to), (time, to), In(time), OutText(result), KnownZone())
MC_ZONE(time_t, mktime, (tm* time), (time), InOut(time), In(&environ), LookedUpZone(pc))
MC_ZONE(time_t, timelocal, (tm* time), (time), InOut(time), In(&environ), LookedUpZone(pc))
MC_TOUCHES(time_t, timegm, (tm* time), (time), InOut(time))
MC_ZONE(void, tzset, (), (), In(&environ), LookedUpZone(pc))
MC_ZONE(size_t, strftime, (char* to, size_t size, const char* format, const tm* time),
           (to, size, format, time), Text(format), In(time),
           Out(to, result == 0 ? 0 : result + 1), In(&environ), LookedUpZone(pc), Locale())
MC_ZONE(size_t, strftime_l,
           (char* to, size_t size, const char* format, const tm* time, void* locale),
           (to, size, format, time, locale), Text(format), In(time),
           Out(to, result == 0 ? 0 : result + 1), In(&environ), LookedUpZone(pc))
MC_ZONE(size_t, wcsftime, (wchar_t* to, size_t size, const wchar_t* format, const tm* time),
           (to, size, format, time), Text(format), In(time),
           Out(to, result == 0 ? 0 : (result + 1) * sizeof(wchar_t)), In(&environ), LookedUpZone(pc), Locale())
MC_ZONE(size_t, wcsftime_l,
           (wchar_t* to, size_t size, const wchar_t* format, const tm* time, void* locale),
           (to, size, format, time, locale), Text(format), In(time),
           Out(to, result == 0 ? 0 : (result + 1) * sizeof(wchar_t)), In(&environ), LookedUpZone(pc))
MC_ZONE(tm*, getdate, (const char* text), (text), Text(text), Out(result),
           Out(&getdate_err, result == nullptr ? sizeof getdate_err : 0), In(&environ),
           LookedUpZone(pc))
MC_TOUCHES(char*, strptime_l, (const char* text, const char* format, tm* to, void* locale),
           (text, format, to, locale),
           result == nullptr ? Text(text) : In(text, static_cast<size_t>(result - text)),
           Text(format), Out(to))
MC_TOUCHES(char*, strptime, (const char* text, const char* format, tm* to), (text, format, to),
           result == nullptr ? Text(text) : In(text, static_cast<size_t>(result - text)),
           Text(format), Out(to))
MC_TOUCHES(int, clock_getres, (clockid_t clock, timespec* to), (clock, to), Out(to))
