// The state of a stream of the C++ library: whether it is good, how it formats, what it writes to,
// its locale. The inline functions for it are part of the program, and their accesses are seen one
// by one; those here are compiled into the library, where they are not. What they do is recorded as
// one access to the state as a whole.
//
// If it is the library that calls them, then for a function of a stream, which has made a sentry:
// that has been recorded already (standard_streams.cc); but not if it moves or swaps streams.
//
// This file is compiled with exceptions: streams throw them if they are told to.
#include <ios>
#include <istream>
#include <ostream>

#include "sched/interpose/export.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/standard_streams.h"

namespace mc::sched {
namespace {

template <typename State>
void Use(const State* state, uint8_t mode, uint64_t pc) {
  AccessByLibrary(ContentOf(state), kContentSize<State>, mode, pc);
}
template <typename State>
void UseByProgram(const State* state, uint8_t mode, uint64_t pc) {
  if (g_program_running && !IsInStandardLibrary(pc)) Use(state, mode, pc);
}

template <typename Character>
using State = std::basic_ios<Character>;

// A std::locale that is returned: where the caller wants it.
using Result = void*;

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// ---- What asks, and what changes

#define MC_STATE_FUNCTION(symbol, Of, use, mode, type, parameters, arguments) \
  MC_EXPORT type symbol parameters {                                          \
    static decltype(&::symbol) known;                                         \
    const auto real = Find(&known, #symbol);                                  \
    use(static_cast<const Of*>(self), mode, MC_CALLER_PC());                  \
    return real arguments;                                                    \
  }
#define MC_ASKS(symbol, Character, type) \
  MC_STATE_FUNCTION(symbol, State<Character>, UseByProgram, kRead, type, (const void* self), (self))
#define MC_ASKS_FOR(symbol, Character, type, A)                                                   \
  MC_STATE_FUNCTION(symbol, State<Character>, UseByProgram, kRead, type, (const void* self, A a), \
                    (self, a))
#define MC_SETS(symbol, Character, type, A)                                                      \
  MC_STATE_FUNCTION(symbol, State<Character>, UseByProgram, kReadWrite, type, (void* self, A a), \
                    (self, a))

// The other stream changes too.
#define MC_MOVES(symbol, Of)                            \
  MC_EXPORT void symbol(void* self, void* other) {      \
    static decltype(&::symbol) known;                   \
    const auto real = Find(&known, #symbol);            \
    const uint64_t pc = MC_CALLER_PC();                 \
    Use(static_cast<const Of*>(self), kReadWrite, pc);  \
    Use(static_cast<const Of*>(other), kReadWrite, pc); \
    real(self, other);                                  \
  }

// `ostream` and `buffer`: the mangled names of the types of what is tied and written to.
#define MC_STATE(P, Q, Character, code, ostream)                                               \
  MC_ASKS(Q##7rdstateEv, Character, int)                                                       \
  MC_ASKS(Q##4goodEv, Character, bool)                                                         \
  MC_ASKS(Q##3eofEv, Character, bool)                                                          \
  MC_ASKS(Q##4failEv, Character, bool)                                                         \
  MC_ASKS(Q##3badEv, Character, bool)                                                          \
  MC_ASKS(Q##cvbEv, Character, bool)                                                           \
  MC_ASKS(Q##ntEv, Character, bool)                                                            \
  MC_ASKS(Q##10exceptionsEv, Character, int)                                                   \
  MC_ASKS(Q##3tieEv, Character, void*)                                                         \
  MC_ASKS(Q##5rdbufEv, Character, void*)                                                       \
  MC_ASKS(Q##4fillEv, Character, Character)                                                    \
  MC_ASKS_FOR(Q##5widenEc, Character, Character, char)                                         \
  MC_SETS(P##5clearESt12_Ios_Iostate, Character, void, int)                                    \
  MC_SETS(P##8setstateESt12_Ios_Iostate, Character, void, int)                                 \
  MC_SETS(P##11_M_setstateESt12_Ios_Iostate, Character, void, int)                             \
  MC_SETS(P##10exceptionsESt12_Ios_Iostate, Character, void, int)                              \
  MC_SETS(P##3tieEP##ostream, Character, void*, void*)                                         \
  MC_SETS(P##4fillE##code, Character, Character, Character)                                    \
  MC_SETS(P##5rdbufEPSt15basic_streambufI##code##S1_E, Character, void*, void*)                \
  MC_SETS(P##9set_rdbufEPSt15basic_streambufI##code##S1_E, Character, void, void*)             \
  MC_MOVES(P##4swapERS2_, State<Character>)                                                    \
  MC_MOVES(P##4moveERS2_, State<Character>)                                                    \
  MC_MOVES(P##4moveEOS2_, State<Character>)                                                    \
  MC_EXPORT void* P##7copyfmtERKS2_(void* self, const void* other) {                           \
    static decltype(&::P##7copyfmtERKS2_) known;                                               \
    const auto real = Find(&known, #P "7copyfmtERKS2_");                                       \
    const uint64_t pc = MC_CALLER_PC();                                                        \
    UseByProgram(static_cast<const State<Character>*>(other), kRead, pc);                      \
    UseByProgram(static_cast<const State<Character>*>(self), kReadWrite, pc);                  \
    return real(self, other);                                                                  \
  }                                                                                            \
  MC_STATE_FUNCTION(P##5imbueERKSt6locale, State<Character>, UseByProgram, kReadWrite, Result, \
                    (Result to, void* self, const void* locale), (to, self, locale))

MC_STATE(_ZNSt9basic_iosIcSt11char_traitsIcEE, _ZNKSt9basic_iosIcSt11char_traitsIcEE, char, c, So)
MC_STATE(_ZNSt9basic_iosIwSt11char_traitsIwEE, _ZNKSt9basic_iosIwSt11char_traitsIwEE, wchar_t, w,
         St13basic_ostreamIwS1_E)

#define MC_READ_COUNT(symbol, Character)                                              \
  MC_EXPORT std::streamsize symbol(const std::basic_istream<Character>* self) {       \
    static decltype(&::symbol) known;                                                 \
    AccessByLibrary(ContentOf(self), sizeof(std::streamsize), kRead, MC_CALLER_PC()); \
    return Find(&known, #symbol)(self);                                               \
  }
MC_READ_COUNT(_ZNKSi6gcountEv, char)
MC_READ_COUNT(_ZNKSt13basic_istreamIwSt11char_traitsIwEE6gcountEv, wchar_t)

// ---- What all streams have in common

#define MC_BASE_FUNCTION(symbol, type, parameters, arguments) \
  MC_STATE_FUNCTION(symbol, std::ios_base, UseByProgram, kReadWrite, type, parameters, arguments)
MC_BASE_FUNCTION(_ZNSt8ios_base5imbueERKSt6locale, Result,
                 (Result to, void* self, const void* locale), (to, self, locale))
MC_BASE_FUNCTION(_ZNSt8ios_base17register_callbackEPFvNS_5eventERS_iEi, void,
                 (void* self, void (*function)(), int index), (self, function, index))
MC_BASE_FUNCTION(_ZNSt8ios_base13_M_grow_wordsEib, void*, (void* self, int index, bool is_word),
                 (self, index, is_word))
MC_MOVES(_ZNSt8ios_base7_M_moveERS_, std::ios_base)
MC_MOVES(_ZNSt8ios_base7_M_swapERS_, std::ios_base)

// Which number is next is kept in an atomic.
MC_EXPORT int _ZNSt8ios_base6xallocEv() {
  static int (*known)();
  AccessByLibrary(&g_stream_indices, 1, kReadWrite, MC_CALLER_PC(), kAtomic, MemoryOrder::kAcqRel);
  return Find(&known, "_ZNSt8ios_base6xallocEv")();
}
MC_EXPORT bool _ZNSt8ios_base15sync_with_stdioEb(bool sync) {
  static bool (*known)(bool);
  ChangeStandardStreams(MC_CALLER_PC());
  return Find(&known, "_ZNSt8ios_base15sync_with_stdioEb")(sync);
}
