// The functions of the C library that take a FILE (stream_call.h). What they read from and write
// into buffers of the program is recorded as well.
#include <stdarg.h>
#include <stdio.h>
#include <wchar.h>

#include <algorithm>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/format_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/stream_call.h"

using namespace mc::sched;  // NOLINT: the functions below are the C library's

MC_EXPORT void flockfile(FILE* file) noexcept { LockStream(file, MC_CALLER_PC()); }
MC_EXPORT void funlockfile(FILE* file) noexcept { UnlockStream(file, MC_CALLER_PC()); }
MC_EXPORT int ftrylockfile(FILE* file) noexcept {
  MC_REAL_OF(ftrylockfile);
  if (!g_program_running) return real(file);
  EngineScope scope;
  Unsupported("ftrylockfile");
}

// ---- Those that only need the lock

#define MC_STREAM_FUNCTION(result, name, parameters, arguments, file) \
  MC_EXPORT result name parameters {                                  \
    MC_REAL_OF(name);                                                 \
    const StreamCall call(file, MC_CALLER_PC());                      \
    return real arguments;                                            \
  }

MC_STREAM_FUNCTION(int, fputc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, putc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, putchar, (int c), (c), stdout)
MC_STREAM_FUNCTION(int, fgetc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, getc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, getchar, (), (), stdin)
MC_STREAM_FUNCTION(int, ungetc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, fflush, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, fclose, (FILE * file), (file), file)
MC_STREAM_FUNCTION(FILE*, freopen, (const char* path, const char* mode, FILE* file),
                   (path, mode, file), file)
MC_STREAM_FUNCTION(int, fseek, (FILE * file, long offset, int from), (file, offset, from), file)
MC_STREAM_FUNCTION(int, fseeko, (FILE * file, off_t offset, int from), (file, offset, from), file)
MC_STREAM_FUNCTION(int, fseeko64, (FILE * file, off64_t offset, int from), (file, offset, from),
                   file)
