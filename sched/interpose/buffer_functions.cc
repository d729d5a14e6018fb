// Functions of the C library that read or write a buffer of the program from inside: what they
// touch is recorded, as for memcpy (memory_functions.cc).
#include <dlfcn.h>
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

#include "sched/interpose/export.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/kernel_arguments.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

void Touch(const void* place, size_t size, uint8_t mode, uint64_t pc) {
  if (!g_program_running || place == nullptr || size == 0) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(place), size, mode, 0, pc);
}
void Reads(const void* place, size_t size, uint64_t pc) { Touch(place, size, kRead, pc); }
void Writes(const void* place, size_t size, uint64_t pc) { Touch(place, size, kWrite, pc); }

// For functions that tell only afterwards how much they have written: the place is looked at
// before, the extent recorded after.
void WillWrite(const void* place, size_t size, uint64_t pc) {
  if (!g_program_running || place == nullptr || size == 0) return;
  EngineScope scope;
  g_scheduler.BeforeAccess(reinterpret_cast<uintptr_t>(place), 1, kWrite, 0, pc);
  OpenForKernel(place, size);
}
void HasWritten(const void* place, size_t size, uint64_t pc) {
  if (!g_program_running || place == nullptr || size == 0) return;
  EngineScope scope;
  const auto address = reinterpret_cast<uintptr_t>(place);
  g_scheduler.CheckAlive(address, size, kWrite, pc);
  g_scheduler.RecordMemory(address, size, kWrite, 0, pc, MemoryOrder::kRelaxed);
}

// The C library's own length: the hook would record.
size_t LengthOf(const char* text) {
  const volatile char* at = text;
  size_t length = 0;
  while (at[length] != 0) ++length;
  return length;
}
void ReadsString(const char* text, uint64_t pc) {
  if (g_program_running && text != nullptr) Reads(text, LengthOf(text) + 1, pc);
}

// Looked up once. Not thread-safe, nor need it be: whoever comes second finds the same.
template <typename Function>
Function Find(Function* known, const char* name) {
  if (*known == nullptr) *known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return *known;
}

// Sends `size` bytes; `number` is that of the system call, whose first three arguments are the
// same.
template <typename Function, typename... Arguments>
ssize_t Send(Function real, long number, int descriptor, const void* place, size_t size,
             uint64_t pc, Arguments... arguments) {
  if (!g_program_running) return real(descriptor, place, size, arguments...);
  Reads(place, size, pc);
  EngineScope scope;
  BeforeSystemCall(number, descriptor, place, size, arguments...);
  return real(descriptor, place, size, arguments...);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

#define MC_REAL_OF(name)                \
  static decltype(&::name) known##name; \
  const auto real = Find(&known##name, #name)

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

MC_EXPORT size_t fwrite(const void* place, size_t size, size_t count, FILE* file) {
  MC_REAL_OF(fwrite);
  Reads(place, size * count, MC_CALLER_PC());
  return real(place, size, count, file);
}
MC_EXPORT int fputs(const char* text, FILE* file) {
  MC_REAL_OF(fputs);
  ReadsString(text, MC_CALLER_PC());
  return real(text, file);
}
MC_EXPORT int puts(const char* text) {
  MC_REAL_OF(puts);
  ReadsString(text, MC_CALLER_PC());
  return real(text);
}
MC_EXPORT size_t fread(void* place, size_t size, size_t count, FILE* file) {
  MC_REAL_OF(fread);
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, size * count, pc);
  const size_t result = real(place, size, count, file);
  HasWritten(place, size * result, pc);
  return result;
}
MC_EXPORT char* fgets(char* place, int size, FILE* file) {
  MC_REAL_OF(fgets);
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, static_cast<size_t>(std::max(size, 0)), pc);
  char* const result = real(place, size, file);
  if (result != nullptr && g_program_running) HasWritten(place, LengthOf(place) + 1, pc);
  return result;
}

MC_EXPORT int vsnprintf(char* place, size_t size, const char* format, va_list arguments) noexcept {
  MC_REAL_OF(vsnprintf);
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, size, pc);
  const int length = real(place, size, format, arguments);
  if (length >= 0) HasWritten(place, std::min(size, static_cast<size_t>(length) + 1), pc);
  return length;
}
MC_EXPORT int snprintf(char* place, size_t size, const char* format, ...) noexcept {
  static decltype(&::vsnprintf) known;
  const auto real = Find(&known, "vsnprintf");
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, size, pc);
  va_list arguments;
  va_start(arguments, format);
  const int length = real(place, size, format, arguments);
  va_end(arguments);
  if (length >= 0) HasWritten(place, std::min(size, static_cast<size_t>(length) + 1), pc);
  return length;
}
MC_EXPORT int sprintf(char* place, const char* format, ...) noexcept {
  static decltype(&::vsprintf) known;
  const auto real = Find(&known, "vsprintf");
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, 1, pc);
  va_list arguments;
  va_start(arguments, format);
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
