// The functions of the C library that take a FILE (stream_call.h). What they read from and write
// into buffers of the program is recorded as well.
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <wchar.h>

#include <algorithm>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/format_access.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/library_call.h"
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

// ---- Those that only need the lock. What asks how much was written is for any output.

#define MC_STREAM_FUNCTION_FOR(use, result, name, parameters, arguments, file, ...) \
  MC_EXPORT result name parameters __VA_ARGS__ {                                    \
    MC_REAL_OF(name);                                                               \
    const StreamCall call(file, MC_CALLER_PC(), StreamUse::use);                    \
    return real arguments;                                                          \
  }
#define MC_STREAM_FUNCTION(...) MC_STREAM_FUNCTION_FOR(kNarrow, __VA_ARGS__)
#define MC_WIDE_STREAM_FUNCTION(...) MC_STREAM_FUNCTION_FOR(kWide, __VA_ARGS__)
#define MC_ANY_STREAM_FUNCTION(...) MC_STREAM_FUNCTION_FOR(kAny, __VA_ARGS__)

MC_STREAM_FUNCTION(int, fputc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, putc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, putchar, (int c), (c), stdout)
MC_STREAM_FUNCTION(int, fgetc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, getc, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, getchar, (), (), stdin)
MC_STREAM_FUNCTION(int, ungetc, (int c, FILE* file), (c, file), file)
MC_STREAM_FUNCTION(int, fflush, (FILE * file), (file), file)
MC_ANY_STREAM_FUNCTION(int, fclose, (FILE * file), (file), file)
MC_STREAM_FUNCTION(int, pclose, (FILE * file), (file), file)

MC_STREAM_FUNCTION(int, fseek, (FILE * file, long offset, int from), (file, offset, from), file)
MC_STREAM_FUNCTION(int, fseeko, (FILE * file, off_t offset, int from), (file, offset, from), file)
MC_STREAM_FUNCTION(int, fseeko64, (FILE * file, off64_t offset, int from), (file, offset, from),
                   file)
