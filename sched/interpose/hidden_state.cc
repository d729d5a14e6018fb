// Functions of the C library that share state between their calls: the environment, the place where
// strtok goes on, the results that localtime and others keep. Two threads that use it without
// synchronisation race, as with any variable: each call is recorded as the access to memory that it
// is.
#include "sched/hidden_state.h"

#include <getopt.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sched/interpose/buffer_access.h"
#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_state.h"
#include "sched/interpose/thread_specific.h"

namespace mc::sched {

char g_strtok_state, g_multibyte_state, g_locale_state, g_search_table, g_drand48_state;
char g_zone_state, g_terminate_handler, g_unexpected_handler, g_new_handler;
char g_global_locale, g_stream_indices, g_thread_defaults, g_system_log, g_text_domain;
char g_next_user, g_next_group, g_next_host, g_next_network, g_next_protocol;
char g_next_service, g_next_session, g_next_file_system;
char g_loaded_locales;

namespace {

constexpr struct {
  const char* place;
  const char* name;
} kHidden[] = {
    {&g_strtok_state, "the place where strtok goes on"},
    {&g_multibyte_state, "the shift state of mblen, mbtowc and wctomb"},
    {&g_locale_state, "the locale"},
    {&g_search_table, "the table of hsearch"},
    {&g_drand48_state, "the state of drand48 and its relatives"},
    {&g_zone_state, "the time zone"},
    {&g_terminate_handler, "the terminate handler"},
    {&g_unexpected_handler, "the unexpected handler"},
    {&g_new_handler, "the new handler"},
    {&g_global_locale, "the global locale of the C++ library"},
    {&g_stream_indices, "the next index of std::ios_base::xalloc"},
    {&g_thread_defaults, "the defaults of threads"},
    {&g_system_log, "the settings of syslog"},
    {&g_text_domain, "the domains of gettext"},
    {&g_next_user, "the place where getpwent goes on"},
    {&g_next_group, "the place where getgrent goes on"},
    {&g_next_host, "the place where gethostent goes on"},
    {&g_next_network, "the place where getnetent goes on"},
    {&g_next_protocol, "the place where getprotoent goes on"},
    {&g_next_service, "the place where getservent goes on"},
    {&g_next_session, "the place where getutent goes on"},
    {&g_next_file_system, "the place where getfsent goes on"},
    {&g_loaded_locales, "the locales that are loaded"},
};

// setenv and its relatives lock each other out; getenv does not.
class EnvironmentChange {
 public:
  explicit EnvironmentChange(uint64_t pc) {
    if (!g_program_running) return;
    EngineScope scope;
    const auto place = reinterpret_cast<uintptr_t>(&environ);
    g_scheduler.BeforeAccess(place, sizeof environ, kReadWrite, 0, pc);
    BeforeOperation(kPpLock, pc, OperationDetail::kNone);
    const Cell lock = SharedStateCell(SharedState::kEnvironment);
    g_scheduler.RecordCell(lock, kReadWrite, kValueRelevant | kAcquire, pc);
    g_scheduler.Progress();
    g_scheduler.RecordMemory(place, sizeof environ, kReadWrite, 0, pc, MemoryOrder::kRelaxed);
    g_scheduler.RecordCell(lock, kWrite, kRelease, pc);
    changes_ = true;
  }
  ~EnvironmentChange() {
    if (!changes_) return;
    EngineScope scope;
    AfterOperation(kPpUnlock);
  }

 private:
  bool changes_ = false;
};

void ReadsEnvironment(const char* name, uint64_t pc) {
  ReadsString(name, pc);
  Reads(&environ, sizeof environ, pc);
}

// A call that is to give back a pointer to a result that the C library keeps; it reads `size` bytes
// at `argument`, and the environment if `of_zone`. All is recorded after the call, so that no
// preemption comes in between.
template <typename Result, typename Argument, typename Function>
Result* KeepsResult(Function call, const Argument* argument, bool of_zone, uint64_t pc) {
  static char anywhere;  // the result's place is not known yet, and only the call's counts
  WillWrite(&anywhere, 1, pc);
  if (of_zone && g_program_running) BeforeHidden(&g_zone_state, pc);
  Result* const result = call();
  if (!g_program_running) return result;
  if (argument != nullptr) HasRead(argument, sizeof *argument, pc);
  if (of_zone) RecordTouched({In(&environ), LookedUpZone(pc)}, pc);
  if (result == nullptr) return result;
  if constexpr (sizeof(Result) == 1) {
    HasWritten(result, LengthOf(result) + 1, pc);
  } else {
    HasWritten(result, sizeof *result, pc);
  }
  return result;
}

// The end of a token that strtok or strtok_r found is written.
char* FoundToken(char* token, uint64_t pc) {
  if (token == nullptr || !g_program_running) return token;
  const size_t length = LengthOf(token);
  HasRead(token, length + 1, pc);
  HasWritten(token + length, 1, pc);
  return token;
}

void RecordOptions(uint64_t pc) {
  HasWritten(&optind, sizeof optind, pc);
  HasWritten(&optarg, sizeof optarg, pc);
  HasWritten(&optopt, sizeof optopt, pc);
}

}  // namespace

const char* NameOfHiddenState(uintptr_t address) {
  for (const auto& one : kHidden) {
    if (reinterpret_cast<uintptr_t>(one.place) == address) return one.name;
  }
  if (address - reinterpret_cast<uintptr_t>(&environ) < sizeof environ) return "the environment";
  if (IsKeyPlace(address)) return "a thread-specific key";
  return nullptr;
}

}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

