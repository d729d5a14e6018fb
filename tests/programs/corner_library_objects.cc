// Further parts of the standard library that are compiled into it: memory resources, what streams
// read into variables, handles of threads, locales, exception pointers. corners.txt says what mc
// must make of each.
#include <mc/mc.h>

#include <exception>
#include <locale>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex g_lock;

template <typename Body>
void InTwoThreads(Body body) {
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
}

void Use(std::pmr::memory_resource& resource) {
  std::pmr::vector<std::pmr::string> texts(&resource);
  texts.emplace_back("a text that is too long to be in place");
  texts.emplace_back("another one that is as long as that");
}

}  // namespace

// ------------------------------------------------------------------------------- memory resources

MC_TEST(PoolUnderALock) {
  static std::pmr::unsynchronized_pool_resource pool;
  InTwoThreads([](int) {
    std::lock_guard<std::mutex> hold(g_lock);
    Use(pool);
  });
  pool.release();
}
MC_TEST(PoolWithoutALock) {
  static std::pmr::unsynchronized_pool_resource pool;
  pool.deallocate(pool.allocate(16), 16);
  InTwoThreads([](int) { pool.deallocate(pool.allocate(16), 16); });
  pool.release();
}
MC_TEST(SynchronisedPool) {
  std::pmr::synchronized_pool_resource pool;
  InTwoThreads([&](int) { pool.deallocate(pool.allocate(16), 16); });
}
MC_TEST(BufferUnderALock) {
  static std::pmr::monotonic_buffer_resource buffer;
  InTwoThreads([](int) {
    std::lock_guard<std::mutex> hold(g_lock);
    Use(buffer);
  });
  buffer.release();
}
MC_TEST(BufferWithoutALock) {
  static char memory[256];
  static std::pmr::monotonic_buffer_resource buffer(memory, sizeof memory);
  InTwoThreads([](int) { mc_assert(buffer.allocate(16) != nullptr); });
}

// ------------------------------------------------------------- what streams read, and what they
// write

// Streams do what they do without mc.
MC_TEST(Reading) {
  std::istringstream input("12 3.5 x word rest of line\nnext line\nabcdefgh");
  int number = -1;
  double half = 0;
  char character = 0;
  std::string word, line;
  input >> number >> half >> character >> word;
  mc_assert(number == 12 && half == 3.5 && character == 'x' && word == "word");
  std::getline(input, line);
  mc_assert(line == " rest of line");
  std::getline(input, line, ' ');
  mc_assert(line == "next");
  char buffer[8];
  input.getline(buffer, sizeof buffer);
  mc_assert(std::string(buffer) == "line");
  input.get(buffer, 4);
  mc_assert(std::string(buffer) == "abc");
  input.read(buffer, 2);
  mc_assert(buffer[0] == 'd' && input.gcount() == 2);
  mc_assert(input.get(buffer[0]) && buffer[0] == 'f');
  long none = 7;
  input >> none;
  mc_assert(none == 0 && input.fail());
  input.clear();
  input >> word;
  mc_assert(word == "gh" && input.eof());
  none = 7;
  input >> none;
  mc_assert(none == 7);
}
MC_TEST(ReadingThatThrows) {
  std::istringstream input("word");
  input.exceptions(std::ios::failbit);
  int number = 9;
  bool thrown = false;
  try {
    input >> number;
  } catch (const std::ios_base::failure&) {
    thrown = true;
  }
  mc_assert(thrown && number == 0);
}

MC_TEST(ReadsAVariable) {
  static int value;
  std::thread reader([] { std::istringstream("3") >> value; });
  value = 1;
  reader.join();
}
// Not hidden by the lock: one of the two orders fails.
MC_TEST(ReadsAVariableInOneOrder) {
  static int value;
  std::thread reader([] {
    std::lock_guard<std::mutex> hold(g_lock);
    std::istringstream("3") >> value;
  });
  {
    std::lock_guard<std::mutex> hold(g_lock);
    mc_assert(value == 0);
  }
  reader.join();
}
MC_TEST(ReadsAWideVariable) {
  static double value;
  std::thread reader([] { std::wistringstream(L"3.5") >> value; });
  value = 1;
  reader.join();
}
MC_TEST(ReadsACharacter) {
  static char value;
  std::thread reader([] { std::istringstream("x").get(value); });
  value = 1;
  reader.join();
}
MC_TEST(ReadsOneByte) {
  static char value[2];
  std::thread reader([] { std::istringstream("x").read(&value[1], 1); });
  value[1] = 1;
  reader.join();
}
MC_TEST(ReadsAWord) {
  static std::string text;
  InTwoThreads([](int) { std::istringstream("x") >> text; });
}
MC_TEST(ReadsALine) {
  static std::string text;
  InTwoThreads([](int) {
    std::istringstream input("x");
    std::getline(input, text);
  });
}
MC_TEST(WritesOneCharacter) {
  static char text[2] = "x";
  std::thread writer([] { std::ostringstream() << text; });
  text[0] = 'y';
  writer.join();
}

// --------------------------------------------------------------------------------- small objects

MC_TEST(DetachesWithoutALock) {
  static std::thread handle;
  handle = std::thread([] {});
  std::thread other([] { handle.detach(); });
  const volatile bool is_attached = handle.joinable();
  (void)is_attached;
  other.join();
}

// Whoever drops the last copy frees it.
MC_TEST(LocaleOfTwoThreads) {
  auto* const locale = new std::locale(std::locale(), new std::numpunct<char>);
  const auto drop = [copy = *locale]() mutable { copy = std::locale::classic(); };
  delete locale;
  std::thread one(drop), two(drop);
  one.join();
  two.join();
}
MC_TEST(LocaleWithoutALock) {
  static std::locale locale;
  const std::locale mine(std::locale(), new std::numpunct<char>);
  InTwoThreads([&](int) { locale = mine; });
  locale = std::locale::classic();
}

MC_TEST(SharedPointerFunctions) {
  static std::shared_ptr<int> shared = std::make_shared<int>(1);
  std::thread writer([] { std::atomic_store(&shared, std::make_shared<int>(2)); });
  mc_assert(*std::atomic_load(&shared) > 0);
  writer.join();
}

MC_TEST(ExceptionOfTwoThreads) {
  std::exception_ptr exception = std::make_exception_ptr(7);
  std::thread other([exception] {
    try {
      std::rethrow_exception(exception);
    } catch (int value) {
      mc_assert(value == 7);
    }
  });
  exception = nullptr;
  other.join();
}
MC_TEST(ExceptionPointerWithoutALock) {
  static std::exception_ptr exception;
  const std::exception_ptr seven = std::make_exception_ptr(7);
  std::thread other([&] { exception = seven; });
  { const std::exception_ptr copy = exception; }
  other.join();
  exception = nullptr;
}

MC_MAIN();
