// What libraries keep where no access of the program shows it: thread-specific keys, handlers, the
// time zone, the locale, what they have made once for all; and what belongs to a thread and goes
// with it. corners.txt says what mc must make of each.
#include <execinfo.h>
#include <fenv.h>
#include <iconv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cwchar>
#include <cwctype>
#include <exception>
#include <iostream>
#include <locale>
#include <mutex>
#include <new>
#include <sstream>
#include <thread>

#include "mc/mc.h"

namespace {

std::atomic<int> count{0};
std::mutex mutex;

template <typename A, typename B>
void Together(A a, B b) {
  std::thread first(a), second(b);
  first.join();
  second.join();
}

pthread_key_t key;
void HandlerA() { _exit(0); }
void HandlerB() { std::abort(); }

}  // namespace

// ---- Thread-specific keys

MC_TEST(KeyIsReadAfterDeletion) {
  static int value;
  pthread_key_create(&key, nullptr);
  pthread_setspecific(key, &value);
  std::thread other([] { pthread_key_delete(key); });
  mc_assert(pthread_getspecific(key) == &value);
  other.join();
}
MC_TEST(KeyIsSetAfterDeletion) {
  pthread_key_create(&key, nullptr);
  std::thread other([] { mc_assert(pthread_setspecific(key, &key) == 0); });
  pthread_key_delete(key);
  other.join();
}
MC_TEST(DeletedKey) {
  pthread_key_create(&key, nullptr);
  mc_assert(pthread_setspecific(key, &key) == 0);
  mc_assert(pthread_key_delete(key) == 0 && pthread_key_delete(key) == EINVAL);
  mc_assert(pthread_setspecific(key, &key) == EINVAL && pthread_getspecific(key) == nullptr);
  mc_assert(pthread_setspecific(1000, &key) == EINVAL);
}
// Each thread's key is its own, though their numbers may be the same.
MC_TEST(KeyOfEachThread) {
  const auto work = [] {
    pthread_key_t own;
    mc_assert(pthread_key_create(&own, nullptr) == 0);
    mc_assert(pthread_getspecific(own) == nullptr && pthread_setspecific(own, &own) == 0);
    mc_assert(pthread_getspecific(own) == &own && pthread_key_delete(own) == 0);
  };
  Together(work, work);
}
MC_TEST(KeyIsDeletedInTime) {
  pthread_key_create(&key, nullptr);
  const auto work = [] { mc_assert(pthread_setspecific(key, &key) == 0); };
  Together(work, work);
  pthread_key_delete(key);
}

// ---- Handlers of the C++ library

MC_TEST(TerminateHandler) {
  std::set_terminate(HandlerA);
  std::thread other([] { std::set_terminate(HandlerB); });
  mc_assert(std::get_terminate() == HandlerA);
  other.join();
}
MC_TEST(TerminateHandlerIsCalled) {
  std::set_terminate(HandlerA);
  std::thread other([] { std::set_terminate(HandlerB); });
  throw 1;
}
MC_TEST(NewHandler) {
  std::thread other([] { std::set_new_handler(HandlerB); });
  mc_assert(std::set_new_handler(HandlerA) == nullptr);
  other.join();
}
// ---- The time zone

MC_TEST(ZoneIsLookedUpByAnother) {
  std::thread other([] {
    setenv("TZ", "EST5", 1);
    tzset();
  });
  const std::time_t time = 86400;
  std::tm parts;
  localtime_r(&time, &parts);
  other.join();
  mc_assert(parts.tm_hour == 0);
}
MC_TEST(ZoneUnderALock) {
  const auto work = [] {
    const std::lock_guard<std::mutex> lock(mutex);
    std::tm parts = {};
    parts.tm_mday = 2;
    parts.tm_year = 70;
    setenv("TZ", count++ == 0 ? "EST5" : "UTC0", 1);
    mc_assert(std::mktime(&parts) == 86400 + (count == 1 ? 5 * 3600 : 0));
  };
  Together(work, work);
}
// Looking it up again changes nothing.
MC_TEST(ZoneOfEachItsOwn) {
  const auto work = [] {
    std::tm parts = {};
    parts.tm_mday = 2;
    parts.tm_year = 70;
    char text[32];
    mc_assert(std::mktime(&parts) == 86400 && std::strftime(text, sizeof text, "%F", &parts) == 10);
  };
  Together(work, work);
}

