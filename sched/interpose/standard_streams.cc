// Streams of the C++ library. Their functions are compiled into the library, where their accesses
// are not seen; there are too many to do them here. But all that read or write a stream begin by
// making a *sentry*: that is where the hooks are.
//
// What a function then does to the stream is recorded as one access, by the contract: it changes
// the stream and its buffer. Two threads may do so at once only to the standard streams, as long as
// these write to the C library's; but not while another changes their state, how they format, say
// (standard_stream_state.cc): that is read.
#include "sched/interpose/standard_streams.h"

#include <dlfcn.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "sched/interpose/export.h"
#include "sched/interpose/library_access.h"
#include "sched/interpose/real.h"

namespace mc::sched {
namespace {

// What stands for a standard stream: the object, and the buffer that it begins with.
struct StandardStream {
  const void* state;  // its std::basic_ios
  const void* buffer;
};
constexpr size_t kStandardStreams = 8;
StandardStream g_standard_streams[kStandardStreams];

template <typename Stream>
StandardStream FindStandardStream(const char* name) {
  const auto* const stream = static_cast<const Stream*>(dlsym(RTLD_DEFAULT, name));
  if (stream == nullptr) return {};
  const std::basic_ios<typename Stream::char_type>& state = *stream;
  (void)state.fill();  // which is looked up when it is first asked for
  return {&state, state.rdbuf()};
}

bool IsStandardState(const void* state) {
  return std::ranges::any_of(g_standard_streams, [=](auto& s) { return s.state == state; });
}
bool IsStandardBuffer(const void* buffer) {
  return std::ranges::any_of(g_standard_streams, [=](auto& s) { return s.buffer == buffer; });
}

template <typename Character>
void UseStream(const std::basic_ios<Character>& state, uint64_t pc) {
  if (!g_program_running) return;
  const std::basic_streambuf<Character>* const buffer = state.rdbuf();
  AccessByLibrary(ContentOf(&state), kContentSize<std::basic_ios<Character>>,
                  IsStandardState(&state) ? kRead : kReadWrite, pc);
  if (buffer != nullptr && !IsStandardBuffer(buffer)) {
    AccessByLibrary(ContentOf(buffer), kContentSize<std::basic_streambuf<Character>>, kReadWrite,
                    pc);
  }
}

// How much was read last, which every function of the stream may change.
template <typename Character>
void UseInputStream(const std::basic_istream<Character>& stream, uint64_t pc) {
  if (!IsStandardState(static_cast<const std::basic_ios<Character>*>(&stream))) {
    AccessByLibrary(ContentOf(&stream), sizeof(std::streamsize), kReadWrite, pc);
  }
  UseStream<Character>(stream, pc);
}

}  // namespace

void ChangeStandardStreams(uint64_t pc) {
  for (const StandardStream& stream : g_standard_streams) {
    if (stream.state == nullptr) continue;
    AccessByLibrary(ContentOf(static_cast<const std::ios*>(stream.state)), kContentSize<std::ios>,
                    kReadWrite, pc);
  }
}

void FindStandardStreams() {
  // They are made by the first object of this kind; a program or library that uses them has one.
  { std::ios_base::Init make_them; }
  size_t count = 0;
  for (const char* name : {"_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}) {
    g_standard_streams[count++] = FindStandardStream<std::ostream>(name);
  }
  for (const char* name : {"_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog"}) {
    g_standard_streams[count++] = FindStandardStream<std::wostream>(name);
  }
  g_standard_streams[count++] = FindStandardStream<std::istream>("_ZSt3cin");
  g_standard_streams[count++] = FindStandardStream<std::wistream>("_ZSt4wcin");
}

}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// Constructors, each under the two names it has.
#define MC_OUTPUT_SENTRY(symbol, Character, real)                            \
  MC_EXPORT void symbol(void* self, std::basic_ostream<Character>& stream) { \
    UseStream<Character>(stream, MC_CALLER_PC());                            \
    Real().real(self, &stream);                                              \
  }
#define MC_INPUT_SENTRY(symbol, Character, real)                                                \
  MC_EXPORT void symbol(void* self, std::basic_istream<Character>& stream, bool keeps_spaces) { \
    UseInputStream<Character>(stream, MC_CALLER_PC());                                          \
    Real().real(self, &stream, keeps_spaces);                                                   \
  }
MC_OUTPUT_SENTRY(_ZNSo6sentryC1ERSo, char, ostream_sentry)
MC_OUTPUT_SENTRY(_ZNSo6sentryC2ERSo, char, ostream_sentry)
MC_OUTPUT_SENTRY(_ZNSt13basic_ostreamIwSt11char_traitsIwEE6sentryC1ERS2_, wchar_t, wostream_sentry)
MC_OUTPUT_SENTRY(_ZNSt13basic_ostreamIwSt11char_traitsIwEE6sentryC2ERS2_, wchar_t, wostream_sentry)
MC_INPUT_SENTRY(_ZNSi6sentryC1ERSib, char, istream_sentry)
MC_INPUT_SENTRY(_ZNSi6sentryC2ERSib, char, istream_sentry)
MC_INPUT_SENTRY(_ZNSt13basic_istreamIwSt11char_traitsIwEE6sentryC1ERS2_b, wchar_t, wistream_sentry)
MC_INPUT_SENTRY(_ZNSt13basic_istreamIwSt11char_traitsIwEE6sentryC2ERS2_b, wchar_t, wistream_sentry)
