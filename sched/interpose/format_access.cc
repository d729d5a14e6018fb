#include "sched/interpose/format_access.h"

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include <algorithm>

#include "sched/engine_scope.h"
#include "sched/interpose/buffer_access.h"

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

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int ReadNumber(const char** at) {
  int number = 0;
  while (IsDigit(**at)) number = std::min(number, 100000000) * 10 + (*(*at)++ - '0');
  return number;
}

Length ReadLength(const char** at) {
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

// Up to its end, or `most` bytes (negative: no limit).
void ReadsText(const char* text, int most, uint64_t pc) {
  if (text == nullptr) return;
  size_t size = 0;
  const volatile char* at = text;
  while ((most < 0 || size < static_cast<size_t>(most)) && at[size] != 0) ++size;
  if (most < 0 || size < static_cast<size_t>(most)) ++size;
  Reads(text, size, pc);
}

// Behind a '[': the character behind the matching ']'.
const char* SkipSet(const char* at) {
  if (*at == '^') ++at;
  if (*at == ']') ++at;
  while (*at != 0 && *at != ']') ++at;
  return *at == 0 ? at : at + 1;
}

}  // namespace

void ReadsFormatted(const char* format, va_list arguments, uint64_t pc) {
  if (!g_program_running || format == nullptr) return;
  va_list rest;
  va_copy(rest, arguments);
  for (const char* at = format; *at != 0;) {
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
    const char conversion = *at;
    if (conversion == 0) break;
    ++at;
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
      case 's': {
        const char* const text = va_arg(rest, const char*);
        if (length == Length::kInt) ReadsText(text, most, pc);
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
}

void HasScanned(const char* format, va_list arguments, int count, uint64_t pc) {
  if (!g_program_running || count <= 0) return;
  va_list rest;
  va_copy(rest, arguments);
  for (const char* at = format; *at != 0 && count > 0;) {
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
    const char conversion = *at;
    if (conversion == 0 || conversion == '$') break;
    ++at;
    if (conversion == '[') at = SkipSet(at);
    if (conversion == '%' || !assigns) continue;
    void* const place = va_arg(rest, void*);
    size_t size = SizeOf(length);
    const bool is_text = conversion == 's' || conversion == '[';
    if (allocates || conversion == 'p') {
      size = sizeof(void*);
    } else if (is_text && length == Length::kInt) {
      size = LengthOf(static_cast<const char*>(place)) + 1;
    } else if (conversion == 'c' && length == Length::kInt) {
      size = static_cast<size_t>(std::max(width, 1));
    } else if (length == Length::kLongDouble) {
      size = sizeof(long double);
    } else if (is_text || conversion == 'c') {
      size = sizeof(wchar_t);
    }
    HasWritten(place, size, pc);
    if (conversion != 'n') --count;
  }
  va_end(rest);
}

}  // namespace mc::sched
