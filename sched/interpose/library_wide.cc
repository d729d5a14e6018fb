// Functions of the C library on wide strings: what each touches (library_call.h).
#include <wchar.h>
#include <wctype.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

using W = wchar_t;

size_t Bytes(size_t count) { return count * sizeof(W); }

size_t FoldedBytes(const W* a, const W* b, size_t most = SIZE_MAX) {
  return ComparedBytes(a, b, most, [](W c) { return towlower(static_cast<wint_t>(c)); });
}

Touch Searched(const W* text, const W* found, const W* part) {
  return Through(text, found == nullptr ? nullptr : found + CountTo(part) - (*part != 0 ? 1 : 0));
}

// Of a string that now has `from` at its end: what was there before is read, the rest is written.
Touch AppendedTo(const W* to, size_t count) { return In(to, Bytes(CountTo(to) - count + 1)); }
Touch Appended(W* to, size_t count) { return Out(to + CountTo(to) - count, Bytes(count + 1)); }

size_t DifferentBytes(const W* a, const W* b, size_t count) {
  size_t i = 0;
  while (i < count && a[i] == b[i]) ++i;
  return Bytes(i < count ? i + 1 : count);
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

// ---- Characters that are counted

MC_TOUCHES(W*, wmemcpy, (W* to, const W* from, size_t n), (to, from, n), In(from, Bytes(n)),
           Out(to, Bytes(n)))
MC_TOUCHES(W*, wmemmove, (W* to, const W* from, size_t n), (to, from, n), In(from, Bytes(n)),
           Out(to, Bytes(n)))
MC_TOUCHES(W*, wmempcpy, (W* to, const W* from, size_t n), (to, from, n), In(from, Bytes(n)),
           Out(to, Bytes(n)))
MC_TOUCHES(W*, wmemset, (W* to, W value, size_t n), (to, value, n), Out(to, Bytes(n)))
MC_TOUCHES(int, wmemcmp, (const W* a, const W* b, size_t n), (a, b, n),
           In(a, DifferentBytes(a, b, n)), In(b, DifferentBytes(a, b, n)))
MC_TOUCHES(W*, wmemchr, (const W* text, W value, size_t n), (text, value, n),
           result == nullptr ? In(text, Bytes(n)) : Through(text, result))

// ---- Strings

MC_TOUCHES(size_t, wcslen, (const W* text), (text), Text(text))
MC_TOUCHES(size_t, wcsnlen, (const W* text, size_t n), (text, n), Text(text, n))
MC_TOUCHES(W*, wcscpy, (W* to, const W* from), (to, from), Text(from), OutText(to))
MC_TOUCHES(W*, wcpcpy, (W* to, const W* from), (to, from), Text(from), OutText(to))
MC_TOUCHES(W*, wcsncpy, (W* to, const W* from, size_t n), (to, from, n), Text(from, n),
           Out(to, Bytes(n)))
MC_TOUCHES(W*, wcpncpy, (W* to, const W* from, size_t n), (to, from, n), Text(from, n),
           Out(to, Bytes(n)))
MC_TOUCHES(W*, wcscat, (W* to, const W* from), (to, from), Text(from),
           AppendedTo(to, CountTo(from)), Appended(to, CountTo(from)))
MC_TOUCHES(W*, wcsncat, (W* to, const W* from, size_t n), (to, from, n), Text(from, n),
           AppendedTo(to, CountTo(from, n)), Appended(to, CountTo(from, n)))
MC_TOUCHES(W*, wcsdup, (const W* text), (text), Text(text))
MC_TOUCHES(W*, wcschr, (const W* text, W value), (text, value), Through(text, result))
MC_TOUCHES(W*, wcschrnul, (const W* text, W value), (text, value), Through(text, result))
MC_TOUCHES(W*, wcsrchr, (const W* text, W value), (text, value), Text(text))
MC_TOUCHES(W*, wcsstr, (const W* text, const W* part), (text, part), Searched(text, result, part),
           Text(part))
MC_TOUCHES(W*, wcswcs, (const W* text, const W* part), (text, part), Searched(text, result, part),
           Text(part))
MC_TOUCHES(size_t, wcsspn, (const W* text, const W* set), (text, set), In(text, Bytes(result + 1)),
           Text(set))
MC_TOUCHES(size_t, wcscspn, (const W* text, const W* set), (text, set), In(text, Bytes(result + 1)),
           Text(set))
MC_TOUCHES(W*, wcspbrk, (const W* text, const W* set), (text, set), Through(text, result),
           Text(set))
MC_TOUCHES(W*, wcstok, (W* text, const W* set, W** next), (text, set, next),
           text == nullptr ? InOut(next) : Out(next), Text(set), Text(result),
           result == nullptr ? Out(result, 0) : Out(result + CountTo(result), sizeof(W)))
MC_TOUCHES(int, wcscmp, (const W* a, const W* b), (a, b), In(a, ComparedBytes(a, b)),
           In(b, ComparedBytes(a, b)))
MC_TOUCHES(int, wcsncmp, (const W* a, const W* b, size_t n), (a, b, n),
           In(a, ComparedBytes(a, b, n)), In(b, ComparedBytes(a, b, n)))
MC_TOUCHES(int, wcscasecmp, (const W* a, const W* b), (a, b), In(a, FoldedBytes(a, b)),
           In(b, FoldedBytes(a, b)))
MC_TOUCHES(int, wcsncasecmp, (const W* a, const W* b, size_t n), (a, b, n),
           In(a, FoldedBytes(a, b, n)), In(b, FoldedBytes(a, b, n)))
MC_TOUCHES(int, wcscoll, (const W* a, const W* b), (a, b), Text(a), Text(b), Locale())
MC_TOUCHES(int, wcscoll_l, (const W* a, const W* b, void* locale), (a, b, locale), Text(a), Text(b))
MC_TOUCHES(int, __wcscoll_l, (const W* a, const W* b, void* locale), (a, b, locale), Text(a),
           Text(b))
MC_TOUCHES(size_t, wcsxfrm, (W* to, const W* from, size_t n), (to, from, n), Text(from),
           Out(to, Bytes(std::min(result + 1, n))), Locale())
MC_TOUCHES(size_t, __wcsxfrm_l, (W* to, const W* from, size_t n, void* locale),
           (to, from, n, locale), Text(from), Out(to, Bytes(std::min(result + 1, n))))
MC_TOUCHES(int, wcswidth, (const W* text, size_t n), (text, n), Text(text, n))

// ---- Numbers. Where one ends is known only if it is asked for: without, the text counts.

#define MC_WIDE_INTEGER(type, name)                                                    \
  MC_TOUCHES(type, name, (const W* text, W** end, int base), (text, end, base), Out(end), \
             end == nullptr ? Text(text) : Through(text, *end))
#define MC_WIDE_FRACTION(type, name)                                   \
  MC_TOUCHES(type, name, (const W* text, W** end), (text, end), Out(end), \
             end == nullptr ? Text(text) : Through(text, *end), Locale())
MC_WIDE_INTEGER(long, wcstol)
MC_WIDE_INTEGER(unsigned long, wcstoul)
MC_WIDE_INTEGER(long long, wcstoll)
MC_WIDE_INTEGER(unsigned long long, wcstoull)
MC_WIDE_INTEGER(long long, wcstoimax)
MC_WIDE_INTEGER(unsigned long long, wcstoumax)
MC_WIDE_INTEGER(long, __isoc23_wcstol)
MC_WIDE_INTEGER(unsigned long, __isoc23_wcstoul)
MC_WIDE_INTEGER(long long, __isoc23_wcstoll)
MC_WIDE_INTEGER(unsigned long long, __isoc23_wcstoull)
MC_WIDE_FRACTION(float, wcstof)
MC_WIDE_FRACTION(double, wcstod)
MC_WIDE_FRACTION(long double, wcstold)
