// memcpy, strlen and their kin: the accesses they make are recorded, then the C library does the
// work.
//
// The dynamic loader and early start-up code call these before anything is set up; a plain byte
// loop serves until the C library's own functions are known.
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "sched/interpose/export.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

struct RealFunctions {
  void* (*copy)(void*, const void*, size_t);
  void* (*move)(void*, const void*, size_t);
  void* (*set)(void*, int, size_t);
  int (*compare)(const void*, const void*, size_t);
  void* (*find)(const void*, int, size_t);
  size_t (*length)(const char*);
};
RealFunctions g_real;

__attribute__((constructor(101))) void FindRealFunctions() {
  RealFunctions real;
  const auto find = [](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(RTLD_NEXT, name));
  };
  find(&real.copy, "memcpy");
  find(&real.move, "memmove");
  find(&real.set, "memset");
  find(&real.compare, "memcmp");
  find(&real.find, "memchr");
  find(&real.length, "strlen");
  g_real = real;
}

void* Copy(void* to, const void* from, size_t size) {
  if (g_real.copy != nullptr) return g_real.copy(to, from, size);
  void* at = to;
  asm volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
  return to;
}
void* Move(void* to, const void* from, size_t size) {
  if (g_real.move != nullptr) return g_real.move(to, from, size);
  if (reinterpret_cast<uintptr_t>(to) <= reinterpret_cast<uintptr_t>(from)) {
    return Copy(to, from, size);
  }
  volatile auto* t = static_cast<unsigned char*>(to);
  const auto* f = static_cast<const unsigned char*>(from);
  while (size-- > 0) t[size] = f[size];
  return to;
}
void* Set(void* to, int value, size_t size) {
  if (g_real.set != nullptr) return g_real.set(to, value, size);
  void* at = to;
  asm volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(value) : "memory");
  return to;
}
int Compare(const void* a, const void* b, size_t size) {
  if (g_real.compare != nullptr) return g_real.compare(a, b, size);
  const volatile auto* x = static_cast<const unsigned char*>(a);
  const volatile auto* y = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < size; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}
size_t Length(const char* text) {
  if (g_real.length != nullptr) return g_real.length(text);
  const volatile char* at = text;
  size_t length = 0;
  while (at[length] != 0) ++length;
  return length;
}
size_t LengthUpTo(const char* text, size_t limit) {
  const volatile char* at = text;
  size_t length = 0;
  while (length < limit && at[length] != 0) ++length;
  return length;
}

void Reads(const void* address, size_t size, uint64_t pc) {
  if (!g_program_running || size == 0) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(address), size, kRead, 0, pc);
}
void Writes(void* address, size_t size, uint64_t pc) {
  if (!g_program_running || size == 0) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(address), size, kWrite, 0, pc);
}

// The functions called most, for the program. Apart, so that what the engine itself calls costs no
// more than a jump to the C library.
[[gnu::noinline]] void* RecordedCopy(void* to, const void* from, size_t size, uint64_t pc) {
  Reads(from, size, pc);
  Writes(to, size, pc);
  return Copy(to, from, size);
}
[[gnu::noinline]] void* RecordedMove(void* to, const void* from, size_t size, uint64_t pc) {
  Reads(from, size, pc);
  Writes(to, size, pc);
  return Move(to, from, size);
}
[[gnu::noinline]] void* RecordedSet(void* to, int value, size_t size, uint64_t pc) {
  Writes(to, size, pc);
  return Set(to, value, size);
}
[[gnu::noinline]] int RecordedCompare(const void* a, const void* b, size_t size, uint64_t pc) {
  Reads(a, size, pc);
  Reads(b, size, pc);
  return Compare(a, b, size);
}

