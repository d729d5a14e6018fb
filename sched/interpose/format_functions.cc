// printf, scanf and their kin, of narrow and wide characters: into streams, files and memory. What
// they read and write besides is in format_access.h.
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/format_access.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/stream_call.h"

using namespace mc::sched;  // NOLINT: the functions below are the C library's

// ---- Into and from streams

extern "C" {
int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments);
}

namespace {

template <typename C>
constexpr StreamUse kUse = sizeof(C) == 1 ? StreamUse::kNarrow : StreamUse::kWide;

template <typename C>
using PrintFunction = int (*)(FILE*, const C*, va_list);
template <typename C>
int Print(PrintFunction<C> real, FILE* file, const C* format, va_list arguments, uint64_t pc) {
  ReadsFormatted(format, arguments, pc);
  const StreamCall call(file, pc, kUse<C>);
  return real(file, format, arguments);
}
int PrintChecked(FILE* file, int flag, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::__vfprintf_chk) known;
  const auto real = Find(&known, "__vfprintf_chk");
  ReadsFormatted(format, arguments, pc);
  const StreamCall call(file, pc);
  return real(file, flag, format, arguments);
}

template <typename C>
using ScanFile = int (*)(FILE*, const C*, va_list);
template <typename C>
int Scan(ScanFile<C> real, FILE* file, const C* format, va_list arguments, uint64_t pc) {
  const StreamCall call(file, pc, kUse<C>);
  va_list results;
  va_copy(results, arguments);
  const int count = real(file, format, arguments);
  HasScanned(format, results, count, pc);
  va_end(results);
  return count;
}
template <typename C>
using ScanText = int (*)(const C*, const C*, va_list);
template <typename C>
int Scan(ScanText<C> real, const C* text, const C* format, va_list arguments, uint64_t pc) {
  if (g_program_running) {
    const Touch read = Text(text);
    Reads(read.place, read.size, pc);
  }
  va_list results;
  va_copy(results, arguments);
  const int count = real(text, format, arguments);
  HasScanned(format, results, count, pc);
  va_end(results);
  return count;
}

}  // namespace

MC_EXPORT int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments) {
  return PrintChecked(file, flag, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return PrintChecked(stdout, flag, format, arguments, MC_CALLER_PC());
}

// Calls `expression`, which uses `arguments`, for what follows `format`.
#define MC_WITH_ARGUMENTS(expression) \
  va_list arguments;                  \
  va_start(arguments, format);        \
  const int result = expression;      \
  va_end(arguments);                  \
  return result

MC_EXPORT int __printf_chk(int flag, const char* format, ...) {
  MC_WITH_ARGUMENTS(PrintChecked(stdout, flag, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  MC_WITH_ARGUMENTS(PrintChecked(file, flag, format, arguments, MC_CALLER_PC()));
}

// For characters C; `w` is what the names of functions on wide ones have in them. By names that
// differ from the symbols, as headers choose one of several symbols.
#define MC_PRINT_FUNCTIONS(prefix, C, w)                                                    \
  MC_EXPORT int prefix##vfprintf(FILE*, const C*, va_list) __asm__("vf" w "printf");        \
  MC_EXPORT int prefix##vprintf(const C*, va_list) __asm__("v" w "printf");                 \
  MC_EXPORT int prefix##fprintf(FILE*, const C*, ...) __asm__("f" w "printf");              \
  MC_EXPORT int prefix##printf(const C*, ...) __asm__(w "printf");                          \
                                                                                            \
  int prefix##vfprintf(FILE* file, const C* format, va_list arguments) {                    \
    static PrintFunction<C> known;                                                          \
    return Print(Find(&known, "vf" w "printf"), file, format, arguments, MC_CALLER_PC());   \
  }                                                                                         \
  int prefix##vprintf(const C* format, va_list arguments) {                                 \
    static PrintFunction<C> known;                                                          \
    return Print(Find(&known, "vf" w "printf"), stdout, format, arguments, MC_CALLER_PC()); \
  }                                                                                         \
  int prefix##fprintf(FILE* file, const C* format, ...) {                                   \
    static PrintFunction<C> known;                                                          \
    const auto real = Find(&known, "vf" w "printf");                                        \
    MC_WITH_ARGUMENTS(Print(real, file, format, arguments, MC_CALLER_PC()));                \
  }                                                                                         \
  int prefix##printf(const C* format, ...) {                                                \
    static PrintFunction<C> known;                                                          \
    const auto real = Find(&known, "vf" w "printf");                                        \
    MC_WITH_ARGUMENTS(Print(real, stdout, format, arguments, MC_CALLER_PC()));              \
  }
MC_PRINT_FUNCTIONS(mc_c_, char, "")
MC_PRINT_FUNCTIONS(mc_w_, wchar_t, "w")

