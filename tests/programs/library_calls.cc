// What functions of the C library touch of the program's memory: one pair of tests for each. In
// NAME_Inside another thread touches what the function reads or writes, without synchronisation: a
// data race. In NAME_Outside it touches the bytes next to that: none. tests/e2e/library_calls.test
// looks at what mc makes of them.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ifaddrs.h>
#include <libgen.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <uchar.h>
#include <unistd.h>

#include <cinttypes>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cwchar>
#include <thread>
#include <type_traits>

#include "mc/mc.h"

#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wunused-result"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wstringop-truncation"

namespace {

constexpr int kAt = 64;  // where what functions are given begins in `memory`

alignas(16) char memory[1024];
char other[1024];
volatile long sink;     // of the thread that calls
volatile char touched;  // of the other

char* const text = memory + kAt;
wchar_t* const wide = reinterpret_cast<wchar_t*>(memory + kAt);

template <typename T>
T* As() {
  return reinterpret_cast<T*>(memory + kAt);
}
void Fill(const char* content) {
  for (int i = 0; content[i] != 0; ++i) text[i] = content[i];
}
void Fill(const wchar_t* content) {
  for (int i = 0; content[i] != 0; ++i) wide[i] = content[i];
}
int Compare(const void* a, const void* b) {
  return *static_cast<const char*>(a) - *static_cast<const char*>(b);
}

// What another thread does with the byte at this offset.
void Write(int offset) { *(volatile char*)(memory + kAt + offset) = 'q'; }
void Read(int offset) { touched = *(volatile char*)(memory + kAt + offset); }

// Its value is needed: compilers leave out calls that do nothing else.
template <typename Call>
void Evaluate(Call call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
  } else {
    [[maybe_unused]] volatile auto value = call();
  }
}

template <typename Prepare, typename Call, typename Touch>
void Run(Prepare prepare, Call call, Touch touch) {
  prepare();
  std::thread thread(touch);
  Evaluate(call);
  thread.join();
}

}  // namespace

#define MC_PAIR(name, prepare, call, touch, inside, outside)           \
  MC_TEST(name##_Inside) {                                             \
    Run([] { prepare; }, [] { return call; }, [] { touch(inside); });  \
  }                                                                    \
  MC_TEST(name##_Outside) {                                            \
    Run([] { prepare; }, [] { return call; }, [] { touch(outside); }); \
  }
// The call reads (writes) byte `inside`, and not byte `outside`.
#define READS(name, prepare, call, inside, outside) \
  MC_PAIR(name, prepare, call, Write, inside, outside)
#define WRITES(name, prepare, call, inside, outside) \
  MC_PAIR(name, prepare, call, Read, inside, outside)

// clang-format off

// ---- Bytes and strings

READS(memrchr, Fill("hello"), memrchr(text, 'l', 5), 3, 2)
READS(rawmemchr, Fill("hello"), rawmemchr(text, 'l'), 2, 3)
READS(memmem, Fill("hello world"), memmem(text, 11, "lo", 2), 4, 5)
WRITES(memccpy, , memccpy(text, "hello", 'l', 5), 2, 3)
WRITES(bcopy, , bcopy("hello", text, 5), 4, 5)
WRITES(explicit_bzero, , explicit_bzero(text, 5), 4, 5)
WRITES(swab, , swab("hello", text, 5), 3, 4)
READS(index, Fill("hello"), index(text, 'l'), 2, 3)
READS(strchrnul, Fill("hello"), strchrnul(text, 'l'), 2, 3)
READS(strstr, Fill("hello world"), strstr(text, "lo"), 4, 5)
READS(strcasestr, Fill("hello world"), strcasestr(text, "LO"), 4, 5)
READS(strspn, Fill("hello"), strspn(text, "eh"), 2, 3)
READS(strcspn, Fill("hello"), strcspn(text, "l"), 2, 3)
READS(strpbrk, Fill("hello"), strpbrk(text, "l"), 2, 3)
READS(strpbrk_set, Fill("hello"), strpbrk("world", text), 5, 6)
WRITES(strsep, Fill("he,lo"); other[0] = 0, ({ char* at = text; strsep(&at, ","); }), 2, 3)
READS(strndup, Fill("hello"), free(strndup(text, 3)), 2, 3)
READS(strdup, Fill("hello"), free(strdup(text)), 5, 6)
WRITES(stpncpy, , stpncpy(text, "a", 4), 3, 4)
READS(strncasecmp, Fill("hello"), strncasecmp(text, "HEx", 9), 2, 3)
READS(strverscmp, Fill("hello"), strverscmp(text, "hex"), 2, 3)
READS(strcoll, Fill("hello"), strcoll(text, "a"), 5, 6)
WRITES(strxfrm, , strxfrm(text, "abc", 100), 3, 4)
READS(fnmatch, Fill("hello"), fnmatch("h*", text, 0), 5, 6)
WRITES(strerror_r, , strerror_r(123456, text, 8), 7, 8)
READS(basename, Fill("a/bc"), basename(text), 4, 5)
READS(strtoimax, Fill("123 "), strtoimax(text, nullptr, 10), 3, 4)
READS(a64l, Fill("hello"), a64l(text), 5, 6)

