// std::set_terminate, std::set_new_handler and std::set_unexpected, and what asks for these
// handlers: atomic accesses to variables, which the compiled part of the C++ library makes.
#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"

namespace mc::sched {
namespace {

using Handler = void (*)();

void Access(char* handler, uint8_t mode, uint64_t pc) {
  if (g_program_running) AccessByLibrary(handler, 1, mode, pc, kAtomic, MemoryOrder::kAcqRel);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the C++ library's

#define MC_HANDLER(set, get, place)                          \
  MC_EXPORT Handler mc_##set(Handler handler) __asm__(#set); \
  MC_EXPORT Handler mc_##set(Handler handler) {              \
    static Handler (*known)(Handler);                        \
    const auto real = Find(&known, #set);                    \
    Access(&place, kReadWrite, MC_CALLER_PC());              \
    return real(handler);                                    \
  }                                                          \
  MC_EXPORT Handler mc_##get() __asm__(#get);                \
  MC_EXPORT Handler mc_##get() {                             \
    static Handler (*known)();                               \
    const auto real = Find(&known, #get);                    \
    Access(&place, kRead, MC_CALLER_PC());                   \
    return real();                                           \
  }
MC_HANDLER(_ZSt13set_terminatePFvvE, _ZSt13get_terminatev, g_terminate_handler)
MC_HANDLER(_ZSt14set_unexpectedPFvvE, _ZSt14get_unexpectedv, g_unexpected_handler)
MC_HANDLER(_ZSt15set_new_handlerPFvvE, _ZSt15get_new_handlerv, g_new_handler)

// Uncaught exceptions come here too.
MC_EXPORT void mc_terminate() __asm__("_ZSt9terminatev");
MC_EXPORT void mc_terminate() {
  static Handler known;
  const auto real = Find(&known, "_ZSt9terminatev");
  Access(&g_terminate_handler, kRead, MC_CALLER_PC());
  real();
}