#define MC_SCAN_FUNCTIONS(prefix, C, symbol, w)                                              \
  MC_EXPORT int prefix##vfscanf(FILE*, const C*, va_list) __asm__(symbol "vf" w "scanf");    \
  MC_EXPORT int prefix##vscanf(const C*, va_list) __asm__(symbol "v" w "scanf");             \
  MC_EXPORT int prefix##fscanf(FILE*, const C*, ...) __asm__(symbol "f" w "scanf");          \
  MC_EXPORT int prefix##scanf(const C*, ...) __asm__(symbol w "scanf");                      \
  MC_EXPORT int prefix##vsscanf(const C*, const C*, va_list) __asm__(symbol "vs" w "scanf"); \
  MC_EXPORT int prefix##sscanf(const C*, const C*, ...) __asm__(symbol "s" w "scanf");       \
                                                                                             \
  int prefix##vfscanf(FILE* file, const C* format, va_list arguments) {                      \
    static ScanFile<C> known;                                                                \
    const auto real = Find(&known, symbol "vf" w "scanf");                                   \
    return Scan<C>(real, file, format, arguments, MC_CALLER_PC());                           \
  }                                                                                          \
  int prefix##vscanf(const C* format, va_list arguments) {                                   \
    static ScanFile<C> known;                                                                \
    const auto real = Find(&known, symbol "vf" w "scanf");                                   \
    return Scan<C>(real, stdin, format, arguments, MC_CALLER_PC());                          \
  }                                                                                          \
  int prefix##fscanf(FILE* file, const C* format, ...) {                                     \
    static ScanFile<C> known;                                                                \
    const auto real = Find(&known, symbol "vf" w "scanf");                                   \
    MC_WITH_ARGUMENTS(Scan<C>(real, file, format, arguments, MC_CALLER_PC()));               \
  }                                                                                          \
  int prefix##scanf(const C* format, ...) {                                                  \
    static ScanFile<C> known;                                                                \
    const auto real = Find(&known, symbol "vf" w "scanf");                                   \
    MC_WITH_ARGUMENTS(Scan<C>(real, stdin, format, arguments, MC_CALLER_PC()));              \
  }                                                                                          \
  int prefix##vsscanf(const C* text, const C* format, va_list arguments) {                   \
    static ScanText<C> known;                                                                \
    const auto real = Find(&known, symbol "vs" w "scanf");                                   \
    return Scan<C>(real, text, format, arguments, MC_CALLER_PC());                           \
  }                                                                                          \
  int prefix##sscanf(const C* text, const C* format, ...) {                                  \
    static ScanText<C> known;                                                                \
    const auto real = Find(&known, symbol "vs" w "scanf");                                   \
    MC_WITH_ARGUMENTS(Scan<C>(real, text, format, arguments, MC_CALLER_PC()));               \
  }
MC_SCAN_FUNCTIONS(mc_gnu_, char, "", "")
MC_SCAN_FUNCTIONS(mc_isoc99_, char, "__isoc99_", "")
MC_SCAN_FUNCTIONS(mc_isoc23_, char, "__isoc23_", "")
MC_SCAN_FUNCTIONS(mc_wgnu_, wchar_t, "", "w")
MC_SCAN_FUNCTIONS(mc_wisoc99_, wchar_t, "__isoc99_", "w")
MC_SCAN_FUNCTIONS(mc_wisoc23_, wchar_t, "__isoc23_", "w")

// ---- Into memory and files

namespace {

// The first `most` of `length` characters and the end; a negative length: it failed.
template <typename C>
void HasFormatted(C* place, int length, size_t most, uint64_t pc) {
  if (length < 0) return;
  HasWritten(place, sizeof(C) * std::min(most, static_cast<size_t>(length) + 1), pc);
}

int PrintAllocated(char** place, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::vasprintf) known;
  const auto real = Find(&known, "vasprintf");
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, sizeof *place, pc);
  const int length = real(place, format, arguments);
  HasWritten(place, sizeof *place, pc);
  if (length >= 0) HasFormatted(*place, length, SIZE_MAX, pc);
  return length;
}
int PrintToFile(int file, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::vdprintf) known;
  const auto real = Find(&known, "vdprintf");
  ReadsFormatted(format, arguments, pc);
  const SystemCallPoint point(pc, file != STDOUT_FILENO && file != STDERR_FILENO);
  return real(file, format, arguments);
}
template <typename C>
using PrintInto = int (*)(C*, size_t, const C*, va_list);
template <typename C>
int Print(PrintInto<C> real, C* place, size_t size, const C* format, va_list arguments,
          uint64_t pc) {
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, size * sizeof(C), pc);
  const int length = real(place, size, format, arguments);
  HasFormatted(place, length, size, pc);
  return length;
}
int PrintUnlimited(char* place, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::vsprintf) known;
  const auto real = Find(&known, "vsprintf");
  ReadsFormatted(format, arguments, pc);
  WillWrite(place, 1, pc);
  const int length = real(place, format, arguments);
  HasFormatted(place, length, SIZE_MAX, pc);
  return length;
}

}  // namespace

MC_EXPORT int vsnprintf(char* place, size_t size, const char* format, va_list arguments) noexcept {
  MC_REAL_OF(vsnprintf);
  return Print<char>(real, place, size, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int snprintf(char* place, size_t size, const char* format, ...) noexcept {
  static PrintInto<char> known;
  const auto real = Find(&known, "vsnprintf");
  MC_WITH_ARGUMENTS(Print<char>(real, place, size, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int vswprintf(wchar_t* place, size_t size, const wchar_t* format,
                        va_list arguments) noexcept {
  MC_REAL_OF(vswprintf);
  return Print<wchar_t>(real, place, size, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int swprintf(wchar_t* place, size_t size, const wchar_t* format, ...) noexcept {
  static PrintInto<wchar_t> known;
  const auto real = Find(&known, "vswprintf");
  MC_WITH_ARGUMENTS(Print<wchar_t>(real, place, size, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int vsprintf(char* place, const char* format, va_list arguments) noexcept {
  return PrintUnlimited(place, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int sprintf(char* place, const char* format, ...) noexcept {
  MC_WITH_ARGUMENTS(PrintUnlimited(place, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int vasprintf(char** place, const char* format, va_list arguments) noexcept {
  return PrintAllocated(place, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int asprintf(char** place, const char* format, ...) noexcept {
  MC_WITH_ARGUMENTS(PrintAllocated(place, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int vdprintf(int file, const char* format, va_list arguments) {
  return PrintToFile(file, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int dprintf(int file, const char* format, ...) {
  MC_WITH_ARGUMENTS(PrintToFile(file, format, arguments, MC_CALLER_PC()));
}
