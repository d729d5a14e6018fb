// What streams of the C++ library read into variables of the program, and what they write from
// them. That they change the stream is in standard_streams.cc.
//
// This file is compiled with exceptions: streams throw them if they are told to.
#include <dlfcn.h>

#include <istream>
#include <ostream>
#include <string>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"

namespace mc::sched {
namespace {

// The functions return the stream: as a pointer here, which comes back in the same place.

// Looked up once. Not thread-safe, nor need it be: whoever comes second finds the same.
template <typename Function>
Function Find(Function* known, const char* name) {
  if (*known == nullptr) *known = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
  return *known;
}

// A variable is read into. The library gets one of ours, since it may be interrupted before it
// writes: the program's is written at the end, also by an exception.
template <typename Stream, typename T>
class Target {
 public:
  Target(const Stream& stream, T& target, uint64_t pc)
      : stream_(stream), target_(target), before_(target), value_(target), pc_(pc) {}
  ~Target() {
    // At the end of the input nothing is written.
    if (stream_.eof() && stream_.fail() && value_ == before_) return;
    AccessByLibrary(&target_, sizeof target_, kWrite, pc_);
    target_ = value_;
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  T& value() { return value_; }

 private:
  const Stream& stream_;
  T& target_;
  const T before_;
  T value_;
  const uint64_t pc_;
};

template <typename Stream, typename T>
using ExtractFunction = Stream* (*)(Stream&, T&);

template <typename Stream, typename T>
Stream* Extract(ExtractFunction<Stream, T> real, Stream& stream, T& target, uint64_t pc) {
  if (!g_program_running) return real(stream, target);
  Target<Stream, T> copy(stream, target, pc);
  return real(stream, copy.value());
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// ------------------------------------------------------------------------------- single variables

#define MC_EXTRACT(symbol, Stream, Type)                                   \
  MC_EXPORT Stream* symbol(Stream& stream, Type& target) {                 \
    static ExtractFunction<Stream, Type> known;                            \
    return Extract(Find(&known, #symbol), stream, target, MC_CALLER_PC()); \
  }
// operator>>, and the function behind it.
#define MC_EXTRACT_NUMBER(code, Type)                                                  \
  MC_EXTRACT(_ZNSirsER##code, std::istream, Type)                                      \
  MC_EXTRACT(_ZNSt13basic_istreamIwSt11char_traitsIwEErsER##code, std::wistream, Type) \
  MC_EXTRACT(_ZNSi10_M_extractI##code##EERSiRT_, std::istream, Type)                   \
  MC_EXTRACT(_ZNSt13basic_istreamIwSt11char_traitsIwEE10_M_extractI##code##EERS2_RT_,  \
             std::wistream, Type)
MC_EXTRACT_NUMBER(b, bool)
MC_EXTRACT_NUMBER(t, unsigned short)
MC_EXTRACT_NUMBER(j, unsigned)
MC_EXTRACT_NUMBER(l, long)
MC_EXTRACT_NUMBER(m, unsigned long)
MC_EXTRACT_NUMBER(x, long long)
MC_EXTRACT_NUMBER(y, unsigned long long)
MC_EXTRACT_NUMBER(f, float)
MC_EXTRACT_NUMBER(d, double)
MC_EXTRACT_NUMBER(e, long double)
MC_EXTRACT_NUMBER(Pv, void*)
MC_EXTRACT(_ZNSirsERs, std::istream, short)
MC_EXTRACT(_ZNSirsERi, std::istream, int)
MC_EXTRACT(_ZNSt13basic_istreamIwSt11char_traitsIwEErsERs, std::wistream, short)
MC_EXTRACT(_ZNSt13basic_istreamIwSt11char_traitsIwEErsERi, std::wistream, int)
MC_EXTRACT(_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_, std::istream, char)
MC_EXTRACT(_ZStrsIwSt11char_traitsIwEERSt13basic_istreamIT_T0_ES6_RS3_, std::wistream, wchar_t)
MC_EXTRACT(_ZNSi3getERc, std::istream, char)
MC_EXTRACT(_ZNSt13basic_istreamIwSt11char_traitsIwEE3getERw, std::wistream, wchar_t)

// ---------------------------------------------------------------------------------------- strings

#define MC_EXTRACT_STRING(symbol, Stream, Text)                                    \
  MC_EXPORT Stream* symbol(Stream& stream, Text& text) {                           \
    static Stream* (*known)(Stream&, Text&);                                       \
    const AccessDuringCall access(&text, sizeof text, kReadWrite, MC_CALLER_PC()); \
    return Find(&known, #symbol)(stream, text);                                    \
  }
#define MC_EXTRACT_LINE(symbol, Stream, Text)                                      \
  MC_EXPORT Stream* symbol(Stream& stream, Text& text, Text::value_type end) {     \
    static Stream* (*known)(Stream&, Text&, Text::value_type);                     \
    const AccessDuringCall access(&text, sizeof text, kReadWrite, MC_CALLER_PC()); \
    return Find(&known, #symbol)(stream, text, end);                               \
  }
MC_EXTRACT_STRING(
    _ZStrsIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    std::istream, std::string)
MC_EXTRACT_STRING(
    _ZStrsIwSt11char_traitsIwESaIwEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    std::wistream, std::wstring)
MC_EXTRACT_STRING(
    _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    std::istream, std::string)
MC_EXTRACT_STRING(
    _ZSt7getlineIwSt11char_traitsIwESaIwEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EE,
    std::wistream, std::wstring)
MC_EXTRACT_LINE(
    _ZSt7getlineIcSt11char_traitsIcESaIcEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_,
    std::istream, std::string)
MC_EXTRACT_LINE(
    _ZSt7getlineIwSt11char_traitsIwESaIwEERSt13basic_istreamIT_T0_ES7_RNSt7__cxx1112basic_stringIS4_S5_T1_EES4_,
    std::wistream, std::wstring)

// ----------------------------------------------------------------------------------------- buffers

// Reads at most `size` characters, and then knows how many; some functions add a zero.
template <typename Stream, typename Read>
Stream* ReadInto(Stream& stream, void* place, std::streamsize size, std::streamsize zeros,
                 uint64_t pc, Read read) {
  constexpr size_t kCharacter = sizeof(typename Stream::char_type);
  AccessDuringCall access(place, size > 0 ? kCharacter : 0, kWrite, pc);
  Stream* const result = read();
  const std::streamsize most = stream.gcount() + zeros;
  access.SetSize(kCharacter * static_cast<size_t>(most < size ? most : size));
  return result;
}
#define MC_READ(symbol, Stream, Character, zeros)                                    \
  MC_EXPORT Stream* symbol(Stream& stream, Character* place, std::streamsize size) { \
    static Stream* (*known)(Stream&, Character*, std::streamsize);                   \
    return ReadInto(stream, place, size, zeros, MC_CALLER_PC(),                      \
                    [&] { return Find(&known, #symbol)(stream, place, size); });     \
  }
#define MC_READ_UNTIL(symbol, Stream, Character)                                      \
  MC_EXPORT Stream* symbol(Stream& stream, Character* place, std::streamsize size,    \
                           Character end) {                                           \
    static Stream* (*known)(Stream&, Character*, std::streamsize, Character);         \
    return ReadInto(stream, place, size, 1, MC_CALLER_PC(),                           \
                    [&] { return Find(&known, #symbol)(stream, place, size, end); }); \
  }
MC_READ(_ZNSi4readEPcl, std::istream, char, 0)
MC_READ(_ZNSi3getEPcl, std::istream, char, 1)
MC_READ(_ZNSi7getlineEPcl, std::istream, char, 1)
MC_READ_UNTIL(_ZNSi3getEPclc, std::istream, char)
MC_READ_UNTIL(_ZNSi7getlineEPclc, std::istream, char)
MC_READ(_ZNSt13basic_istreamIwSt11char_traitsIwEE4readEPwl, std::wistream, wchar_t, 0)
MC_READ(_ZNSt13basic_istreamIwSt11char_traitsIwEE3getEPwl, std::wistream, wchar_t, 1)
MC_READ(_ZNSt13basic_istreamIwSt11char_traitsIwEE7getlineEPwl, std::wistream, wchar_t, 1)
MC_READ_UNTIL(_ZNSt13basic_istreamIwSt11char_traitsIwEE3getEPwlw, std::wistream, wchar_t)
MC_READ_UNTIL(_ZNSt13basic_istreamIwSt11char_traitsIwEE7getlineEPwlw, std::wistream, wchar_t)

// ------------------------------------------------------------------------------------------ output

#define MC_WRITE(symbol, Stream, Character)                                                     \
  MC_EXPORT Stream* symbol(Stream& stream, const Character* place, std::streamsize size) {      \
    static Stream* (*known)(Stream&, const Character*, std::streamsize);                        \
    const AccessDuringCall access(place,                                                        \
                                  size > 0 ? static_cast<size_t>(size) * sizeof(Character) : 0, \
                                  kRead, MC_CALLER_PC());                                       \
    return Find(&known, #symbol)(stream, place, size);                                          \
  }
MC_WRITE(_ZNSo5writeEPKcl, std::ostream, char)
MC_WRITE(_ZNSt13basic_ostreamIwSt11char_traitsIwEE5writeEPKwl, std::wostream, wchar_t)
MC_WRITE(_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l,
         std::ostream, char)
MC_WRITE(_ZSt16__ostream_insertIwSt11char_traitsIwEERSt13basic_ostreamIT_T0_ES6_PKS3_l,
         std::wostream, wchar_t)