MC_TEST(ZoneVariables) {
  setenv("TZ", "AAA-1", 1);
  tzset();
  setenv("TZ", "BBB-2CCC", 1);
  std::thread other([] { tzset(); });
  const bool is_first = timezone == -3600 && daylight == 0;
  other.join();
  mc_assert(is_first);
}
MC_TEST(ZoneNames) {
  setenv("TZ", "AAA-1", 1);
  tzset();
  setenv("TZ", "BBB-2", 1);
  std::thread other([] {
    std::tm parts = {};
    std::mktime(&parts);
  });
  const bool is_first = tzname[0][0] == 'A';
  other.join();
  mc_assert(is_first);
}
MC_TEST(ZoneVariablesUnderALock) {
  const auto work = [] {
    const std::lock_guard<std::mutex> lock(mutex);
    setenv("TZ", count++ == 0 ? "AAA-1" : "BBB-2", 1);
    const std::time_t time = 0;
    std::localtime(&time);
    mc_assert(timezone == -3600 * count && daylight == 0);
  };
  Together(work, work);
}

// ---- The locale

MC_TEST(LengthOfCharacters) {
  std::thread other([] { std::setlocale(LC_ALL, "C.UTF-8"); });
  const std::size_t length = MB_CUR_MAX;
  other.join();
  mc_assert(length == 1);
}
MC_TEST(LocaleOfAConversion) {
  std::thread other([] { std::setlocale(LC_CTYPE, "C.UTF-8"); });
  char text[8];
  const int length = std::wctomb(text, L'\u00e4');
  other.join();
  mc_assert(length == -1);
}
MC_TEST(LocaleOfAClass) {
  std::thread other([] { std::setlocale(LC_CTYPE, "C.UTF-8"); });
  const bool is_letter = std::iswalpha(L'\u00e4');
  other.join();
  mc_assert(!is_letter);
}
MC_TEST(FractionWhileLocaleChanges) {
  std::thread other([] { std::setlocale(LC_ALL, "C.UTF-8"); });
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 1.5);
  other.join();
}
MC_TEST(NumberWhileLocaleChanges) {
  std::thread other([] { std::setlocale(LC_ALL, "C.UTF-8"); });
  mc_assert(std::strtod("1.5", nullptr) == 1.5);
  other.join();
}
// Whoever comes first loads it, for all.
MC_TEST(LocaleIsLoadedByEither) {
  const auto work = [] {
    const locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", nullptr);
    const locale_t before = uselocale(own);
    const locale_t copy = duplocale(own);
    freelocale(copy);
    std::mbstate_t state{};
    wchar_t character;
    {
      std::lock_guard lock(mutex);
      mc_assert(std::mbrtowc(&character, "\xc3\xa9", 2, &state) == 2 && character == 0xe9);
    }
    uselocale(before);
    freelocale(own);
  };
  Together(work, work);
}
MC_TEST(LocaleOfEachThread) {
  std::thread other([] { std::setlocale(LC_ALL, "C.UTF-8"); });
  const locale_t own = newlocale(LC_ALL_MASK, "C", nullptr);
  uselocale(own);
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 1.5);
  mc_assert(MB_CUR_MAX == 1 && std::strtod("1.5", nullptr) == 1.5);
  uselocale(LC_GLOBAL_LOCALE);
  freelocale(own);
  other.join();
}

// ---- What libraries make once for all

