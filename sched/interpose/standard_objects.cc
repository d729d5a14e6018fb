// Objects of the C++ library that have a function or two compiled into it: thread handles,
// condition variables, exception pointers (see exception_pointer.cc for their counts), locales.
#include <locale>
#include <thread>

#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real.h"
#include "sched/interpose/real_function.h"

namespace mc::sched {
namespace {

// The condition_variable class as it is laid out; its header would bring its inline functions too.
constexpr size_t kConditionVariableSize = 48;

// A locale is a pointer to its parts, which begin with a count of the locales that share them. The
// parts of the classic one are not counted.
void* PartsOf(const std::locale* locale) { return *reinterpret_cast<void* const*>(locale); }

bool IsClassic(const void* parts) {
  return parts == PartsOf(static_cast<const std::locale*>(Real().locale_classic()));
}

void CountLocale(void* parts, uint64_t pc) {
  if (!g_program_running) return;
  EngineScope scope;
  if (IsClassic(parts)) return;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(parts), sizeof(int), kReadWrite, kAtomic,
                     ProgramCaller(pc), MemoryOrder::kAcqRel);
}

// The same where it has just been done.
void HasCountedLocale(void* parts, uint64_t pc) {
  if (!g_program_running) return;
  EngineScope scope;
  if (IsClassic(parts)) return;
  g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(parts), sizeof(int), kReadWrite, kAtomic,
                           ProgramCaller(pc), MemoryOrder::kAcqRel);
}

// Streams copy locales all the time, inside the library; these are theirs alone.
bool IsOfProgram(uint64_t pc) { return g_program_running && !IsInStandardLibrary(pc); }

void CopyLocale(std::locale* self, const std::locale* other, uint64_t pc) {
  if (IsOfProgram(pc)) {
    AccessByLibrary(other, sizeof *other, kRead, pc);
    AccessByLibrary(self, sizeof *self, kWrite, pc);
  }
  CountLocale(PartsOf(other), pc);
  Real().locale_copy(self, other);
}
void DestroyLocale(std::locale* self, uint64_t pc) {
  if (IsOfProgram(pc)) AccessByLibrary(self, sizeof *self, kReadWrite, pc);
  CountLocale(PartsOf(self), pc);
  Real().locale_destroy(self);
}

void CopyGlobalLocale(std::locale* self, uint64_t pc) {
  static void (*known)(std::locale*);
  AccessByLibrary(&g_global_locale, 1, kRead, pc, kAtomic, MemoryOrder::kAcqRel);
  Find(&known, "_ZNSt6localeC1Ev")(self);
  HasCountedLocale(PartsOf(self), pc);
  if (IsOfProgram(pc)) AccessByLibrary(self, sizeof *self, kWrite, pc);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

MC_EXPORT void _ZNSt6thread4joinEv(std::thread* self) {
  const uint64_t pc = MC_CALLER_PC();
  AccessByLibrary(self, sizeof *self, kRead, pc);
  Real().thread_join(self);
  AccessByLibrary(self, sizeof *self, kWrite, pc);
}
MC_EXPORT void _ZNSt6thread6detachEv(std::thread* self) {
  const uint64_t pc = MC_CALLER_PC();
  AccessByLibrary(self, sizeof *self, kRead, pc);
  Real().thread_detach(self);
  AccessByLibrary(self, sizeof *self, kWrite, pc);
}

MC_EXPORT void _ZNSt18condition_variableC1Ev(void* self) {
  AccessByLibrary(self, kConditionVariableSize, kWrite, MC_CALLER_PC());
  Real().condition_variable_construct(self);
}
MC_EXPORT void _ZNSt18condition_variableC2Ev(void* self) {
  AccessByLibrary(self, kConditionVariableSize, kWrite, MC_CALLER_PC());
  Real().condition_variable_construct(self);
}

// The global locale lies behind a lock of the library.
MC_EXPORT void _ZNSt6localeC1Ev(std::locale* self) { CopyGlobalLocale(self, MC_CALLER_PC()); }
MC_EXPORT void _ZNSt6localeC2Ev(std::locale* self) { CopyGlobalLocale(self, MC_CALLER_PC()); }
MC_EXPORT void mc_locale_global(std::locale* old,
                                const std::locale* other) __asm__("_ZNSt6locale6globalERKS_");
MC_EXPORT void mc_locale_global(std::locale* old, const std::locale* other) {
  static void (*known)(std::locale*, const std::locale*);
  const uint64_t pc = MC_CALLER_PC();
  if (IsOfProgram(pc)) AccessByLibrary(other, sizeof *other, kRead, pc);
  AccessByLibrary(&g_global_locale, 1, kReadWrite, pc, kAtomic, MemoryOrder::kAcqRel);
  CountLocale(PartsOf(other), pc);
  Find(&known, "_ZNSt6locale6globalERKS_")(old, other);
  if (IsOfProgram(pc)) AccessByLibrary(old, sizeof *old, kWrite, pc);
}

MC_EXPORT void _ZNSt6localeC1ERKS_(std::locale* self, const std::locale* other) {
  CopyLocale(self, other, MC_CALLER_PC());
}
MC_EXPORT void _ZNSt6localeC2ERKS_(std::locale* self, const std::locale* other) {
  CopyLocale(self, other, MC_CALLER_PC());
}
MC_EXPORT void _ZNSt6localeD1Ev(std::locale* self) { DestroyLocale(self, MC_CALLER_PC()); }
MC_EXPORT void _ZNSt6localeD2Ev(std::locale* self) { DestroyLocale(self, MC_CALLER_PC()); }
MC_EXPORT const std::locale* _ZNSt6localeaSERKS_(std::locale* self, const std::locale* other) {
  const uint64_t pc = MC_CALLER_PC();
  if (IsOfProgram(pc)) {
    AccessByLibrary(other, sizeof *other, kRead, pc);
    AccessByLibrary(self, sizeof *self, kReadWrite, pc);
  }
  CountLocale(PartsOf(other), pc);
  CountLocale(PartsOf(self), pc);
  return Real().locale_assign(self, other);
}