// ---- Wide characters

WRITES(wcscpy, , wcscpy(wide, L"abc"), 15, 16)
WRITES(wcsncpy, , wcsncpy(wide, L"abc", 5), 19, 20)
WRITES(wcscat, Fill(L"ab"), wcscat(wide, L"cd"), 19, 20)
READS(wcscat_before, Fill(L"ab"), wcscat(wide, L"cd"), 0, 20)
READS(wcslen, Fill(L"abc"), wcslen(wide), 15, 16)
READS(wcsnlen, Fill(L"abc"), wcsnlen(wide, 2), 7, 8)
READS(wcscmp, Fill(L"abc"), wcscmp(wide, L"ax"), 7, 8)
READS(wcschr, Fill(L"abc"), wcschr(wide, L'b'), 7, 8)
READS(wcsstr, Fill(L"abcd"), wcsstr(wide, L"bc"), 11, 12)
READS(wcsspn, Fill(L"abc"), wcsspn(wide, L"a"), 7, 8)
WRITES(wcstok, Fill(L"ab,cd"), ({ wchar_t* next; wcstok(wide, L",", &next); }), 11, 12)
READS(wcsdup, Fill(L"abc"), free(wcsdup(wide)), 15, 16)
WRITES(wmemcpy, , wmemcpy(wide, L"abcd", 3), 11, 12)
WRITES(wmemmove, , wmemmove(wide, L"abcd", 3), 11, 12)
WRITES(wmemset, , wmemset(wide, L'a', 3), 11, 12)
READS(wmemcmp, Fill(L"abc"), wmemcmp(wide, L"axc", 3), 7, 8)
READS(wmemchr, Fill(L"abc"), wmemchr(wide, L'b', 3), 7, 8)
READS(wcstol, Fill(L"12 4"), ({ wchar_t* end; wcstol(wide, &end, 10); }), 11, 12)
WRITES(swprintf, , swprintf(wide, 64, L"%d", 123), 15, 16)
READS(swprintf_from, Fill(L"abc"), swprintf((wchar_t*)other, 64, L"%ls", wide), 15, 16)
WRITES(swscanf, , swscanf(L"ab cd", L"%ls", wide), 11, 12)
READS(fputws, Fill(L"abc"), ({ FILE* file = fopen("/dev/null", "w"); fputws(wide,
           file); fclose(file); }), 15, 16)

// ---- Between the two

WRITES(mbstowcs, , mbstowcs(wide, "abc", 64), 15, 16)
WRITES(wcstombs, , wcstombs(text, L"abc", 64), 3, 4)
WRITES(mbrtowc, , ({ mbstate_t state = {}; mbrtowc(wide, "abc", 3, &state); }), 3, 4)
READS(mbrtowc_from, Fill("abc"), ({ mbstate_t state = {}; wchar_t c; mbrtowc(&c, text, 3,
           &state); }), 0, 1)
WRITES(mbrtowc_state, , ({ wchar_t c; mbrtowc(&c, "abc", 3, As<mbstate_t>()); }), 7, 8)
WRITES(mbsrtowcs, , ({ mbstate_t state = {}; const char* from = "abc"; mbsrtowcs(wide, &from, 64,
           &state); }), 15, 16)
WRITES(wcrtomb, , ({ mbstate_t state = {}; wcrtomb(text, L'a', &state); }), 0, 1)
WRITES(mbtowc, , mbtowc(wide, "a", 1), 3, 4)

// ---- Formats

WRITES(asprintf, , ({ asprintf(As<char*>(), "%d", 1); free(*As<char*>()); }), 7, 8)
READS(asprintf_from, Fill("abc"), ({ char* made; asprintf(&made, "%s", text); free(made); }), 3, 4)
READS(dprintf, Fill("abc"), dprintf(1, "%s", text), 3, 4)
READS(printf_format, Fill("abc"), ({ const char* volatile format = text; printf(format); }), 3, 4)
WRITES(vsnprintf, , snprintf(text, 64, "%d", 123), 3, 4)

// ---- Times

WRITES(ctime_r, , ({ time_t time = 0; ctime_r(&time, text); }), 25, 26)
WRITES(asctime_r, , ({ tm time = {}; asctime_r(&time, text); }), 0, 64)
WRITES(gmtime_r, , ({ time_t time = 0; gmtime_r(&time, As<tm>()); }), 0, (int)sizeof(tm))
WRITES(localtime_r, , ({ time_t time = 0; localtime_r(&time, As<tm>()); }), 0, (int)sizeof(tm))
READS(mktime, , mktime(As<tm>()), 0, (int)sizeof(tm))
WRITES(strftime, , ({ tm time = {}; strftime(text, 64, "%H", &time); }), 2, 3)
WRITES(strptime, , strptime("12", "%H", As<tm>()), 8, (int)sizeof(tm))
WRITES(getrusage, , getrusage(RUSAGE_SELF, As<rusage>()), 0, (int)sizeof(rusage))
WRITES(times, , times(As<tms>()), 0, (int)sizeof(tms))

