// State that functions of the C library keep, and the locks of streams: one case for each, named by
// the first argument. corners.txt says what mc must make of it.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

namespace {

std::mutex mutex;
std::atomic<int> shared{0};

template <typename A, typename B>
void Together(A a, B b) {
  std::thread first(a), second(b);
  first.join();
  second.join();
}
template <typename A>
void Twice(A work) {
  Together(work, work);
}

// ---- The environment

void EnvironmentUnderALock() {
  static int found = 0;
  Twice([] {
    const std::lock_guard<std::mutex> lock(mutex);
    if (std::getenv("CORNER") != nullptr) {
      ++found;
    } else {
      setenv("CORNER", "1", 1);
    }
  });
  assert(found == 1);
}
void EnvironmentInOneOrder() {
  Together(
      [] {
        const std::lock_guard<std::mutex> lock(mutex);
        assert(std::getenv("CORNER") == nullptr);
      },
      [] {
        const std::lock_guard<std::mutex> lock(mutex);
        setenv("CORNER", "1", 1);
      });
}
void EnvironmentRace() {
  Together([] { std::getenv("CORNER"); }, [] { setenv("CORNER", "1", 1); });
}
// These lock each other out.
void EnvironmentChanges() {
  Together([] { setenv("CORNER", "1", 1); }, [] { unsetenv("CORNER"); });
}

// ---- Strings, numbers, times

void StrtokUnderALock() {
  static char text[] = "a,b,c";
  static int taken[3];
  ++taken[*std::strtok(text, ",") - 'a'];
  Twice([] {
    const std::lock_guard<std::mutex> lock(mutex);
    ++taken[*std::strtok(nullptr, ",") - 'a'];
  });
  assert(taken[0] == 1 && taken[1] == 1 && taken[2] == 1);
}
void StrtokRace() {
  static char a[] = "a b", b[] = "c d";
  Together([] { std::strtok(a, " "); }, [] { std::strtok(b, " "); });
}
void StrtokOfEachItsOwn() {
  static char texts[2][8] = {"a b", "c d"};
  const auto work = [](int number) {
    char* next = nullptr;
    assert(*strtok_r(texts[number], " ", &next) == (number == 0 ? 'a' : 'c'));
    assert(*strtok_r(nullptr, " ", &next) == (number == 0 ? 'b' : 'd'));
  };
  Together([=] { work(0); }, [=] { work(1); });
}
void TimeRace() {
  const auto work = [] {
    const std::time_t time = 0;
    std::gmtime(&time);
  };
  Twice(work);
}
void TimeOfEachItsOwn() {
  const auto work = [] {
    const std::time_t time = 86400;
    std::tm parts;
    assert(gmtime_r(&time, &parts)->tm_mday == 2);
    assert(localtime_r(&time, &parts) != nullptr);
  };
  Twice(work);
}
void NumberRace() {
  static char text[] = "12";
  Together([] { assert(std::strtol(text, nullptr, 10) > 0); }, [] { text[1] = '3'; });
}
void ScanRace() {
  static char text[] = "12 x";
  Together(
      [] {
        int number = 0;
        char word[4];
        assert(std::sscanf(text, "%d %3s", &number, word) == 2 && number > 0);
      },
      [] { text[1] = '3'; });
}
void ScannedRace() {
  static int number = 0;
  Together([] { std::sscanf("12", "%d", &number); }, [] { number = 1; });
}
void PrintRace() {
  static char text[] = "word";
  Together([] { std::printf("%d %-*.*s%%%s\n", 1, 5, 2, text, text); }, [] { text[1] = 'a'; });
}
// Only two characters are read.
void PrintedUpToPrecision() {
  static char text[] = "word";
  Together([] { std::printf("%.2s %5.1f %c\n", text, 1.5, 'c'); }, [] { text[3] = 'a'; });
}
void PrintsFreedString() {
  static char* const text = strdup("word");
  static std::mutex guard;
  Together(
      [] {
        const std::lock_guard<std::mutex> lock(guard);
        std::printf("%s\n", text);
      },
      [] {
        const std::lock_guard<std::mutex> lock(guard);
        std::free(text);
      });
}

// ---- Random numbers

// A call of the other thread between the two of this one.
void RandomInBetween() {
  std::srand(1);
  static int second, other;
  std::rand();
  second = std::rand();
  std::srand(1);
  Together(
      [] {
        std::rand();
        std::rand();
      },
      [] { other = std::rand(); });
  assert(other != second);
}

// ---- Streams

std::FILE* stream = nullptr;

void StreamOfTwo() {
  stream = std::tmpfile();
  Twice([] {
    ++shared;
    assert(std::fputs("x", stream) >= 0);
    assert(std::fflush(stream) == 0);
    ++shared;
  });
  assert(std::ftell(stream) == 2);
  std::fclose(stream);
}
void StreamLinesInOneOrder() {
  stream = std::tmpfile();
  std::fputs("1\n2\n", stream);
  std::rewind(stream);
  static std::atomic<int> first{0};
  Together(
      [] {
        char line[8];
        assert(std::fgets(line, sizeof line, stream) != nullptr);
        first = line[0] - '0';
      },
      [] { std::fgetc(stream); });
  std::fclose(stream);
  assert(first != 2 && first >= 0);
}
// What a stream orders is ordered.
void StreamSynchronises() {
  static int value = 0;
  stream = std::tmpfile();
  Together(
      [] {
        value = 1;
        std::fputc('x', stream);
      },
      [] {
        std::fflush(stream);
        if (std::ftell(stream) == 1) assert(value == 1);
      });
  std::fclose(stream);
}
void StreamLockedForTwoCalls() {
  stream = std::tmpfile();
  const auto work = [](char letter) {
    flockfile(stream);
    std::fputc(letter, stream);
    flockfile(stream);
    std::fputc(letter, stream);
    funlockfile(stream);
    funlockfile(stream);
  };
  Together([=] { work('a'); }, [=] { work('b'); });
  std::rewind(stream);
  char text[5] = {};
  assert(std::fread(text, 1, 4, stream) == 4 && text[0] == text[1] && text[2] == text[3]);
  std::fclose(stream);
}
void StreamDeadlock() {
  Together(
      [] {
        flockfile(stdout);
        { const std::lock_guard<std::mutex> lock(mutex); }
        funlockfile(stdout);
      },
      [] {
        const std::lock_guard<std::mutex> lock(mutex);
        std::printf("x\n");
      });
}
void StreamClosedTooEarly() {
  stream = std::tmpfile();
  Together([] { std::fputc('x', stream); }, [] { std::fclose(stream); });
}
void StreamUnlockedByAStranger() {
  stream = std::tmpfile();
  flockfile(stream);
  std::thread([] { funlockfile(stream); }).join();
  funlockfile(stream);
  std::fclose(stream);
}
void StreamTried() {
  if (ftrylockfile(stdout) == 0) funlockfile(stdout);
}

// ---- Files

const char* Name(const char* suffix) {
  static char names[2][64];
  static int count = 0;
  char* const name = names[count++ % 2];
  std::snprintf(name, sizeof names[0], "corner_library_state.%d.%s", static_cast<int>(getpid()),
                suffix);
  return name;
}

void FileMadeByTheFirst() {
  static const char* const name = Name("first");
  static int made = 0;
  unlink(name);
  Twice([] {
    const std::lock_guard<std::mutex> lock(mutex);
    const int file = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (file < 0) return;
    ++made;
    close(file);
  });
  unlink(name);
  assert(made == 1);
}
void FileInOneOrder() {
  static const char* const name = Name("order");
  unlink(name);
  Together([] { assert(access(name, F_OK) != 0); },
           [] { close(open(name, O_CREAT | O_WRONLY, 0600)); });
  unlink(name);
}
void FileLosesAnUpdate() {
  static const char* const name = Name("update");
  unlink(name);
  const auto work = [] {
    char value = 0;
    int file = open(name, O_RDONLY);
    if (file >= 0) {
      if (read(file, &value, 1) != 1) value = 0;
      close(file);
    }
    ++value;
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert(write(file, &value, 1) == 1);
    close(file);
  };
  Twice(work);
  const int file = open(name, O_RDONLY);
  char value = 0;
  const bool is_read = read(file, &value, 1) == 1;
  close(file);
  unlink(name);
  assert(is_read && value == 2);
}
// Each makes, writes and removes one of its own, with a name that differs from run to run.
void FilesOfEachItsOwn() {
  Twice([] {
    char name[] = "corner_library_state.XXXXXX";
    const int file = mkstemp(name);
    assert(file >= 0 && write(file, "x", 1) == 1);
    struct stat status;
    assert(stat(name, &status) == 0 && status.st_size == 1);
    assert(unlink(name) == 0);
    close(file);
  });
}
void DescriptorsInOneOrder() {
  static const int lowest = [] {
    const int file = dup(1);
    close(file);
    return file;
  }();
  Together([] { assert(open("/dev/null", O_RDONLY) == lowest); },
           [] { open("/dev/zero", O_RDONLY); });
}
void PipeInOneOrder() {
  static int ends[2];
  static std::atomic<char> first{0};
  assert(pipe(ends) == 0);
  Together([] { assert(write(ends[1], "a", 1) == 1); },
           [] { assert(write(ends[1], "b", 1) == 1); });
  char text[2];
  assert(read(ends[0], text, 2) == 2 && text[0] == 'a');
}
void DirectoryInOneOrder() {
  Together(
      [] {
        char path[4096];
        assert(getcwd(path, sizeof path) != nullptr && std::strcmp(path, "/") != 0);
      },
      [] { assert(chdir("/") == 0); });
}

constexpr struct {
  const char* name;
  void (*run)();
} kCases[] = {
    {"environment-under-a-lock", EnvironmentUnderALock},
    {"environment-in-one-order", EnvironmentInOneOrder},
    {"environment-race", EnvironmentRace},
    {"environment-changes", EnvironmentChanges},
    {"strtok-under-a-lock", StrtokUnderALock},
    {"strtok-race", StrtokRace},
    {"strtok-of-each-its-own", StrtokOfEachItsOwn},
    {"time-race", TimeRace},
    {"time-of-each-its-own", TimeOfEachItsOwn},
    {"number-race", NumberRace},
    {"scan-race", ScanRace},
    {"scanned-race", ScannedRace},
    {"print-race", PrintRace},
    {"printed-up-to-precision", PrintedUpToPrecision},
    {"prints-freed-string", PrintsFreedString},
    {"random-in-between", RandomInBetween},
    {"stream-of-two", StreamOfTwo},
    {"stream-lines-in-one-order", StreamLinesInOneOrder},
    {"stream-synchronises", StreamSynchronises},
    {"stream-locked-for-two-calls", StreamLockedForTwoCalls},
    {"stream-deadlock", StreamDeadlock},
    {"stream-closed-too-early", StreamClosedTooEarly},
    {"stream-unlocked-by-a-stranger", StreamUnlockedByAStranger},
    {"stream-tried", StreamTried},
    {"file-made-by-the-first", FileMadeByTheFirst},
    {"file-in-one-order", FileInOneOrder},
    {"file-loses-an-update", FileLosesAnUpdate},
    {"files-of-each-its-own", FilesOfEachItsOwn},
    {"descriptors-in-one-order", DescriptorsInOneOrder},
    {"pipe-in-one-order", PipeInOneOrder},
    {"directory-in-one-order", DirectoryInOneOrder},
};

}  // namespace

int main(int argc, char** argv) {
  for (const auto& one : kCases) {
    if (argc == 2 && std::strcmp(argv[1], one.name) == 0) {
      one.run();
      return 0;
    }
  }
  std::fprintf(stderr, "usage: corner_library_state CASE\n");
  return 2;
}
