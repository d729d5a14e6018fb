#include "sched/interpose/format_access.h"

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include <algorithm>

#include "sched/engine_scope.h"
#include "sched/interpose/buffer_access.h"
#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

enum class Length : uint8_t { kChar, kShort, kInt, kLong, kLongLong, kLongDouble };

size_t SizeOf(Length length) {
  switch (length) {
    case Length::kChar:
      return 1;
    case Length::kShort:
      return 2;
    case Length::kInt:
      return 4;
    default:
      return 8;
  }
}

template <typename C>
bool IsDigit(C c) {
  return c >= '0' && c <= '9';
}

template <typename C>
int ReadNumber(const C** at) {
  int number = 0;
  while (IsDigit(**at))
    number = std::min(number, 100000000) * 10 + static_cast<int>(*(*at)++ - '0');
  return number;
}

template <typename C>
Length ReadLength(const C** at) {
  Length length = Length::kInt;
  for (;; ++*at) {
    switch (**at) {
      case 'h':
        length = length == Length::kShort ? Length::kChar : Length::kShort;
        break;
      case 'l':
        length = length == Length::kLong ? Length::kLongLong : Length::kLong;
        break;
      case 'j':
      case 'z':
      case 't':
      case 'q':
        length = Length::kLongLong;
        break;
      case 'L':
        length = Length::kLongDouble;
        break;
      default:
        return length;
    }
  }
}

// Up to its end, or `most` characters (negative: no limit).
template <typename T>
void ReadsText(const T* text, int most, uint64_t pc) {
  const Touch read = most < 0 ? Text(text) : Text(text, static_cast<size_t>(most));
  Reads(read.place, read.size, pc);
}

// Does the locale tell how it is converted? It has the separator of fractions, and how characters
// of several bytes are made.
template <typename C>
bool IsOfLocale(C conversion, Length length, bool to_wide) {
  switch (conversion) {
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
    case 'S':
    case 'C':
      return true;
    case 's':
    case 'c':
      return (length != Length::kInt) != to_wide;
    default:
      return false;
  }
}

// Behind a '[': the character behind the matching ']'.
template <typename C>
const C* SkipSet(const C* at) {
  if (*at == '^') ++at;
  if (*at == ']') ++at;
  while (*at != 0 && *at != ']') ++at;
  return *at == 0 ? at : at + 1;
}

template <typename C>
void ReadsArguments(const C* format, va_list arguments, uint64_t pc) {
  if (!g_program_running || format == nullptr) return;
  RecordTouched({Text(format)}, pc);
  va_list rest;
  va_copy(rest, arguments);
  bool uses_locale = false;
  for (const C* at = format; *at != 0;) {
    if (*at++ != '%') continue;
    while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '0' || *at == '\'') ++at;
    if (*at == '*') {
      va_arg(rest, int);
      ++at;
    }
    ReadNumber(&at);
    int most = -1;
    if (*at == '.') {
      ++at;
      if (*at == '*') {
        most = va_arg(rest, int);
        ++at;
      } else {
        most = ReadNumber(&at);
      }
    }
    const Length length = ReadLength(&at);
    const C conversion = *at;
    if (conversion == 0) break;
    ++at;
    uses_locale = uses_locale || IsOfLocale(conversion, length, sizeof(C) > 1);
    switch (conversion) {
      case '%':
      case 'm':
        break;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
      case 'c':
      case 'C':
        if (SizeOf(length) == 8) {
          va_arg(rest, long);
        } else {
          va_arg(rest, int);
        }
        break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        if (length == Length::kLongDouble) {
          va_arg(rest, long double);
        } else {
          va_arg(rest, double);
        }
        break;
      case 's':
      case 'S': {
        const void* const text = va_arg(rest, const void*);
        if (conversion == 's' && length == Length::kInt) {
          ReadsText(static_cast<const char*>(text), most, pc);
        } else {
          ReadsText(static_cast<const wchar_t*>(text), most, pc);
        }
        break;
      }
      case 'p':
        va_arg(rest, void*);
        break;
      case 'n':
        Writes(va_arg(rest, void*), SizeOf(length), pc);
        break;
      default:
        va_end(rest);
        return;
    }
  }
  va_end(rest);
  if (uses_locale) RecordTouched({Locale()}, pc);
}

template <typename C>
void HasScannedArguments(const C* format, va_list arguments, int count, uint64_t pc) {
  if (!g_program_running || count <= 0) return;
  RecordTouched({Text(format)}, pc);
  va_list rest;
  va_copy(rest, arguments);
  for (const C* at = format; *at != 0 && count > 0;) {
    if (*at++ != '%') continue;
    const bool assigns = *at != '*';
    if (!assigns) ++at;
    const int width = ReadNumber(&at);
    bool allocates = false;
    if (*at == 'm') {
      allocates = true;
      ++at;
    }
    const Length length = ReadLength(&at);
    const C conversion = *at;
    if (conversion == 0 || conversion == '$') break;
    ++at;
    if (conversion == '[') at = SkipSet(at);
    if (conversion == '%' || !assigns) continue;
    if (IsOfLocale(conversion, length, sizeof(C) > 1)) RecordTouched({Locale()}, pc);
    void* const place = va_arg(rest, void*);
    size_t size = SizeOf(length);
    const bool is_text = conversion == 's' || conversion == 'S' || conversion == '[';
    const bool is_wide = length != Length::kInt || conversion == 'S' || conversion == 'C';
    const auto characters = static_cast<size_t>(std::max(width, 1));
    if (allocates || conversion == 'p') {
      size = sizeof(void*);
    } else if (is_text) {
      size = is_wide ? Text(static_cast<const wchar_t*>(place)).size
                     : Text(static_cast<const char*>(place)).size;
    } else if (conversion == 'c' || conversion == 'C') {
      size = is_wide ? characters * sizeof(wchar_t) : characters;
    } else if (length == Length::kLongDouble) {
      size = sizeof(long double);
    }
    HasWritten(place, size, pc);
    if (conversion != 'n') --count;
  }
  va_end(rest);
}

}  // namespace

void ReadsFormatted(const char* format, va_list arguments, uint64_t pc) {
  ReadsArguments(format, arguments, pc);
}
void ReadsFormatted(const wchar_t* format, va_list arguments, uint64_t pc) {
  ReadsArguments(format, arguments, pc);
}
void HasScanned(const char* format, va_list arguments, int count, uint64_t pc) {
  HasScannedArguments(format, arguments, count, pc);
}
void HasScanned(const wchar_t* format, va_list arguments, int count, uint64_t pc) {
  HasScannedArguments(format, arguments, count, pc);
}

}  // namespace mc::sched
