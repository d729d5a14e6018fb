// Functions of the C library that convert between characters of one and of several bytes: what each
// touches (library_call.h). Those that are given no state use one of their own.
#include <stdlib.h>
#include <uchar.h>
#include <wchar.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

using W = wchar_t;

constexpr size_t kInvalid = static_cast<size_t>(-1);
constexpr size_t kIncomplete = static_cast<size_t>(-2);

Touch Shift(const mbstate_t* state) {
  return state == nullptr ? InOut(&g_multibyte_state, 1) : InOut(state);
}
Touch OwnShift() { return Out(&g_multibyte_state, 1); }

// The bytes of one character, of which `size` are there.
Touch Character(const char* text, size_t size, size_t result) {
  if (text == nullptr) return In(text, 0);
  if (result == kInvalid) return In(text, 1);
  return In(text, result == kIncomplete ? size : std::max(result, size_t{1}));
}
Touch OwnCharacter(const char* text, int result) {
  return Character(text, 1, result < 0 ? kInvalid : static_cast<size_t>(result));
}

// `count` elements and the end, as far as there is room for `most`; no end after a mistake.
template <typename T>
Touch Converted(T* to, size_t count, size_t most) {
  if (to == nullptr) return Out(to, 0);
  return Out(
      to, sizeof(T) * (count == kInvalid ? std::min(most, size_t{1}) : std::min(count + 1, most)));
}

// A text that was converted up to where `*place` now is; to its end, if that is null.
template <typename T>
class Progress {
 public:
  Progress(const T** place, size_t most) : place_(place), begin_(*place), most_(most) {}
  Touch Read(const void* to) const {
    if (to == nullptr || *place_ == nullptr) return Text(begin_, most_);
    return In(begin_, sizeof(T) * static_cast<size_t>(*place_ - begin_));
  }
  Touch Place(const void* to) const { return to == nullptr ? In(place_) : InOut(place_); }

 private:
  const T** place_;
  const T* begin_;
  size_t most_;
};

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

// ---- One character

MC_TOUCHES(int, mblen, (const char* text, size_t size), (text, size), OwnShift(),
           OwnCharacter(text, result), Locale())
MC_TOUCHES(int, mbtowc, (W* to, const char* text, size_t size), (to, text, size), OwnShift(),
           OwnCharacter(text, result), text == nullptr || result < 0 ? Out(to, 0) : Out(to), Locale())
MC_TOUCHES(int, wctomb, (char* to, W c), (to, c), OwnShift(),
           Out(to, result < 0 ? 0 : static_cast<size_t>(result)), Locale())
MC_TOUCHES(size_t, mbrlen, (const char* text, size_t size, mbstate_t* state), (text, size, state),
           Shift(state), Character(text, size, result), Locale())
#define MC_READ_CHARACTER(name, type)                                                            \
  MC_TOUCHES(size_t, name, (type* to, const char* text, size_t size, mbstate_t* state),          \
             (to, text, size, state), Shift(state), Character(text, size, result),               \
             text == nullptr || result >= kIncomplete ? Out(to, 0) : Out(to), Locale())
MC_READ_CHARACTER(mbrtowc, W)
MC_READ_CHARACTER(mbrtoc16, char16_t)
MC_READ_CHARACTER(mbrtoc32, char32_t)
#define MC_WRITE_CHARACTER(name, type)                                                           \
  MC_TOUCHES(size_t, name, (char* to, type c, mbstate_t* state), (to, c, state), Shift(state),   \
             Out(to, result == kInvalid ? 0 : result), Locale())
MC_WRITE_CHARACTER(wcrtomb, W)
MC_WRITE_CHARACTER(c16rtomb, char16_t)
MC_WRITE_CHARACTER(c32rtomb, char32_t)
MC_TOUCHES(int, mbsinit, (const mbstate_t* state), (state), In(state))

// ---- Strings

MC_TOUCHES(size_t, mbstowcs, (W* to, const char* from, size_t n), (to, from, n),
           Text(from, to == nullptr || result == kInvalid ? SIZE_MAX : result + 1),
           Converted(to, result, n), Locale())
MC_TOUCHES(size_t, wcstombs, (char* to, const W* from, size_t n), (to, from, n), Text(from),
           Converted(to, result, n), Locale())

// The source moves: where it was is looked at before.
#define MC_CONVERTS(name, to_type, from_type, more, more_names, most, limit)                     \
  MC_EXPORT size_t mc_c_##name(to_type* to, const from_type** from more, size_t n,               \
                               mbstate_t* state) __asm__(#name);                                 \
  MC_EXPORT size_t mc_c_##name(to_type* to, const from_type** from more, size_t n,               \
                               mbstate_t* state) {                                               \
    static decltype(&mc_c_##name) known;                                                         \
    const auto real = Find(&known, #name);                                                       \
    if (!g_program_running) return real(to, from more_names, n, state);                          \
    const uint64_t pc = MC_CALLER_PC();                                                          \
    BeforeLibraryCall(pc);                                                                       \
    const Progress<from_type> progress(from, most);                                              \
    const size_t result = real(to, from more_names, n, state);                                   \
    RecordTouched({Shift(state), progress.Read(to), progress.Place(to),                          \
                   Converted(to, result, limit), Locale()}, pc);                                          \
    return result;                                                                               \
  }
#define MC_NONE
#define MC_MOST , size_t size
#define MC_MOST_NAME , size
MC_CONVERTS(mbsrtowcs, W, char, MC_NONE, MC_NONE, SIZE_MAX, n)
MC_CONVERTS(wcsrtombs, char, W, MC_NONE, MC_NONE, SIZE_MAX, n)
MC_CONVERTS(mbsnrtowcs, W, char, MC_MOST, MC_MOST_NAME, size, n)
MC_CONVERTS(wcsnrtombs, char, W, MC_MOST, MC_MOST_NAME, size, n)