MC_STREAM_FUNCTION(long, ftell, (FILE * file), (file), file)
MC_STREAM_FUNCTION(off_t, ftello, (FILE * file), (file), file)
MC_STREAM_FUNCTION(off64_t, ftello64, (FILE * file), (file), file)
MC_STREAM_FUNCTION(void, rewind, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, fsetpos, (FILE * file, const fpos_t* place), (file, place), file)
MC_STREAM_FUNCTION(int, fgetpos, (FILE * file, fpos_t* place), (file, place), file)
MC_STREAM_FUNCTION(wint_t, fputwc, (wchar_t c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(wint_t, putwc, (wchar_t c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(wint_t, fgetwc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(wint_t, getwc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(wint_t, ungetwc, (wint_t c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, fputws, (const wchar_t* text, FILE* file), (text, file), file)
MC_STREAM_FUNCTION(wchar_t*, fgetws, (wchar_t * text, int size, FILE* file), (text, size, file),
                   file)

#define MC_QUIET_STREAM_FUNCTION(result, name, parameters, arguments, file) \
  MC_EXPORT result name parameters noexcept {                               \
    MC_REAL_OF(name);                                                       \
    const StreamCall call(file, MC_CALLER_PC());                            \
    return real arguments;                                                  \
  }

MC_QUIET_STREAM_FUNCTION(int, feof, (FILE * file), (file), file)
MC_QUIET_STREAM_FUNCTION(int, ferror, (FILE * file), (file), file)
MC_QUIET_STREAM_FUNCTION(void, clearerr, (FILE * file), (file), file)
MC_QUIET_STREAM_FUNCTION(int, setvbuf, (FILE * file, char* buffer, int mode, size_t size),
                         (file, buffer, mode, size), file)
MC_QUIET_STREAM_FUNCTION(void, setbuf, (FILE * file, char* buffer), (file, buffer), file)

// ---- Those with buffers of the program

MC_EXPORT size_t fwrite(const void* place, size_t size, size_t count, FILE* file) {
  MC_REAL_OF(fwrite);
  const uint64_t pc = MC_CALLER_PC();
  Reads(place, size * count, pc);
  const StreamCall call(file, pc);
  return real(place, size, count, file);
}
MC_EXPORT int fputs(const char* text, FILE* file) {
  MC_REAL_OF(fputs);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(text, pc);
  const StreamCall call(file, pc);
  return real(text, file);
}
MC_EXPORT int puts(const char* text) {
  MC_REAL_OF(puts);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(text, pc);
  const StreamCall call(stdout, pc);
  return real(text);
}
MC_EXPORT size_t fread(void* place, size_t size, size_t count, FILE* file) {
  MC_REAL_OF(fread);
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, size * count, pc);
  const StreamCall call(file, pc);
  const size_t result = real(place, size, count, file);
  HasWritten(place, size * result, pc);
  return result;
}
MC_EXPORT char* fgets(char* place, int size, FILE* file) {
  MC_REAL_OF(fgets);
  const uint64_t pc = MC_CALLER_PC();
  WillWrite(place, static_cast<size_t>(std::max(size, 0)), pc);
  const StreamCall call(file, pc);
  char* const result = real(place, size, file);
  if (result != nullptr && g_program_running) HasWritten(place, LengthOf(place) + 1, pc);
  return result;
}

namespace {

using GetDelimited = ssize_t (*)(char**, size_t*, int, FILE*);

ssize_t ReadDelimited(GetDelimited real, char** line, size_t* size, int end, FILE* file,
                      uint64_t pc) {
  WillWrite(line, sizeof *line, pc);
  WillWrite(size, sizeof *size, pc);
  const StreamCall call(file, pc);
  const ssize_t length = real(line, size, end, file);
  HasWritten(line, sizeof *line, pc);
  HasWritten(size, sizeof *size, pc);
  if (length >= 0) HasWritten(*line, static_cast<size_t>(length) + 1, pc);
  return length;
}

}  // namespace

MC_EXPORT ssize_t getdelim(char** line, size_t* size, int end, FILE* file) {
  MC_REAL_OF(getdelim);
  return ReadDelimited(real, line, size, end, file, MC_CALLER_PC());
}
MC_EXPORT ssize_t __getdelim(char** line, size_t* size, int end, FILE* file) {
  MC_REAL_OF(__getdelim);
  return ReadDelimited(real, line, size, end, file, MC_CALLER_PC());
}
MC_EXPORT ssize_t getline(char** line, size_t* size, FILE* file) {
  static GetDelimited known;
  return ReadDelimited(Find(&known, "getdelim"), line, size, '\n', file, MC_CALLER_PC());
}

// ---- Formatted

extern "C" {
int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments);
}

namespace {

int Print(FILE* file, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::vfprintf) known;
  const auto real = Find(&known, "vfprintf");
  ReadsFormatted(format, arguments, pc);
  const StreamCall call(file, pc);
  return real(file, format, arguments);
}
int PrintChecked(FILE* file, int flag, const char* format, va_list arguments, uint64_t pc) {
  static decltype(&::__vfprintf_chk) known;
  const auto real = Find(&known, "__vfprintf_chk");
  ReadsFormatted(format, arguments, pc);
  const StreamCall call(file, pc);
  return real(file, flag, format, arguments);
}

using ScanFile = int (*)(FILE*, const char*, va_list);
int Scan(ScanFile real, FILE* file, const char* format, va_list arguments, uint64_t pc) {
  const StreamCall call(file, pc);
  va_list results;
  va_copy(results, arguments);
  const int count = real(file, format, arguments);
  HasScanned(format, results, count, pc);
  va_end(results);
  return count;
}
using ScanText = int (*)(const char*, const char*, va_list);
int Scan(ScanText real, const char* text, const char* format, va_list arguments, uint64_t pc) {
  ReadsString(text, pc);
  va_list results;
  va_copy(results, arguments);
  const int count = real(text, format, arguments);
  HasScanned(format, results, count, pc);
  va_end(results);
  return count;
}

}  // namespace

MC_EXPORT int vfprintf(FILE* file, const char* format, va_list arguments) {
  return Print(file, format, arguments, MC_CALLER_PC());
}
MC_EXPORT int vprintf(const char* format, va_list arguments) {
  return Print(stdout, format, arguments, MC_CALLER_PC());
}
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

MC_EXPORT int printf(const char* format, ...) {
  MC_WITH_ARGUMENTS(Print(stdout, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int fprintf(FILE* file, const char* format, ...) {
  MC_WITH_ARGUMENTS(Print(file, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int __printf_chk(int flag, const char* format, ...) {
  MC_WITH_ARGUMENTS(PrintChecked(stdout, flag, format, arguments, MC_CALLER_PC()));
}
MC_EXPORT int __fprintf_chk(FILE* file, int flag, const char* format, ...) {
  MC_WITH_ARGUMENTS(PrintChecked(file, flag, format, arguments, MC_CALLER_PC()));
}

// Each under two names, of which headers choose one: hence the names that differ from the symbols.
#define MC_SCAN_FUNCTIONS(prefix, symbol)                                                     \
  MC_EXPORT int prefix##vfscanf(FILE*, const char*, va_list) __asm__(symbol "vfscanf");       \
  MC_EXPORT int prefix##fscanf(FILE*, const char*, ...) __asm__(symbol "fscanf");             \
  MC_EXPORT int prefix##scanf(const char*, ...) __asm__(symbol "scanf");                      \
  MC_EXPORT int prefix##vsscanf(const char*, const char*, va_list) __asm__(symbol "vsscanf"); \
  MC_EXPORT int prefix##sscanf(const char*, const char*, ...) __asm__(symbol "sscanf");       \
                                                                                              \
  int prefix##vfscanf(FILE* file, const char* format, va_list arguments) {                    \
    static ScanFile known;                                                                    \
    return Scan(Find(&known, symbol "vfscanf"), file, format, arguments, MC_CALLER_PC());     \
  }                                                                                           \
  int prefix##fscanf(FILE* file, const char* format, ...) {                                   \
    static ScanFile known;                                                                    \
    const auto real = Find(&known, symbol "vfscanf");                                         \
    MC_WITH_ARGUMENTS(Scan(real, file, format, arguments, MC_CALLER_PC()));                   \
  }                                                                                           \
  int prefix##scanf(const char* format, ...) {                                                \
    static ScanFile known;                                                                    \
    const auto real = Find(&known, symbol "vfscanf");                                         \
    MC_WITH_ARGUMENTS(Scan(real, stdin, format, arguments, MC_CALLER_PC()));                  \
  }                                                                                           \
  int prefix##vsscanf(const char* text, const char* format, va_list arguments) {              \
    static ScanText known;                                                                    \
    return Scan(Find(&known, symbol "vsscanf"), text, format, arguments, MC_CALLER_PC());     \
  }                                                                                           \
  int prefix##sscanf(const char* text, const char* format, ...) {                             \
    static ScanText known;                                                                    \
    const auto real = Find(&known, symbol "vsscanf");                                         \
    MC_WITH_ARGUMENTS(Scan(real, text, format, arguments, MC_CALLER_PC()));                   \
  }

MC_SCAN_FUNCTIONS(mc_gnu_, "")
MC_SCAN_FUNCTIONS(mc_isoc99_, "__isoc99_")