MC_ANY_STREAM_FUNCTION(long, ftell, (FILE * file), (file), file)
MC_ANY_STREAM_FUNCTION(off_t, ftello, (FILE * file), (file), file)
MC_ANY_STREAM_FUNCTION(off64_t, ftello64, (FILE * file), (file), file)
MC_STREAM_FUNCTION(void, rewind, (FILE * file), (file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, fputwc, (wchar_t c, FILE* file), (c, file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, putwc, (wchar_t c, FILE* file), (c, file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, fgetwc, (FILE * file), (file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, getwc, (FILE * file), (file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, ungetwc, (wint_t c, FILE* file), (c, file), file)
MC_WIDE_STREAM_FUNCTION(wint_t, putwchar, (wchar_t c), (c), stdout)
MC_WIDE_STREAM_FUNCTION(wint_t, getwchar, (), (), stdin)
MC_STREAM_FUNCTION(int, putw, (int word, FILE* file), (word, file), file)
MC_STREAM_FUNCTION(int, getw, (FILE * file), (file), file)

MC_STREAM_FUNCTION(int, feof, (FILE * file), (file), file, noexcept)
MC_STREAM_FUNCTION(int, ferror, (FILE * file), (file), file, noexcept)
MC_STREAM_FUNCTION(void, clearerr, (FILE * file), (file), file, noexcept)
MC_STREAM_FUNCTION(int, fileno, (FILE * file), (file), file, noexcept)
MC_ANY_STREAM_FUNCTION(int, fwide, (FILE * file, int orientation), (file, orientation), file,
                       noexcept)

// ---- Those with buffers of the program

// A row as those of library_call.h; what is written is recorded while the stream is held.
#define MC_STREAM_TOUCHES_FOR(use, type, name, parameters, arguments, file, ...) \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments,                         \
                      const StreamCall call(file, pc, StreamUse::use), __VA_ARGS__)
#define MC_STREAM_TOUCHES(...) MC_STREAM_TOUCHES_FOR(kNarrow, __VA_ARGS__)
// clang-format off
MC_STREAM_TOUCHES(int, fsetpos, (FILE* file, const fpos_t* place), (file, place), file, In(place))
MC_STREAM_TOUCHES(int, fsetpos64, (FILE* file, const fpos64_t* place), (file, place), file,
           In(place))
MC_STREAM_TOUCHES(int, fgetpos, (FILE* file, fpos_t* place), (file, place), file, Out(place))
MC_STREAM_TOUCHES(int, fgetpos64, (FILE* file, fpos64_t* place), (file, place), file, Out(place))
MC_STREAM_TOUCHES_FOR(kWide, wchar_t*, fgetws, (wchar_t* to, int size, FILE* file),
           (to, size, file), file, OutText(result))
MC_STREAM_TOUCHES_FOR(kAny, FILE*, freopen, (const char* path, const char* mode, FILE* file),
           (path, mode, file), file, Text(path), Text(mode))
MC_STREAM_TOUCHES_FOR(kAny, FILE*, freopen64, (const char* path, const char* mode, FILE* file),
           (path, mode, file), file, Text(path), Text(mode))
// From now on what the buffer holds is the stream's.
MC_STREAM_TOUCHES(int, setvbuf, (FILE* file, char* buffer, int mode, size_t size),
           (file, buffer, mode, size), file, Out(buffer, mode == _IONBF ? 0 : size))
MC_STREAM_TOUCHES(void, setbuf, (FILE* file, char* buffer), (file, buffer), file,
           Out(buffer, BUFSIZ))
MC_STREAM_TOUCHES(void, setbuffer, (FILE* file, char* buffer, size_t size), (file, buffer, size),
           file, Out(buffer, size))
MC_STREAM_TOUCHES(void, setlinebuf, (FILE* file), (file), file)

// Without the lock: they are accesses to the stream itself.
MC_TOUCHES(int, fgetc_unlocked, (FILE* file), (file), InOut(file))
MC_TOUCHES(int, getc_unlocked, (FILE* file), (file), InOut(file))
MC_TOUCHES(int, __uflow, (FILE* file), (file), InOut(file))
MC_TOUCHES(int, getchar_unlocked, (), (), InOut(stdin))
MC_TOUCHES(int, fputc_unlocked, (int c, FILE* file), (c, file), InOut(file))
MC_TOUCHES(int, putc_unlocked, (int c, FILE* file), (c, file), InOut(file))
MC_TOUCHES(int, __overflow, (FILE* file, int c), (file, c), InOut(file))
MC_TOUCHES(int, putchar_unlocked, (int c), (c), InOut(stdout))
MC_TOUCHES(int, fputs_unlocked, (const char* text, FILE* file), (text, file), Text(text),
           InOut(file))
MC_TOUCHES(char*, fgets_unlocked, (char* to, int size, FILE* file), (to, size, file),
           OutText(result), InOut(file))
MC_TOUCHES(size_t, fread_unlocked, (void* to, size_t size, size_t count, FILE* file),
           (to, size, count, file), Out(to, size * result), InOut(file))
MC_TOUCHES(size_t, fwrite_unlocked, (const void* from, size_t size, size_t count, FILE* file),
           (from, size, count, file), In(from, size * count), InOut(file))
MC_TOUCHES(int, fflush_unlocked, (FILE* file), (file), file == nullptr ? In(file, 0) : InOut(file))
MC_TOUCHES(int, feof_unlocked, (FILE* file), (file), In(file))
MC_TOUCHES(int, ferror_unlocked, (FILE* file), (file), In(file))
MC_TOUCHES(void, clearerr_unlocked, (FILE* file), (file), InOut(file))
MC_TOUCHES(int, fileno_unlocked, (FILE* file), (file), In(file))
MC_TOUCHES(wint_t, fgetwc_unlocked, (FILE* file), (file), InOut(file))
MC_TOUCHES(wint_t, getwc_unlocked, (FILE* file), (file), InOut(file))
MC_TOUCHES(wint_t, __wuflow, (FILE* file), (file), InOut(file))
MC_TOUCHES(wint_t, getwchar_unlocked, (), (), InOut(stdin))
MC_TOUCHES(wint_t, fputwc_unlocked, (wchar_t c, FILE* file), (c, file), InOut(file))
MC_TOUCHES(wint_t, putwc_unlocked, (wchar_t c, FILE* file), (c, file), InOut(file))
MC_TOUCHES(wint_t, __woverflow, (FILE* file, wint_t c), (file, c), InOut(file))
MC_TOUCHES(wint_t, putwchar_unlocked, (wchar_t c), (c), InOut(stdout))
MC_TOUCHES(wchar_t*, fgetws_unlocked, (wchar_t* to, int size, FILE* file), (to, size, file),
           OutText(result), InOut(file))
MC_TOUCHES(int, fputws_unlocked, (const wchar_t* text, FILE* file), (text, file), Text(text),
           InOut(file))
// stdio_ext.h
MC_TOUCHES(size_t, __fbufsize, (FILE* file), (file), In(file))
MC_TOUCHES(size_t, __fpending, (FILE* file), (file), In(file))
MC_TOUCHES(int, __flbf, (FILE* file), (file), In(file))
MC_TOUCHES(int, __freadable, (FILE* file), (file), In(file))
MC_TOUCHES(int, __freading, (FILE* file), (file), In(file))
MC_TOUCHES(int, __fwritable, (FILE* file), (file), In(file))
MC_TOUCHES(int, __fwriting, (FILE* file), (file), In(file))
MC_TOUCHES(void, __fpurge, (FILE* file), (file), InOut(file))
MC_TOUCHES(int, __fsetlocking, (FILE* file, int type), (file, type),
           type == FSETLOCKING_QUERY ? In(file) : InOut(file))
// clang-format on

MC_EXPORT int fputws(const wchar_t* text, FILE* file) {
  MC_REAL_OF(fputws);
  const uint64_t pc = MC_CALLER_PC();
  if (g_program_running) RecordTouched({Text(text)}, pc);
  const StreamCall call(file, pc, StreamUse::kWide);
  return real(text, file);
}
MC_EXPORT void perror(const char* text) {
  MC_REAL_OF(perror);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(text, pc);
  const StreamCall call(stderr, pc);
  real(text);
}

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
