// strtol and its kin read a string up to where the number ends.
#include <inttypes.h>
#include <stdlib.h>

#include <cstdint>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/real_function.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

// Which character separates a fraction.
void ReadsLocale(uint64_t pc) {
  if (g_program_running) RecordTouched({Locale()}, pc);
}

// `call(end)` converts, and stores where the number ends.
template <typename Function>
auto Convert(const char* text, char** end, uint64_t pc, Function call) {
  Reads(text, 1, pc);
  char* stop = nullptr;
  const auto result = call(&stop);
  HasRead(text, static_cast<size_t>(stop - text) + 1, pc);
  if (end != nullptr) {
    Writes(end, sizeof *end, pc);
    *end = stop;
  }
  return result;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

#define MC_INTEGER(result, name)                                           \
  MC_EXPORT result name(const char* text, char** end, int base) noexcept { \
    MC_REAL_OF(name);                                                      \
    if (!g_program_running) return real(text, end, base);                  \
    return Convert(text, end, MC_CALLER_PC(),                              \
                   [&](char** stop) { return real(text, stop, base); });   \
  }
MC_INTEGER(long, strtol)
MC_INTEGER(unsigned long, strtoul)
MC_INTEGER(long long, strtoll)
MC_INTEGER(unsigned long long, strtoull)
MC_INTEGER(intmax_t, strtoimax)
MC_INTEGER(uintmax_t, strtoumax)
MC_INTEGER(long long, strtoq)
MC_INTEGER(unsigned long long, strtouq)

#define MC_FRACTION(result, name)                                                             \
  MC_EXPORT result name(const char* text, char** end) noexcept {                              \
    MC_REAL_OF(name);                                                                         \
    if (!g_program_running) return real(text, end);                                           \
    ReadsLocale(MC_CALLER_PC());                                                              \
    return Convert(text, end, MC_CALLER_PC(), [&](char** stop) { return real(text, stop); }); \
  }
MC_FRACTION(float, strtof)
MC_FRACTION(double, strtod)
MC_FRACTION(long double, strtold)

#define MC_WHOLE(result, name, by, ...)                                                  \
  MC_EXPORT result name(const char* text) noexcept {                                     \
    static decltype(&::by) known;                                                        \
    const auto real = Find(&known, #by);                                                 \
    if (!g_program_running) return static_cast<result>(real(text, nullptr __VA_ARGS__)); \
    return Convert(text, nullptr, MC_CALLER_PC(), [&](char** stop) {                     \
      return static_cast<result>(real(text, stop __VA_ARGS__));                          \
    });                                                                                  \
  }
#define MC_DECIMAL , 10
MC_WHOLE(int, atoi, strtol, MC_DECIMAL)
MC_WHOLE(long, atol, strtol, MC_DECIMAL)
MC_WHOLE(long long, atoll, strtoll, MC_DECIMAL)
MC_EXPORT double atof(const char* text) noexcept {
  static decltype(&::strtod) known;
  const auto real = Find(&known, "strtod");
  if (!g_program_running) return real(text, nullptr);
  ReadsLocale(MC_CALLER_PC());
  return Convert(text, nullptr, MC_CALLER_PC(), [&](char** stop) { return real(text, stop); });
}

// What headers of newer standards lead to, and what is given a locale.
#define MC_INTEGER_AS(result, name)                                      \
  MC_EXPORT result mc_c_##name(const char*, char**, int) __asm__(#name); \
  result mc_c_##name(const char* text, char** end, int base) {           \
    static result (*known)(const char*, char**, int);                    \
    const auto real = Find(&known, #name);                               \
    if (!g_program_running) return real(text, end, base);                \
    return Convert(text, end, MC_CALLER_PC(),                            \
                   [&](char** stop) { return real(text, stop, base); }); \
  }
MC_INTEGER_AS(long, __isoc23_strtol)
MC_INTEGER_AS(unsigned long, __isoc23_strtoul)
MC_INTEGER_AS(long long, __isoc23_strtoll)
MC_INTEGER_AS(unsigned long long, __isoc23_strtoull)
MC_INTEGER_AS(intmax_t, __isoc23_strtoimax)
MC_INTEGER_AS(uintmax_t, __isoc23_strtoumax)
