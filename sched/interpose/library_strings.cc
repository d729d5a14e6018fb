// Functions of the C library on strings and bytes that memory_functions.cc does not define: what
// each touches (library_call.h).
#include <ctype.h>
#include <stddef.h>

#include "sched/interpose/hidden_variables.h"
#include "sched/interpose/library_call.h"

namespace mc::sched {
namespace {

// Without regard to case, as in the C locale.
size_t FoldedBytes(const char* a, const char* b, size_t most = SIZE_MAX) {
  return ComparedBytes(a, b, most, [](char c) { return tolower(static_cast<unsigned char>(c)); });
}

// A text in which another is looked for: up to the end of what is found.
Touch Searched(const char* text, const char* found, const char* part) {
  return Through(text, found == nullptr ? nullptr : found + CountTo(part) - (*part != 0 ? 1 : 0));
}
Touch SearchedBytes(const void* text, size_t size, const void* found, size_t part) {
  const auto* const end = static_cast<const char*>(found) + part;
  return In(text,
            found == nullptr ? size : static_cast<size_t>(end - static_cast<const char*>(text)));
}

// From what is found to the end, or all.
Touch SearchedBackwards(const char* text, size_t size, const void* found) {
  const auto* const first = found == nullptr ? text : static_cast<const char*>(found);
  return In(first, static_cast<size_t>(text + size - first));
}

size_t CopiedBytes(void* to, void* end, size_t most) {
  return end == nullptr ? most
                        : static_cast<size_t>(static_cast<char*>(end) - static_cast<char*>(to));
}

// The token that strsep found: read to its end, which is written unless it is that of the text.
Touch TokenRead(const char* token) { return Text(token); }
Touch TokenEnd(const char* token, char* const* rest) {
  return token == nullptr || *rest == nullptr ? Out(token, 0) : Out(*rest - 1, 1);
}

size_t TransformedBytes(size_t length, size_t most) { return std::min(length + 1, most); }

// Which text is found depends on settings that are kept behind a lock.
Touch Domain(bool changes) { return Hidden(&g_text_domain, changes ? kReadWrite : kRead); }

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: for the tables below

// clang-format off

// ---- Bytes

MC_TOUCHES(void*, memrchr, (const char* text, int value, size_t size), (text, value, size),
           SearchedBackwards(text, size, result))
MC_TOUCHES(char*, rawmemchr, (const char* text, int value), (text, value), Through(text, result))
MC_TOUCHES(void*, memmem, (const void* text, size_t size, const void* part, size_t part_size),
           (text, size, part, part_size), SearchedBytes(text, size, result, part_size),
           In(part, part_size))
MC_TOUCHES(void*, memccpy, (void* to, const void* from, int last, size_t size),
           (to, from, last, size), In(from, CopiedBytes(to, result, size)),
           Out(to, CopiedBytes(to, result, size)))
MC_TOUCHES(void*, __mempcpy, (void* to, const void* from, size_t size), (to, from, size),
           In(from, size), Out(to, size))
MC_TOUCHES(void, bcopy, (const void* from, void* to, size_t size), (from, to, size), In(from, size),
           Out(to, size))
MC_TOUCHES(void, explicit_bzero, (void* to, size_t size), (to, size), Out(to, size))
MC_TOUCHES(void, swab, (const void* from, void* to, ptrdiff_t size), (from, to, size),
           In(from, size < 0 ? 0 : static_cast<size_t>(size) & ~size_t{1}),
           Out(to, size < 0 ? 0 : static_cast<size_t>(size) & ~size_t{1}))
MC_TOUCHES(void*, memfrob, (void* text, size_t size), (text, size), InOut(text, size))

// ---- Searching

MC_TOUCHES(char*, index, (const char* text, int value), (text, value), Through(text, result))
MC_TOUCHES(char*, rindex, (const char* text, int value), (text, value), Text(text))
MC_TOUCHES(char*, strchrnul, (const char* text, int value), (text, value), Through(text, result))
MC_TOUCHES(char*, __strchrnul, (const char* text, int value), (text, value), Through(text, result))
MC_TOUCHES(char*, strstr, (const char* text, const char* part), (text, part),
           Searched(text, result, part), Text(part))
MC_TOUCHES(char*, strcasestr, (const char* text, const char* part), (text, part),
           Searched(text, result, part), Text(part))
MC_TOUCHES(size_t, strspn, (const char* text, const char* set), (text, set), In(text, result + 1),
           Text(set))
MC_TOUCHES(size_t, strcspn, (const char* text, const char* set), (text, set), In(text, result + 1),
           Text(set))
MC_TOUCHES(char*, strpbrk, (const char* text, const char* set), (text, set), Through(text, result),
           Text(set))
MC_TOUCHES(char*, strsep, (char** text, const char* set), (text, set), InOut(text), Text(set),
           TokenRead(result), TokenEnd(result, text))
MC_TOUCHES(char*, __strsep, (char** text, const char* set), (text, set), InOut(text), Text(set),
           TokenRead(result), TokenEnd(result, text))
MC_TOUCHES(char*, basename, (const char* path), (path), Text(path))
MC_TOUCHES(char*, __xpg_basename, (char* path), (path),
           InOut(path, path == nullptr ? 0 : CountTo(path) + 1))
MC_TOUCHES(char*, dirname, (char* path), (path),
           InOut(path, path == nullptr ? 0 : CountTo(path) + 1))

// ---- Copies

MC_TOUCHES(char*, strdup, (const char* text), (text), Text(text))
MC_TOUCHES(char*, __strdup, (const char* text), (text), Text(text))
MC_TOUCHES(char*, strndup, (const char* text, size_t size), (text, size), Text(text, size))
MC_TOUCHES(char*, __strndup, (const char* text, size_t size), (text, size), Text(text, size))
MC_TOUCHES(char*, __stpcpy, (char* to, const char* from), (to, from), Text(from), OutText(to))
MC_TOUCHES(char*, stpncpy, (char* to, const char* from, size_t size), (to, from, size),
           Text(from, size), Out(to, size))
MC_TOUCHES(char*, __stpncpy, (char* to, const char* from, size_t size), (to, from, size),
           Text(from, size), Out(to, size))
MC_TOUCHES(size_t, strlcpy, (char* to, const char* from, size_t size), (to, from, size), Text(from),
           Out(to, std::min(result + 1, size)))
MC_TOUCHES(char*, strfry, (char* text), (text), InOut(text, CountTo(text)))

// ---- Comparing

MC_TOUCHES(int, strcasecmp, (const char* a, const char* b), (a, b), In(a, FoldedBytes(a, b)),
           In(b, FoldedBytes(a, b)))
MC_TOUCHES(int, strncasecmp, (const char* a, const char* b, size_t size), (a, b, size),
           In(a, FoldedBytes(a, b, size)), In(b, FoldedBytes(a, b, size)))
MC_TOUCHES(int, strcasecmp_l, (const char* a, const char* b, void* locale), (a, b, locale),
           In(a, FoldedBytes(a, b)), In(b, FoldedBytes(a, b)))
MC_TOUCHES(int, strncasecmp_l, (const char* a, const char* b, size_t size, void* locale),
           (a, b, size, locale), In(a, FoldedBytes(a, b, size)), In(b, FoldedBytes(a, b, size)))
MC_TOUCHES(int, strverscmp, (const char* a, const char* b), (a, b), In(a, ComparedBytes(a, b)),
           In(b, ComparedBytes(a, b)))
MC_TOUCHES(int, strcoll, (const char* a, const char* b), (a, b), Text(a), Text(b), Locale())
MC_TOUCHES(int, strcoll_l, (const char* a, const char* b, void* locale), (a, b, locale), Text(a),
           Text(b))
MC_TOUCHES(int, __strcoll_l, (const char* a, const char* b, void* locale), (a, b, locale), Text(a),
           Text(b))
MC_TOUCHES(size_t, strxfrm, (char* to, const char* from, size_t size), (to, from, size), Text(from),
           Out(to, TransformedBytes(result, size)), Locale())
MC_TOUCHES(size_t, strxfrm_l, (char* to, const char* from, size_t size, void* locale),
           (to, from, size, locale), Text(from), Out(to, TransformedBytes(result, size)))
MC_TOUCHES(size_t, __strxfrm_l, (char* to, const char* from, size_t size, void* locale),
           (to, from, size, locale), Text(from), Out(to, TransformedBytes(result, size)))
MC_TOUCHES(int, fnmatch, (const char* pattern, const char* text, int flags), (pattern, text, flags),
           Text(pattern), Text(text))
MC_TOUCHES(int, rpmatch, (const char* answer), (answer), Text(answer))

// ---- Messages

MC_TOUCHES(char*, strerror_r, (int error, char* to, size_t size), (error, to, size),
           result == to ? OutText(to) : Out(to, 0))
MC_TOUCHES(int, __xpg_strerror_r, (int error, char* to, size_t size), (error, to, size),
           size == 0 ? Out(to, 0) : OutText(to))
MC_TOUCHES(long, a64l, (const char* text), (text), Text(text, 6))
MC_TOUCHES(char*, l64a, (long value), (value), OutText(result))

#define MC_DOMAIN(type, name, parameters, arguments, ...)                                         \
  MC_LIBRARY_FUNCTION(type, name, parameters, arguments, BeforeHidden(&g_text_domain, pc), \
                      __VA_ARGS__)
MC_DOMAIN(char*, gettext, (const char* text), (text), Text(text), Domain(false))
MC_DOMAIN(char*, dgettext, (const char* domain, const char* text), (domain, text), Text(domain),
          Text(text), Domain(false))
MC_DOMAIN(char*, dcgettext, (const char* domain, const char* text, int category),
          (domain, text, category), Text(domain), Text(text), Domain(false))
MC_DOMAIN(char*, ngettext, (const char* one, const char* more, unsigned long count),
          (one, more, count), Text(one), Text(more), Domain(false))
MC_DOMAIN(char*, dngettext,
          (const char* domain, const char* one, const char* more, unsigned long count),
          (domain, one, more, count), Text(domain), Text(one), Text(more), Domain(false))
MC_DOMAIN(char*, textdomain, (const char* domain), (domain), Text(domain),
          Domain(domain != nullptr))
MC_DOMAIN(char*, bindtextdomain, (const char* domain, const char* directory), (domain, directory),
          Text(domain), Text(directory), Domain(directory != nullptr))
MC_DOMAIN(char*, bind_textdomain_codeset, (const char* domain, const char* code), (domain, code),
          Text(domain), Text(code), Domain(code != nullptr))
MC_TOUCHES(double, nan, (const char* text), (text), Text(text))