// A string is read up to and with its end.
size_t ReadString(const char* text, uint64_t pc) {
  const size_t length = Length(text);
  Reads(text, length + 1, pc);
  return length;
}
size_t ReadStringUpTo(const char* text, size_t limit, uint64_t pc) {
  const size_t length = LengthUpTo(text, limit);
  Reads(text, length < limit ? length + 1 : length, pc);
  return length;
}
// How far two strings have to be read to be compared: up to the first difference.
size_t Compared(const char* a, const char* b, size_t limit) {
  size_t i = 0;
  while (i < limit && a[i] == b[i] && a[i] != 0) ++i;
  return i < limit ? i + 1 : limit;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

MC_EXPORT void* memcpy(void* __restrict to, const void* __restrict from, size_t size) {
  if (g_program_running) return RecordedCopy(to, from, size, MC_CALLER_PC());
  return Copy(to, from, size);
}
MC_EXPORT void* memmove(void* to, const void* from, size_t size) {
  if (g_program_running) return RecordedMove(to, from, size, MC_CALLER_PC());
  return Move(to, from, size);
}
MC_EXPORT void* mempcpy(void* __restrict to, const void* __restrict from, size_t size) {
  if (g_program_running) {
    Reads(from, size, MC_CALLER_PC());
    Writes(to, size, MC_CALLER_PC());
  }
  return static_cast<char*>(Copy(to, from, size)) + size;
}
MC_EXPORT void* memset(void* to, int value, size_t size) {
  if (g_program_running) return RecordedSet(to, value, size, MC_CALLER_PC());
  return Set(to, value, size);
}
MC_EXPORT void bzero(void* to, size_t size) {
  if (g_program_running) Writes(to, size, MC_CALLER_PC());
  Set(to, 0, size);
}
MC_EXPORT int memcmp(const void* a, const void* b, size_t size) {
  if (g_program_running) return RecordedCompare(a, b, size, MC_CALLER_PC());
  return Compare(a, b, size);
}
MC_EXPORT int bcmp(const void* a, const void* b, size_t size) {
  if (g_program_running) return RecordedCompare(a, b, size, MC_CALLER_PC());
  return Compare(a, b, size);
}
MC_EXPORT void* memchr(const void* text, int value, size_t size) {
  const auto* at = static_cast<const volatile unsigned char*>(text);
  size_t i = 0;
  while (i < size && at[i] != static_cast<unsigned char>(value)) ++i;
  if (g_program_running) Reads(text, i < size ? i + 1 : size, MC_CALLER_PC());
  return i < size ? const_cast<unsigned char*>(at) + i : nullptr;
}
MC_EXPORT size_t strlen(const char* text) {
  if (!g_program_running) return Length(text);
  return ReadString(text, MC_CALLER_PC());
}
MC_EXPORT size_t strnlen(const char* text, size_t limit) {
  if (!g_program_running) return LengthUpTo(text, limit);
  return ReadStringUpTo(text, limit, MC_CALLER_PC());
}
MC_EXPORT int strcmp(const char* a, const char* b) {
  const size_t size = Compared(a, b, SIZE_MAX);
  if (g_program_running) {
    Reads(a, size, MC_CALLER_PC());
    Reads(b, size, MC_CALLER_PC());
  }
  return static_cast<unsigned char>(a[size - 1]) - static_cast<unsigned char>(b[size - 1]);
}
MC_EXPORT int strncmp(const char* a, const char* b, size_t limit) {
  const size_t size = Compared(a, b, limit);
  if (size == 0) return 0;
  if (g_program_running) {
    Reads(a, size, MC_CALLER_PC());
    Reads(b, size, MC_CALLER_PC());
  }
  return static_cast<unsigned char>(a[size - 1]) - static_cast<unsigned char>(b[size - 1]);
}
MC_EXPORT char* strcpy(char* __restrict to, const char* __restrict from) {
  const size_t size = Length(from) + 1;
  if (g_program_running) {
    Reads(from, size, MC_CALLER_PC());
    Writes(to, size, MC_CALLER_PC());
  }
  return static_cast<char*>(Copy(to, from, size));
}
MC_EXPORT char* stpcpy(char* __restrict to, const char* __restrict from) {
  const size_t size = Length(from) + 1;
  if (g_program_running) {
    Reads(from, size, MC_CALLER_PC());
    Writes(to, size, MC_CALLER_PC());
  }
  return static_cast<char*>(Copy(to, from, size)) + size - 1;
}
MC_EXPORT char* strncpy(char* __restrict to, const char* __restrict from, size_t limit) {
  const size_t length = LengthUpTo(from, limit);
  if (g_program_running) {
    Reads(from, length < limit ? length + 1 : length, MC_CALLER_PC());
    Writes(to, limit, MC_CALLER_PC());
  }
  Copy(to, from, length);
  Set(to + length, 0, limit - length);
  return to;
}
MC_EXPORT char* strcat(char* __restrict to, const char* __restrict from) {
  const size_t before = Length(to);
  const size_t size = Length(from) + 1;
  if (g_program_running) {
    Reads(to, before + 1, MC_CALLER_PC());
    Reads(from, size, MC_CALLER_PC());
    Writes(to + before, size, MC_CALLER_PC());
  }
  Copy(to + before, from, size);
  return to;
}
MC_EXPORT char* strncat(char* __restrict to, const char* __restrict from, size_t limit) {
  const size_t before = Length(to);
  const size_t length = LengthUpTo(from, limit);
  if (g_program_running) {
    Reads(to, before + 1, MC_CALLER_PC());
    Reads(from, length < limit ? length + 1 : length, MC_CALLER_PC());
    Writes(to + before, length + 1, MC_CALLER_PC());
  }
  Copy(to + before, from, length);
  to[before + length] = 0;
  return to;
}
MC_EXPORT char* strchr(const char* text, int value) {
  size_t i = 0;
  while (text[i] != 0 && text[i] != static_cast<char>(value)) ++i;
  if (g_program_running) Reads(text, i + 1, MC_CALLER_PC());
  return text[i] == static_cast<char>(value) ? const_cast<char*>(text) + i : nullptr;
}
MC_EXPORT char* strrchr(const char* text, int value) {
  const size_t length = g_program_running ? ReadString(text, MC_CALLER_PC()) : Length(text);
  for (size_t i = length + 1; i-- > 0;) {
    if (text[i] == static_cast<char>(value)) return const_cast<char*>(text) + i;
  }
  return nullptr;
}
// What Clang's newer instrumentation calls instead of the plain names.
MC_EXPORT void* __tsan_memcpy(void* to, const void* from, size_t size) {
  if (g_program_running) return RecordedCopy(to, from, size, MC_CALLER_PC());
  return Copy(to, from, size);
}
MC_EXPORT void* __tsan_memmove(void* to, const void* from, size_t size) {
  if (g_program_running) {
    Reads(from, size, MC_CALLER_PC());
    Writes(to, size, MC_CALLER_PC());
  }
  return Move(to, from, size);
}
MC_EXPORT void* __tsan_memset(void* to, int value, size_t size) {
  if (g_program_running) Writes(to, size, MC_CALLER_PC());
  return Set(to, value, size);
}
