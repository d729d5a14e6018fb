// What a FILE keeps besides its contents: whether narrow or wide characters were written first, the
// end of the file, which file it is. In each case one thread changes what another asks for.
// corners.txt says what mc must make of each.
#include <stdio_ext.h>

#include <cstdio>
#include <cwchar>
#include <thread>

#include "mc/mc.h"

namespace {

// Fails if the change may come before the question.
template <typename Change, typename Ask>
void ChangeAndAsk(Change change, Ask ask) {
  std::thread other(change);
  const bool is_as_before = ask();
  other.join();
  mc_assert(is_as_before);
}

// Closed at the end.
class File {
 public:
  explicit File(FILE* file) : file_(file) {}
  ~File() { std::fclose(file_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  operator FILE*() const { return file_; }

 private:
  FILE* file_;
};

}  // namespace

// ---- Orientation

MC_TEST(Orientation) {
  const File file(std::tmpfile());
  ChangeAndAsk([&] { std::fwide(file, 1); }, [&] { return std::fwide(file, -1) < 0; });
}
MC_TEST(OrientationOfOutput) {
  ChangeAndAsk([] { std::fwide(stdout, 1); }, [] { return std::puts("text") >= 0; });
}
MC_TEST(WideBeforeNarrow) {
  ChangeAndAsk([] { std::wprintf(L"%d", 1); }, [] { return std::printf("%d", 1) == 1; });
}
MC_TEST(NarrowOutput) {
  const auto work = [] {
    mc_assert(std::puts("text") >= 0 && std::fputc('x', stderr) == 'x');
    mc_assert(std::printf("%d\n", 1) == 2 && std::fflush(stdout) == 0);
  };
  std::thread other(work);
  work();
  other.join();
}
MC_TEST(ErrorOutputIsNarrow) {
  ChangeAndAsk([] { std::fputs("text", stderr); }, [] { return std::fwide(stderr, 0) == 0; });
}

// ---- What standard output is

MC_TEST(OutputIsClosed) {
  ChangeAndAsk([] { std::fclose(stdout); }, [] { return std::puts("text") >= 0; });
}
MC_TEST(OutputGoesElsewhere) {
  ChangeAndAsk([] { mc_assert(std::freopen("/dev/full", "w", stdout) == stdout); },
               [] {
                 std::fputc('x', stdout);
                 return std::fflush(stdout) == 0;
               });
}
MC_TEST(PositionOfOutput) {
  mc_assert(std::freopen("/dev/null", "w", stdout) == stdout);
  ChangeAndAsk([] { std::puts("text"); }, [] { return std::ftell(stdout) == 0; });
}

// ---- Functions without a lock

MC_TEST(EndOfFileWithoutLock) {
  const File file(std::fopen("/dev/null", "r"));
  ChangeAndAsk([&] { std::fgetc(file); }, [&] { return feof_unlocked(file) == 0; });
}
MC_TEST(PendingOutput) {
  const File file(std::tmpfile());
  ChangeAndAsk([&] { std::fputc('x', file); }, [&] { return __fpending(file) == 0; });
}
MC_TEST(WideCharactersWithoutLock) {
  const File file(std::tmpfile());
  std::thread other([&] { fputwc_unlocked(L'x', file); });
  fputwc_unlocked(L'x', file);
  other.join();
}
MC_TEST(KindOfLock) {
  const File file(std::tmpfile());
  ChangeAndAsk([&] { __fsetlocking(file, FSETLOCKING_BYCALLER); },
               [&] { return __fsetlocking(file, FSETLOCKING_QUERY) == FSETLOCKING_INTERNAL; });
}
MC_TEST(NumberOfAStream) {
  const File file(std::fopen("/dev/null", "r"));
  ChangeAndAsk([&] { std::freopen("/dev/does-not-exist", "r", file); },
               [&] { return fileno(file) >= 0; });
}
MC_TEST(HeldAcrossCalls) {
  const File file(std::tmpfile());
  const auto work = [&] {
    flockfile(file);
    putc_unlocked('x', file);
    mc_assert(ferror_unlocked(file) == 0 && fputc_unlocked('y', file) == 'y');
    funlockfile(file);
    mc_assert(std::fputc('z', file) == 'z');
  };
  std::thread other(work);
  work();
  other.join();
  mc_assert(std::ftell(file) == 6);
}
