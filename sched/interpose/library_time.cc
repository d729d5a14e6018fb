// Functions of the C library on calendar times: what each touches (library_call.h). Those that keep
// their result are in hidden_state.cc, clocks in time.cc.
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

// Which zone it is is looked up there.
Touch Zone() { return In(&environ); }

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

MC_TOUCHES(tm*, localtime_r, (const time_t* time, tm* to), (time, to), In(time), Out(to))
MC_TOUCHES(tm*, gmtime_r, (const time_t* time, tm* to), (time, to), In(time), Out(to))
MC_TOUCHES(char*, asctime_r, (const tm* time, char* to), (time, to), In(time), OutText(result))
MC_TOUCHES(char*, ctime_r, (const time_t* time, char* to), (time, to), In(time), OutText(result))
MC_TOUCHES(time_t, mktime, (tm* time), (time), InOut(time), Zone())
MC_TOUCHES(time_t, timelocal, (tm* time), (time), InOut(time), Zone())
MC_TOUCHES(time_t, timegm, (tm* time), (time), InOut(time))
MC_TOUCHES(void, tzset, (), (), Zone())
MC_TOUCHES(size_t, strftime, (char* to, size_t size, const char* format, const tm* time),
           (to, size, format, time), Text(format), In(time), Zone(),
           Out(to, result == 0 ? 0 : result + 1))
MC_TOUCHES(size_t, strftime_l,
           (char* to, size_t size, const char* format, const tm* time, void* locale),
           (to, size, format, time, locale), Text(format), In(time), Zone(),
           Out(to, result == 0 ? 0 : result + 1))
MC_TOUCHES(size_t, wcsftime, (wchar_t* to, size_t size, const wchar_t* format, const tm* time),
           (to, size, format, time), Text(format), In(time), Zone(),
           Out(to, result == 0 ? 0 : (result + 1) * sizeof(wchar_t)))
MC_TOUCHES(char*, strptime, (const char* text, const char* format, tm* to), (text, format, to),
           result == nullptr ? Text(text) : In(text, static_cast<size_t>(result - text)),
           Text(format), Out(to))
MC_TOUCHES(int, clock_getres, (clockid_t clock, timespec* to), (clock, to), Out(to))
