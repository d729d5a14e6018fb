// Messages of the C library to the system's log and to standard error: what they read, and the
// settings that decide what becomes of them.
#include <err.h>
#include <errno.h>
#include <error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>

#include "sched/interpose/export.h"
#include "sched/interpose/format_access.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/stream_call.h"

using namespace mc::sched;  // NOLINT: the functions below are the C library's

// ---- The system's log: its settings are kept behind a lock

// clang-format off
#define MC_LOG(type, name, parameters, arguments, mode, ...)                                     \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, BeforeHidden(&g_system_log, pc), \
                      Hidden(&g_system_log, mode), __VA_ARGS__)
MC_LOG(void, openlog, (const char* name, int options, int facility), (name, options, facility),
       kReadWrite, Text(name))
MC_LOG(void, closelog, (), (), kReadWrite)
MC_LOG(int, setlogmask, (int mask), (mask), uint8_t{mask == 0 ? kRead : kReadWrite})
// clang-format on

namespace {

void Log(int priority, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::vsyslog) known;
  const auto real = Find(&known, "vsyslog");
  if (!g_program_running) return real(priority, format, arguments);
  ReadsFormatted(format, arguments, pc);
  BeforeHidden(&g_system_log, pc);
  const SystemCallPoint point(pc);
  real(priority, format, arguments);
  RecordTouched({Hidden(&g_system_log, kRead)}, pc);
}

}  // namespace

MC_EXPORT void vsyslog(int priority, const char* format, va_list arguments) {
  Log(priority, format, arguments, MC_CALLER_PC());
}
MC_EXPORT void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Log(priority, format, arguments, MC_CALLER_PC());
  va_end(arguments);
}

// ---- To standard error

namespace {

using Warn = void (*)(const char*, va_list);
void WarnOf(Warn real, const char* format, va_list arguments, uint64_t pc) {
  if (g_program_running && format != nullptr) ReadsFormatted(format, arguments, pc);
  const StreamCall call(stderr, pc);
  real(format, arguments);
}

#define MC_WITH_ARGUMENTS(statement) \
  va_list arguments;                 \
  va_start(arguments, format);       \
  statement;                         \
  va_end(arguments)

}  // namespace

#define MC_WARN(name, vname, exit_name, vexit_name)                              \
  MC_EXPORT void vname(const char* format, va_list arguments) {                  \
    MC_REAL_OF(vname);                                                           \
    WarnOf(real, format, arguments, MC_CALLER_PC());                             \
  }                                                                              \
  MC_EXPORT void name(const char* format, ...) {                                 \
    MC_REAL_OF(vname);                                                           \
    MC_WITH_ARGUMENTS(WarnOf(real, format, arguments, MC_CALLER_PC()));          \
  }                                                                              \
  MC_EXPORT void vexit_name(int status, const char* format, va_list arguments) { \
    MC_REAL_OF(vname);                                                           \
    WarnOf(real, format, arguments, MC_CALLER_PC());                             \
    exit(status);                                                                \
  }                                                                              \
  MC_EXPORT void exit_name(int status, const char* format, ...) {                \
    MC_REAL_OF(vname);                                                           \
    MC_WITH_ARGUMENTS(WarnOf(real, format, arguments, MC_CALLER_PC()));          \
    exit(status);                                                                \
  }
MC_WARN(warn, vwarn, err, verr)
MC_WARN(warnx, vwarnx, errx, verrx)

// It counts its messages in a variable that the program sees.
MC_EXPORT void error(int status, int number, const char* format, ...) {
  static decltype(&::error) known;
  static decltype(&::vsnprintf) known_print;
  const auto real = Find(&known, "error");
  const auto print = Find(&known_print, "vsnprintf");
  const uint64_t pc = MC_CALLER_PC();
  const int saved_errno = errno;
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  if (g_program_running) ReadsFormatted(format, arguments, pc);
  const int length = print(nullptr, 0, format, again);
  va_end(again);
  const size_t size = length < 0 ? 1 : static_cast<size_t>(length) + 1;
  auto* const text = static_cast<char*>(__builtin_alloca(size));
  text[0] = 0;
  print(text, size, format, arguments);
  va_end(arguments);
  {
    const StreamCall call(stderr, pc);
    errno = saved_errno;
    real(0, number, "%s", text);
    if (g_program_running) {
      RecordTouched({{&error_message_count, sizeof error_message_count, kReadWrite, kAtomic}}, pc);
    }
  }
  if (status != 0) exit(status);
}
