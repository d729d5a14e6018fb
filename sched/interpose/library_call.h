// Functions of the C library that touch memory of the program from inside, as tables: one row for
// each function, which says what it touches.
//
//   MC_TOUCHES(char*, strstr, (const char* text, const char* part), (text, part),
//              In(text, ...), Text(part))
//
// A call is one step. A preemption may come before it; then the C library does its work; then what
// the row says is recorded. The row is therefore evaluated after the call, whose `result` it may
// use (0 for functions that return none), and must find the sizes from what is there then.
//
// A table stands in a file behind `using namespace mc::sched`.
//
// How much is read: no more than the function needs for its result (strchr: up to what it finds),
// so that nothing is called a race that is none. How much is written: all that the function may
// write by its contract.
#ifndef MC_SCHED_INTERPOSE_LIBRARY_CALL_H_
#define MC_SCHED_INTERPOSE_LIBRARY_CALL_H_

#include <wchar.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "sched/event.h"
#include "sched/interpose/export.h"
#include "sched/interpose/real_function.h"
#include "sched/interpose/system_call_point.h"
#include "sched/scheduler.h"

namespace mc::sched {

// ---- What a row is made of

struct Touch {
  const void* place;
  size_t size;  // bytes; 0: nothing
  uint8_t mode;
  uint16_t flags = 0;  // kAtomic: acquires and releases
};

inline Touch In(const volatile void* place, size_t size) {
  return {const_cast<const void*>(place), size, kRead};
}
inline Touch Out(const volatile void* place, size_t size) {
  return {const_cast<const void*>(place), size, kWrite};
}
inline Touch InOut(const volatile void* place, size_t size) {
  return {const_cast<const void*>(place), size, kReadWrite};
}
// One object.
template <typename T>
Touch In(const T* object) {
  return In(object, sizeof *object);
}
template <typename T>
Touch Out(T* object) {
  return Out(object, sizeof *object);
}
template <typename T>
Touch InOut(T* object) {
  return InOut(object, sizeof *object);
}

// In characters, of one or more bytes each: not the C library's functions, which are recorded.
template <typename Character>
size_t CountTo(const Character* text, size_t most = SIZE_MAX) {
  const volatile Character* at = text;
  size_t count = 0;
  while (count < most && at[count] != 0) ++count;
  return count;
}
// From `begin` up to and with `last`; up to the end of the text if that is null.
template <typename Character>
Touch Through(const Character* begin, const Character* last) {
  const size_t count = last == nullptr ? CountTo(begin) : static_cast<size_t>(last - begin);
  return In(begin, (count + 1) * sizeof(Character));
}
// A text with its end; null is none.
template <typename Character>
Touch Text(const Character* text) {
  return text == nullptr ? In(text, 0) : Through(text, static_cast<const Character*>(nullptr));
}
// At most `most` characters of it.
template <typename Character>
Touch Text(const Character* text, size_t most) {
  if (text == nullptr) return In(text, 0);
  const size_t count = CountTo(text, most);
  return In(text, (count < most ? count + 1 : count) * sizeof(Character));
}
// A text that was written.
template <typename Character>
Touch OutText(Character* text) {
  const Touch read = Text(text);
  return Out(read.place, read.size);
}
// How far two texts have to be read to be compared: up to the first difference.
template <typename Character, typename Fold>
size_t ComparedBytes(const Character* a, const Character* b, size_t most, Fold fold) {
  size_t i = 0;
  while (i < most && fold(a[i]) == fold(b[i]) && a[i] != 0) ++i;
  return (i < most ? i + 1 : most) * sizeof(Character);
}
template <typename Character>
size_t ComparedBytes(const Character* a, const Character* b, size_t most = SIZE_MAX) {
  return ComparedBytes(a, b, most, [](Character c) { return c; });
}

// ---- How a row is carried out

// A preemption may come here. The program runs.
void BeforeLibraryCall(uint64_t pc);
// Records what was touched; leaves errno alone.
void RecordTouched(std::initializer_list<Touch> touched, uint64_t pc);
// The same where the EngineScope is open.
void RecordTouchedInScope(std::initializer_list<Touch> touched, uint64_t pc);

template <typename Call, typename Record>
auto LibraryCall(uint64_t pc, Call call, Record record) {
  BeforeLibraryCall(pc);
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    record(0);
  } else {
    const auto result = call();
    record(result);
    return result;
  }
}

}  // namespace mc::sched

// Defines the function under its symbol; `around` stands before the call. By a name of its own,
// since the headers' declarations differ: in exceptions, in overloads for constant text, and in
// what they are redirected to.
#define MC_LIBRARY_FUNCTION(type, name, parameters, arguments, around, ...)       \
  MC_EXPORT type mc_c_##name parameters __asm__(#name);                           \
  MC_EXPORT type mc_c_##name parameters {                                         \
    static type(*known) parameters;                                               \
    const auto real = Find(&known, #name);                                        \
    if (!g_program_running) return real arguments;                                \
    const uint64_t pc = MC_CALLER_PC();                                           \
    around;                                                                       \
    return LibraryCall(                                                           \
        pc, [&] { return real arguments; },                                       \
        [&]([[maybe_unused]] auto result) { RecordTouched({__VA_ARGS__}, pc); }); \
  }
#define MC_TOUCHES(type, name, parameters, arguments, ...) \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, , __VA_ARGS__)

// The same for a function that asks the kernel for something by which threads can tell of each
// other (system_call_point.h). What it sends to another thread must not be in the row: that is read
// before the call.
#define MC_ASKS_KERNEL(type, name, parameters, arguments, ...)                            \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, const SystemCallPoint point(pc), \
                      __VA_ARGS__)

#endif  // MC_SCHED_INTERPOSE_LIBRARY_CALL_H_
