// Stream buffers of the C++ library that the program uses without a stream: sputn() and its like
// call functions that are compiled into the library, where their accesses are not seen. What they
// do to the buffer is recorded as one access: they change it. (Where inline functions become part
// of the program, their accesses are seen one by one.)
//
// If it is the library that calls them, then for a function of a stream, which has made a sentry:
// that has been recorded already (standard_streams.cc).
//
// This file is compiled with exceptions: buffers of the program throw them.
#include <cwchar>
#include <streambuf>
#include <string>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real_function.h"

namespace mc::sched {
namespace {

template <typename Character>
using Buffer = std::basic_streambuf<Character>;

// A std::streampos, as C functions may return it.
struct Position {
  std::streamoff offset;
  std::mbstate_t state;
};
static_assert(sizeof(Position) == sizeof(std::streampos));

template <typename Character>
void Change(const Buffer<Character>* buffer, uint64_t pc) {
  AccessByLibrary(ContentOf(buffer), kContentSize<Buffer<Character>>, kReadWrite, pc);
}

bool IsOfProgram(uint64_t pc) { return g_program_running && !IsInStandardLibrary(pc); }

template <typename Character>
void ChangeByProgram(const Buffer<Character>* buffer, uint64_t pc) {
  if (IsOfProgram(pc)) Change(buffer, pc);
}

size_t BytesOf(std::streamsize count, size_t character) {
  return count > 0 ? static_cast<size_t>(count) * character : 0;
}

template <typename Character, typename Function>
std::streamsize Put(Function real, Buffer<Character>* self, const Character* text,
                    std::streamsize count, uint64_t pc) {
  if (IsOfProgram(pc)) {
    AccessByLibrary(text, BytesOf(count, sizeof(Character)), kRead, pc);
    Change(self, pc);
  }
  return real(self, text, count);
}

template <typename Character, typename Function>
std::streamsize Get(Function real, Buffer<Character>* self, Character* place, std::streamsize count,
                    uint64_t pc) {
  if (!IsOfProgram(pc)) return real(self, place, count);
  Change(self, pc);
  AccessDuringCall access(place, BytesOf(count, sizeof(Character)), kWrite, pc);
  const std::streamsize got = real(self, place, count);
  access.SetSize(BytesOf(got, sizeof(Character)));
  return got;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// Functions of streams call some without a sentry: those count whoever calls.
#define MC_CHANGE_0(note, symbol, Character, Result) \
  MC_EXPORT Result symbol(Buffer<Character>* self) { \
    static Result (*known)(Buffer<Character>*);      \
    note(self, MC_CALLER_PC());                      \
    return Find(&known, #symbol)(self);              \
  }
#define MC_CHANGE_1(note, symbol, Character, Result, A)   \
  MC_EXPORT Result symbol(Buffer<Character>* self, A a) { \
    static Result (*known)(Buffer<Character>*, A);        \
    note(self, MC_CALLER_PC());                           \
    return Find(&known, #symbol)(self, a);                \
  }
#define MC_CHANGE_2(note, symbol, Character, Result, A, B)     \
  MC_EXPORT Result symbol(Buffer<Character>* self, A a, B b) { \
    static Result (*known)(Buffer<Character>*, A, B);          \
    note(self, MC_CALLER_PC());                                \
    return Find(&known, #symbol)(self, a, b);                  \
  }
#define MC_CHANGE_3(note, symbol, Character, Result, A, B, C)       \
  MC_EXPORT Result symbol(Buffer<Character>* self, A a, B b, C c) { \
    static Result (*known)(Buffer<Character>*, A, B, C);            \
    note(self, MC_CALLER_PC());                                     \
    return Find(&known, #symbol)(self, a, b, c);                    \
  }
// The locale is returned where the caller wants it.
#define MC_CHANGE_LOCALE(symbol, Character)                                       \
  MC_EXPORT void* symbol(void* to, Buffer<Character>* self, const void* locale) { \
    static void* (*known)(void*, Buffer<Character>*, const void*);                \
    ChangeByProgram(self, MC_CALLER_PC());                                        \
    return Find(&known, #symbol)(to, self, locale);                               \
  }
#define MC_PUT(symbol, Character)                                                           \
  MC_EXPORT std::streamsize symbol(Buffer<Character>* self, const Character* text,          \
                                   std::streamsize count) {                                 \
    static std::streamsize (*known)(Buffer<Character>*, const Character*, std::streamsize); \
    return Put(Find(&known, #symbol), self, text, count, MC_CALLER_PC());                   \
  }
#define MC_GET(symbol, Character)                                                     \
  MC_EXPORT std::streamsize symbol(Buffer<Character>* self, Character* place,         \
                                   std::streamsize count) {                           \
    static std::streamsize (*known)(Buffer<Character>*, Character*, std::streamsize); \
    return Get(Find(&known, #symbol), self, place, count, MC_CALLER_PC());            \
  }

// `code` and `whole` are the mangled names of the types of a character, and of a character or the
// end.
#define MC_BUFFER(Character, code, Whole)                                                         \
  MC_PUT(_ZNSt15basic_streambufI##code##St11char_traitsI##code##EE6xsputnEPK##code##l, Character) \
  MC_GET(_ZNSt15basic_streambufI##code##St11char_traitsI##code##EE6xsgetnEP##code##l, Character)  \
  MC_CHANGE_0(ChangeByProgram, _ZNSt15basic_streambufI##code##St11char_traitsI##code##EE5uflowEv, \
              Character, Whole)                                                                   \
  MC_INLINE_FUNCTIONS(_ZNSt15basic_streambufI##code##St11char_traitsI##code##EE, Character, code, \
                      Whole)
// These are inline, but not every compiler makes them part of the program each time. Those of them
// that call a virtual function call it from the library.
#define MC_INLINE_FUNCTIONS(prefix, Character, code, Whole)                                        \
  MC_CHANGE_0(ChangeByProgram, prefix##6sbumpcEv, Character, Whole)                                \
  MC_CHANGE_0(ChangeByProgram, prefix##6snextcEv, Character, Whole)                                \
  MC_CHANGE_0(ChangeByProgram, prefix##5sgetcEv, Character, Whole)                                 \
  MC_CHANGE_0(ChangeByProgram, prefix##7sungetcEv, Character, Whole)                               \
  MC_CHANGE_0(ChangeByProgram, prefix##7pubsyncEv, Character, int)                                 \
  MC_CHANGE_0(ChangeByProgram, prefix##8in_availEv, Character, std::streamsize)                    \
  MC_CHANGE_1(ChangeByProgram, prefix##5sputcE##code, Character, Whole, Character)                 \
  MC_CHANGE_1(ChangeByProgram, prefix##9sputbackcE##code, Character, Whole, Character)             \
  MC_PUT(prefix##5sputnEPK##code##l, Character)                                                    \
  MC_GET(prefix##5sgetnEP##code##l, Character)                                                     \
  MC_CHANGE_LOCALE(prefix##8pubimbueERKSt6locale, Character)                                       \
  MC_CHANGE_2(ChangeByProgram, prefix##9pubsetbufEP##code##l, Character, void*, Character*,        \
              std::streamsize)                                                                     \
  MC_CHANGE_3(ChangeByProgram, prefix##10pubseekoffElSt12_Ios_SeekdirSt13_Ios_Openmode, Character, \
              Position, std::streamoff, std::ios_base::seekdir, std::ios_base::openmode)           \
  MC_CHANGE_2(ChangeByProgram, prefix##10pubseekposESt4fposI11__mbstate_tESt13_Ios_Openmode,       \
              Character, Position, Position, std::ios_base::openmode)
#define MC_FUNCTIONS_OF_BOTH(prefix, Character, code, Whole, whole)                              \
  MC_CHANGE_0(ChangeByProgram, prefix##9underflowEv, Character, Whole)                           \
  MC_CHANGE_1(ChangeByProgram, prefix##9pbackfailE##whole, Character, Whole, Whole)              \
  MC_CHANGE_1(ChangeByProgram, prefix##8overflowE##whole, Character, Whole, Whole)               \
  MC_CHANGE_0(ChangeByProgram, prefix##9showmanycEv, Character, std::streamsize)                 \
  MC_CHANGE_2(Change, prefix##6setbufEP##code##l, Character, void*, Character*, std::streamsize) \
  MC_CHANGE_3(Change, prefix##7seekoffElSt12_Ios_SeekdirSt13_Ios_Openmode, Character, Position,  \
              std::streamoff, std::ios_base::seekdir, std::ios_base::openmode)                   \
  MC_CHANGE_2(Change, prefix##7seekposESt4fposI11__mbstate_tESt13_Ios_Openmode, Character,       \
              Position, Position, std::ios_base::openmode)
// What opens and closes files: standard_file_streams.cc.
#define MC_FUNCTIONS_OF_FILES(prefix, Character, code) \
  MC_PUT(prefix##6xsputnEPK##code##l, Character)       \
  MC_GET(prefix##6xsgetnEP##code##l, Character)        \
  MC_CHANGE_0(Change, prefix##4syncEv, Character, int)

MC_BUFFER(char, c, int)
MC_BUFFER(wchar_t, w, std::wint_t)
MC_FUNCTIONS_OF_BOTH(_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEE, char, c, int, i)
MC_FUNCTIONS_OF_BOTH(_ZNSt7__cxx1115basic_stringbufIwSt11char_traitsIwESaIwEE, wchar_t, w,
                     std::wint_t, j)
MC_FUNCTIONS_OF_BOTH(_ZNSt13basic_filebufIcSt11char_traitsIcEE, char, c, int, i)
MC_FUNCTIONS_OF_BOTH(_ZNSt13basic_filebufIwSt11char_traitsIwEE, wchar_t, w, std::wint_t, j)
MC_FUNCTIONS_OF_FILES(_ZNSt13basic_filebufIcSt11char_traitsIcEE, char, c)
MC_FUNCTIONS_OF_FILES(_ZNSt13basic_filebufIwSt11char_traitsIwEE, wchar_t, w)
