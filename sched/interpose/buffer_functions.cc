// Functions of the C library that read or write a buffer of the program from inside: what they
// touch is recorded, as for memcpy (memory_functions.cc).
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/program_signals.h"
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
  ssize_t result;
  {
    const SystemCallPoint point(pc, !is_output);
    EngineScope scope;
    BeforeSystemCall(number, descriptor, place, size, arguments...);
    result = real(descriptor, place, size, arguments...);
  }
  if (result >= 0) return result;
  EngineScope scope;
  const int error = errno;
  TakeSignals(pc);  // SIGPIPE
  errno = error;
  return result;
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

// Elements are read and written from the first comparison, in which other threads may run, to the
// last: both ends count.
MC_EXPORT void qsort(void* place, size_t count, size_t size,
                     int (*compare)(const void*, const void*)) {
  MC_REAL_OF(qsort);
  const uint64_t pc = MC_CALLER_PC();
  const size_t bytes = count > 1 ? count * size : 0;
  ReadsAndWrites(place, bytes, pc);
  real(place, count, size, compare);
  if (g_program_running) RecordTouched({InOut(place, bytes)}, pc);
}
MC_EXPORT void qsort_r(void* place, size_t count, size_t size,
                       int (*compare)(const void*, const void*, void*), void* argument) {
  MC_REAL_OF(qsort_r);
  const uint64_t pc = MC_CALLER_PC();
  const size_t bytes = count > 1 ? count * size : 0;
  ReadsAndWrites(place, bytes, pc);
  real(place, count, size, compare, argument);
  if (g_program_running) RecordTouched({InOut(place, bytes)}, pc);
}