// ---- Values

WRITES(frexp, , frexp(sink, As<int>()), 3, 4)
WRITES(modf, , modf(sink, As<double>()), 7, 8)
WRITES(remquo, , remquo(sink, 2, As<int>()), 3, 4)
WRITES(sincos, , ({ double cosine; sincos(sink, As<double>(), &cosine); }), 7, 8)
WRITES(lrand48_r, srand48_r(1, (drand48_data*)other), lrand48_r((drand48_data*)other,
           As<long>()), 7, 8)
READS(nrand48, , nrand48(As<unsigned short>()), 5, 6)
WRITES(getrandom, , getrandom(text, 5, 0), 4, 5)
WRITES(getentropy, , getentropy(text, 5), 4, 5)

// ---- Searching

READS(regexec, Fill("abc"); regcomp((regex_t*)other, "b", 0), regexec((regex_t*)other, text, 0,
           nullptr, 0), 3, 4)
WRITES(regexec_match, regcomp((regex_t*)other, "b", 0), regexec((regex_t*)other, "abc", 1,
           As<regmatch_t>(), 0), 7, 8)
WRITES(tsearch, , ({ tsearch("a", As<void*>(), Compare); tdelete("a", As<void*>(), Compare); }),
           7, 8)
READS(bsearch, Fill("abc"), bsearch("b", text, 3, 1, Compare), 1, 2)
WRITES(lsearch, , ({ size_t count = 2; lsearch("z", text, &count, 1, Compare); }), 2, 3)

// ---- The system

WRITES(readv, , ({ int ends[2]; pipe(ends); write(ends[1], "abc", 3); iovec to = {text,
           9}; readv(ends[0], &to, 1); close(ends[0]); close(ends[1]); }), 2, 3)
READS(writev, Fill("abc"), ({ iovec from = {text, 3}; writev(1, &from, 1); }), 2, 3)
READS(access, Fill("/abc"), access(text, R_OK), 4, 5)
READS(open, Fill("/abc"), open(text, O_RDONLY), 4, 5)
READS(stat, Fill("/abc"), ({ struct stat status; stat(text, &status); }), 4, 5)
WRITES(realpath, , realpath("/", text), 1, 2)
WRITES(getcwd, , ({ chdir("/"); getcwd(text, 64); }), 1, 2)
WRITES(gethostname, , gethostname(text, 64), 0, 64)
WRITES(sysinfo, , sysinfo(As<struct sysinfo>()), 0, (int)sizeof(struct sysinfo))
WRITES(getrlimit, , getrlimit(RLIMIT_NOFILE, As<rlimit>()), 15, 16)
WRITES(inet_pton, , inet_pton(AF_INET, "1.2.3.4", text), 3, 4)
WRITES(inet_ntop, , inet_ntop(AF_INET, "abcd", text, 64), 12, 13)
WRITES(getpwuid_r, , ({ passwd* found; getpwuid_r(0, As<passwd>(), other, 1024, &found); }), 0,
           (int)sizeof(passwd))
WRITES(poll, , poll(As<pollfd>(), 1, 0), 7, 8)

// ---- Signals and attributes

WRITES(sigemptyset, , sigemptyset(As<sigset_t>()), 7, (int)sizeof(sigset_t))
WRITES(pthread_sigmask, , pthread_sigmask(SIG_BLOCK, nullptr, As<sigset_t>()), 7,
           (int)sizeof(sigset_t))
WRITES(sigaction, , sigaction(SIGUSR1, nullptr, As<struct sigaction>()), 7,
           (int)sizeof(struct sigaction))
WRITES(pthread_attr_init, , pthread_attr_init(As<pthread_attr_t>()), 0, (int)sizeof(pthread_attr_t))
WRITES(pthread_mutexattr_settype, pthread_mutexattr_init(As<pthread_mutexattr_t>()),
           pthread_mutexattr_settype(As<pthread_mutexattr_t>(), 1), 3, 4)

// ---- Streams

WRITES(fgetws, , ({ FILE* file = fopen("/etc/passwd", "r"); fgetws(wide, 3,
           file); fclose(file); }), 11, 12)
WRITES(setvbuf, , ({ FILE* file = fopen("/dev/null", "r"); setvbuf(file, text, _IOFBF,
           64); fclose(file); }), 63, 64)
WRITES(qsort, Fill("cba"), qsort(text, 3, 1, Compare), 2, 3)

// ---- What nobody is given: the state of generators without a lock.

MC_TEST(seed48_Inside) {
  srand48(5);
  std::thread thread([] { unsigned short seed[] = {1, 2, 3}; seed48(seed); });
  sink = lrand48();
  thread.join();
}