MC_TEST(TextsOfErrors) {
  const auto work = [] {
    mc_assert(std::strcmp(std::strerror(9999), "Unknown error 9999") == 0);
    ++count;
    mc_assert(std::strcmp(std::strerror(9998), "Unknown error 9998") == 0);
    mc_assert(std::strstr(strsignal(9997), "9997") != nullptr);
  };
  Together(work, work);
  work();
}
MC_TEST(Backtrace) {
  const auto work = [] {
    void* frames[4];
    mc_assert(backtrace(frames, 4) > 0);
    ++count;
    std::free(backtrace_symbols(frames, 1));
  };
  Together(work, work);
}
MC_TEST(Conversion) {
  const auto work = [] {
    const iconv_t conversion = iconv_open("UTF-16LE", "UTF-8");
    char in[] = "ab", out[8];
    char *from = in, *to = out;
    std::size_t from_left = 2, to_left = sizeof out;
    mc_assert(iconv(conversion, &from, &from_left, &to, &to_left) == 0 && out[2] == 'b');
    ++count;
    mc_assert(iconv_close(conversion) == 0);
  };
  Together(work, work);
}
MC_TEST(ConversionRace) {
  static char in[] = "ab";
  std::thread other([] { in[1] = 'c'; });
  const iconv_t conversion = iconv_open("UTF-16LE", "UTF-8");
  char out[8];
  char *from = in, *to = out;
  std::size_t from_left = 2, to_left = sizeof out;
  iconv(conversion, &from, &from_left, &to, &to_left);
  iconv_close(conversion);
  other.join();
}
MC_TEST(WideOutputUnderALock) {
  const auto work = [] {
    const std::lock_guard<std::mutex> lock(mutex);
    std::wprintf(L"%d\n", ++count);
    std::wcout << L"text" << std::endl;
  };
  Together(work, work);
}
MC_TEST(WideOutput) {
  const auto work = [] { std::wprintf(L"%d\n", ++count); };
  Together(work, work);
}

// ---- What belongs to a thread

MC_TEST(StackOfJoinedThread) {
  int* place = nullptr;
  std::thread other([&] {
    int local = 1;
    place = &local;
    ++count;
  });
  other.join();
  *place = 3;
}
MC_TEST(StackOfThreadThatMayHaveEnded) {
  static std::atomic<int*> place{nullptr};
  std::thread other([] {
    int local = 1;
    place = &local;
    ++count;
  });
  if (int* const found = place) count += *found;
  other.join();
}
MC_TEST(StackOfThreadThatWaits) {
  static std::atomic<int*> place{nullptr};
  static std::atomic<bool> done{false};
  std::thread other([] {
    int local = 1;
    place = &local;
    while (!done) std::this_thread::yield();
  });
  while (place == nullptr) std::this_thread::yield();
  ++*place;
  done = true;
  other.join();
}
MC_TEST(ThreadLocalOfJoinedThread) {
  thread_local int variable = 0;
  int* place = nullptr;
  std::thread other([&] { place = &variable; });
  other.join();
  *place = 3;
}
pthread_key_t renewed_key;
void SetAgain(void* value) {
  ++count;
  pthread_setspecific(renewed_key, value);
}
MC_TEST(KeyDestructorSetsItsValueAgain) {
  pthread_key_create(&renewed_key, &SetAgain);
  std::thread other([] { pthread_setspecific(renewed_key, &renewed_key); });
  other.join();
  mc_assert(count == PTHREAD_DESTRUCTOR_ITERATIONS);
}
MC_TEST(MutexOnStackOfJoinedThread) {
  pthread_mutex_t* place = nullptr;
  std::thread other([&] {
    pthread_mutex_t local = PTHREAD_MUTEX_INITIALIZER;
    place = &local;
    pthread_mutex_lock(place);
    pthread_mutex_unlock(place);
  });
  other.join();
  pthread_mutex_lock(place);
}
MC_TEST(RoundingOfEachThread) {
  std::fesetround(FE_DOWNWARD);
  std::thread other([] {
    mc_assert(fegetround() == FE_DOWNWARD);  // its creator's
    fesetround(FE_UPWARD);
    ++count;
    volatile float one = 1, three = 3;
    const float sum = one / three;
    mc_assert(fegetround() == FE_UPWARD && sum * 3.0 >= 1);
  });
  fesetround(FE_TOWARDZERO);
  ++count;
  mc_assert(fegetround() == FE_TOWARDZERO);
  other.join();
  mc_assert(fegetround() == FE_TOWARDZERO);
  fesetround(FE_TONEAREST);
}
MC_TEST(NameOfEachThread) {
  prctl(PR_SET_NAME, "first");
  std::thread other([] {
    char name[16];
    mc_assert(prctl(PR_GET_NAME, name) == 0 && std::strcmp(name, "first") == 0);
    prctl(PR_SET_NAME, "second");
    mc_assert(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    mc_assert(std::strcmp(name, "second") == 0);
  });
  other.join();
  char name[16];
  mc_assert(prctl(PR_GET_NAME, name) == 0 && std::strcmp(name, "first") == 0);
}
MC_TEST(NameIsAskedFor) {
  pthread_setname_np(pthread_self(), "before");
  std::thread other([main = pthread_self()] { pthread_setname_np(main, "after"); });
  char name[16];
  pthread_getname_np(pthread_self(), name, sizeof name);
  other.join();
  mc_assert(std::strcmp(name, "before") == 0);
}
MC_TEST(PropertiesOfEachThread) {
  std::thread other([] {
    cpu_set_t one, now;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    mc_assert(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0);
    mc_assert(sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&one, &now));
    CPU_ZERO(&one);
    mc_assert(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == EINVAL);
    sched_param parameters = {};
    int policy = 0, old = -1;
    mc_assert(pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters) == 0);
    mc_assert(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
    mc_assert(policy == SCHED_BATCH);
    mc_assert(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old) == 0);
    mc_assert(old == PTHREAD_CANCEL_ENABLE);
    ++count;
  });
  ++count;
  int policy = -1, old = -1;
  sched_param parameters;
  pthread_getschedparam(pthread_self(), &policy, &parameters);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
  mc_assert(policy == SCHED_OTHER && old == PTHREAD_CANCEL_ENABLE);
  other.join();
}
MC_TEST(ErrorNumberOfEachThread) {
  errno = 7;
  std::thread other([] {
    errno = 5;
    ++count;
    mc_assert(errno == 5);
  });
  ++count;
  mc_assert(errno == 7);
  other.join();
  mc_assert(errno == 7);
}
// Every execution begins with none.
MC_TEST(FloatingFlags) {
  mc_assert(std::fetestexcept(FE_ALL_EXCEPT) == 0);
  std::thread other([] { ++count; });
  ++count;
  other.join();
  volatile long double zero = 0, one = 1;
  zero = one / zero;
  mc_assert(std::fetestexcept(FE_DIVBYZERO) != 0);
}

