// iconv. Opening a conversion loads a library, which stays loaded for good: what the C library and
// the loader keep of it is no memory of the program.
#include <iconv.h>

#include <cstdint>
#include <vector>

#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/shared_state.h"
#include "sched/system_call_watch.h"

namespace mc::sched {
namespace {

// A conversion has a state, which each use changes. It lies where the loader's state does: a number
// stands for it that is the same in every execution.
struct Conversion {
  iconv_t handle;
  uint64_t number;
};
std::vector<Conversion>& Conversions() {
  static std::vector<Conversion>* conversions = nullptr;  // for good
  if (conversions == nullptr) conversions = new std::vector<Conversion>;
  return *conversions;
}
void Remember(iconv_t handle) {
  std::erase_if(Conversions(), [=](const Conversion& one) { return one.handle == handle; });
  Thread& thread = g_scheduler.current();
  Conversions().push_back({handle, uint64_t{thread.id} << 20 | thread.random_draws++});
}
void RecordConversion(iconv_t handle, uint64_t pc) {
  EngineScope scope;
  for (const Conversion& one : Conversions()) {
    if (one.handle != handle) continue;
    g_scheduler.RecordCell(ConversionCell(one.number), kReadWrite, kValueRelevant, pc);
  }
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C library's

MC_EXPORT iconv_t iconv_open(const char* to, const char* from) {
  MC_REAL_OF(iconv_open);
  if (!g_program_running) return real(to, from);
  const uint64_t pc = MC_CALLER_PC();
  BeforeLibraryCall(pc);
  EngineScope scope;
  g_system_call_made = true;  // no checkpoint knows what the loader has done
  const iconv_t result = real(to, from);
  Remember(result);
  RecordTouchedInScope({Text(to), Text(from), Locale()}, pc);
  return result;
}
MC_EXPORT int iconv_close(iconv_t conversion) {
  MC_REAL_OF(iconv_close);
  if (!g_program_running) return real(conversion);
  const uint64_t pc = MC_CALLER_PC();
  BeforeLibraryCall(pc);
  RecordConversion(conversion, pc);
  EngineScope scope;
  g_system_call_made = true;
  return real(conversion);
}
// The places move: where they were is looked at before.
MC_EXPORT size_t iconv(iconv_t conversion, char** from, size_t* from_left, char** to,
                       size_t* to_left) {
  MC_REAL_OF(iconv);
  if (!g_program_running) return real(conversion, from, from_left, to, to_left);
  const uint64_t pc = MC_CALLER_PC();
  BeforeLibraryCall(pc);
  const char* const in = from == nullptr ? nullptr : *from;
  char* const out = to == nullptr ? nullptr : *to;
  const size_t result = real(conversion, from, from_left, to, to_left);
  RecordConversion(conversion, pc);
  if (in != nullptr) {
    RecordTouched({In(in, static_cast<size_t>(*from - in)), InOut(from), InOut(from_left)}, pc);
  }
  if (out != nullptr) {
    RecordTouched({Out(out, static_cast<size_t>(*to - out)), InOut(to), InOut(to_left)}, pc);
  }
  return result;
}