// ---- The environment

MC_EXPORT char* getenv(const char* name) noexcept {
  MC_REAL_OF(getenv);
  ReadsEnvironment(name, MC_CALLER_PC());
  return real(name);
}
MC_EXPORT char* secure_getenv(const char* name) noexcept {
  MC_REAL_OF(secure_getenv);
  ReadsEnvironment(name, MC_CALLER_PC());
  return real(name);
}
MC_EXPORT int setenv(const char* name, const char* value, int overwrites) noexcept {
  MC_REAL_OF(setenv);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(name, pc);
  ReadsString(value, pc);
  const EnvironmentChange change(pc);
  return real(name, value, overwrites);
}
MC_EXPORT int unsetenv(const char* name) noexcept {
  MC_REAL_OF(unsetenv);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(name, pc);
  const EnvironmentChange change(pc);
  return real(name);
}
MC_EXPORT int putenv(char* text) noexcept {
  MC_REAL_OF(putenv);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(text, pc);
  const EnvironmentChange change(pc);
  return real(text);
}
MC_EXPORT int clearenv() noexcept {
  MC_REAL_OF(clearenv);
  const EnvironmentChange change(MC_CALLER_PC());
  return real();
}

// ---- Strings

MC_EXPORT char* strtok(char* text, const char* delimiters) noexcept {
  MC_REAL_OF(strtok);
  const uint64_t pc = MC_CALLER_PC();
  ReadsString(delimiters, pc);
  ReadsAndWrites(&g_strtok_state, 1, pc);
  return FoundToken(real(text, delimiters), pc);
}
namespace {
using StrtokR = char* (*)(char*, const char*, char**);
char* Token(StrtokR real, char* text, const char* delimiters, char** next, uint64_t pc) {
  ReadsString(delimiters, pc);
  if (text == nullptr) {
    ReadsAndWrites(next, sizeof *next, pc);
  } else {
    Writes(next, sizeof *next, pc);
  }
  return FoundToken(real(text, delimiters, next), pc);
}
}  // namespace
MC_EXPORT char* strtok_r(char* text, const char* delimiters, char** next) noexcept {
  MC_REAL_OF(strtok_r);
  return Token(real, text, delimiters, next, MC_CALLER_PC());
}
MC_EXPORT char* __strtok_r(char* text, const char* delimiters, char** next) noexcept {
  static StrtokR known;
  return Token(Find(&known, "__strtok_r"), text, delimiters, next, MC_CALLER_PC());
}

// ---- Times

MC_EXPORT tm* localtime(const time_t* time) noexcept {
  MC_REAL_OF(localtime);
  return KeepsResult<tm>([&] { return real(time); }, time, true, MC_CALLER_PC());
}
MC_EXPORT tm* gmtime(const time_t* time) noexcept {
  MC_REAL_OF(gmtime);
  return KeepsResult<tm>([&] { return real(time); }, time, false, MC_CALLER_PC());
}
MC_EXPORT char* asctime(const tm* time) noexcept {
  MC_REAL_OF(asctime);
  return KeepsResult<char>([&] { return real(time); }, time, false, MC_CALLER_PC());
}
MC_EXPORT char* ctime(const time_t* time) noexcept {
  MC_REAL_OF(ctime);
  return KeepsResult<char>([&] { return real(time); }, time, true, MC_CALLER_PC());
}

// ---- The locale

MC_EXPORT lconv* localeconv() noexcept {
  MC_REAL_OF(localeconv);
  const uint64_t pc = MC_CALLER_PC();
  if (g_program_running) RecordTouched({Locale()}, pc);
  return KeepsResult<lconv>([&] { return real(); }, static_cast<const char*>(nullptr), false, pc);
}

// ---- Options

MC_EXPORT int getopt(int count, char* const* arguments, const char* options) noexcept {
  MC_REAL_OF(getopt);
  const uint64_t pc = MC_CALLER_PC();
  Writes(&optind, sizeof optind, pc);
  const int result = real(count, arguments, options);
  RecordOptions(pc);
  return result;
}
#define MC_GETOPT_LONG(name)                                                 \
  MC_EXPORT int name(int count, char* const* arguments, const char* options, \
                     const option* long_options, int* index) noexcept {      \
    MC_REAL_OF(name);                                                        \
    const uint64_t pc = MC_CALLER_PC();                                      \
    Writes(&optind, sizeof optind, pc);                                      \
    const int result = real(count, arguments, options, long_options, index); \
    RecordOptions(pc);                                                       \
    return result;                                                           \
  }
MC_GETOPT_LONG(getopt_long)
MC_GETOPT_LONG(getopt_long_only)