// ---- What belongs to the process

namespace {
int exits = 0;
void FirstExit() { mc_assert(exits++ == 1); }
void SecondExit() { mc_assert(exits++ == 0); }
}  // namespace

MC_TEST(OrderOfExitHandlers) {
  std::thread other([] { std::atexit(SecondExit); });
  std::atexit(FirstExit);
  other.join();
  std::exit(0);
}
MC_TEST(OrderOfQuickExitHandlers) {
  std::thread other([] { std::at_quick_exit(SecondExit); });
  std::at_quick_exit(FirstExit);
  other.join();
  std::quick_exit(0);
}
MC_TEST(RightsOfAFile) {
  umask(022);
  std::thread other([] { umask(077); });
  char name[] = "rights.XXXXXX";
  const int made = mkstemp(name);
  close(made);
  unlink(name);
  mkdir(name, 0777);
  struct stat status = {};
  stat(name, &status);
  rmdir(name);
  other.join();
  mc_assert((status.st_mode & 0777) == 0755);
}
MC_TEST(DefaultsOfThreads) {
  std::thread other([] { pthread_setconcurrency(4); });
  const int level = pthread_getconcurrency();
  other.join();
  mc_assert(level == 0);
}

namespace {
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};
}  // namespace

MC_TEST(GlobalLocale) {
  const std::locale with_comma(std::locale::classic(), new Comma);
  std::thread other([&] { std::locale::global(with_comma); });
  const std::locale now;
  other.join();
  std::locale::global(std::locale::classic());
  mc_assert(now == std::locale::classic());
}
MC_TEST(GlobalLocaleOfAStream) {
  const std::locale with_comma(std::locale::classic(), new Comma);
  std::thread other([&] { std::locale::global(with_comma); });
  std::ostringstream text;
  text << 1.5;
  other.join();
  std::locale::global(std::locale::classic());
  mc_assert(text.str() == "1.5");
}
