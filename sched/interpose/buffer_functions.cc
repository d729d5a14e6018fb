// Functions of the C library that read or write a buffer of the program from inside: what they
// touch is recorded, as for memcpy (memory_functions.cc).
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/format_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call_point.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

// Sends `size` bytes; `number` is that of the system call, whose first three arguments are the
// same.
template <typename Function, typename... Arguments>
ssize_t Send(Function real, long number, int descriptor, const void* place, size_t size,
             uint64_t pc, Arguments... arguments) {
  if (!g_program_running) return real(descriptor, place, size, arguments...);
  Reads(place, size, pc);
  const bool is_output = descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO;
  const SystemCallPoint point(pc, !is_output);
  EngineScope scope;
  BeforeSystemCall(number, descriptor, place, size, arguments...);
  return real(descriptor, place, size, arguments...);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

MC_EXPORT ssize_t write(int descriptor, const void* place, size_t size) {
  MC_REAL_OF(write);
  return Send(real, SYS_write, descriptor, place, size, MC_CALLER_PC());
}
MC_EXPORT ssize_t pwrite(int descriptor, const void* place, size_t size, off_t offset) {
  MC_REAL_OF(pwrite);
  return Send(real, SYS_pwrite64, descriptor, place, size, MC_CALLER_PC(), offset);
}
MC_EXPORT ssize_t pwrite64(int descriptor, const void* place, size_t size, off64_t offset) {
  MC_REAL_OF(pwrite64);
  return Send(real, SYS_pwrite64, descriptor, place, size, MC_CALLER_PC(), offset);
}
MC_EXPORT ssize_t send(int descriptor, const void* place, size_t size, int flags) {
  MC_REAL_OF(send);
  return Send(real, SYS_sendto, descriptor, place, size, MC_CALLER_PC(), flags);
}
MC_EXPORT ssize_t sendto(int descriptor, const void* place, size_t size, int flags,
                         const sockaddr* address, socklen_t address_size) {
  MC_REAL_OF(sendto);
  return Send(real, SYS_sendto, descriptor, place, size, MC_CALLER_PC(), flags, address,
              address_size);
}

MC_EXPORT int vsnprintf(char* place, size_t size, const char* format, va_list arguments) noexcept {
  MC_REAL_OF(vsnprintf);
  const uint64_t pc = MC_CALLER_PC();
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, size, pc);
  const int length = real(place, size, format, arguments);
  if (length >= 0) HasWritten(place, std::min(size, static_cast<size_t>(length) + 1), pc);
  return length;
}
MC_EXPORT int snprintf(char* place, size_t size, const char* format, ...) noexcept {
  static decltype(&::vsnprintf) known;
  const auto real = Find(&known, "vsnprintf");
  const uint64_t pc = MC_CALLER_PC();
  va_list arguments;
  va_start(arguments, format);
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, size, pc);
  const int length = real(place, size, format, arguments);
  va_end(arguments);
  if (length >= 0) HasWritten(place, std::min(size, static_cast<size_t>(length) + 1), pc);
  return length;
}
MC_EXPORT int sprintf(char* place, const char* format, ...) noexcept {
  static decltype(&::vsprintf) known;
  const auto real = Find(&known, "vsprintf");
  const uint64_t pc = MC_CALLER_PC();
  va_list arguments;
  va_start(arguments, format);
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, 1, pc);
  const int length = real(place, format, arguments);
  va_end(arguments);
  if (length >= 0) HasWritten(place, static_cast<size_t>(length) + 1, pc);
  return length;
}

MC_EXPORT void qsort(void* place, size_t count, size_t size,
                     int (*compare)(const void*, const void*)) {
  MC_REAL_OF(qsort);
  if (count > 1) {
    Reads(place, count * size, MC_CALLER_PC());
    Writes(place, count * size, MC_CALLER_PC());
  }
  real(place, count, size, compare);
}

MC_EXPORT char* strdup(const char* text) noexcept {
  MC_REAL_OF(strdup);
  ReadsString(text, MC_CALLER_PC());
  return real(text);
}
MC_EXPORT int strcasecmp(const char* a, const char* b) noexcept {
  MC_REAL_OF(strcasecmp);
  ReadsString(a, MC_CALLER_PC());
  ReadsString(b, MC_CALLER_PC());
  return real(a, b);
}
