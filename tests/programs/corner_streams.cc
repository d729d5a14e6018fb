// Streams, which are compiled into the standard library. What it does to a stream counts as a
// change of the stream. corners.txt says what mc must make of each.
#include <mc/mc.h>

#include <cstdio>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <syncstream>
#include <thread>

namespace {

std::mutex g_lock;
std::ostringstream g_output;
std::istringstream g_input("1 2 3");

template <typename Body>
void InTwoThreads(Body body) {
  std::thread one(body, 1), two(body, 2);
  one.join();
  two.join();
}

}  // namespace

// The first one to format something must not do more than the second one does.
MC_TEST(LocalStreams) {
  InTwoThreads([](int who) {
    std::ostringstream output;
    output << who << ' ' << 1.5 * who << ' ' << std::boolalpha << true << std::hex << 255
           << std::endl;
    int number;
    double half;
    std::istringstream(output.str()) >> number >> half;
    mc_assert(number == who && half == 1.5 * who);
    std::wostringstream wide;
    wide << who << 2.5;
    mc_assert(wide.str().size() == 4);
  });
}

MC_TEST(OutputUnderALock) {
  InTwoThreads([](int who) {
    for (int i = 0; i < 2; ++i) {
      std::lock_guard<std::mutex> hold(g_lock);
      g_output << who << " and a text that makes the buffer grow" << 2.5 << std::endl;
    }
  });
  mc_assert(g_output.str().size() > 160);
}
MC_TEST(OutputWithoutALock) {
  InTwoThreads([](int who) { g_output << who; });
}
MC_TEST(WideOutputWithoutALock) {
  static std::wostringstream output;
  InTwoThreads([](int) { output << L"x"; });
}
MC_TEST(OutputAndItsString) {
  std::thread writer([] { g_output << 1; });
  mc_assert(g_output.str().size() < 2);
  writer.join();
}
// Found with a lock too: one of the two orders fails.
MC_TEST(OutputInOneOrder) {
  std::thread writer([] {
    std::lock_guard<std::mutex> hold(g_lock);
    g_output << 'x';
  });
  {
    std::lock_guard<std::mutex> hold(g_lock);
    mc_assert(g_output.str().empty());
  }
  writer.join();
}

MC_TEST(InputUnderALock) {
  static int sum = 0;
  InTwoThreads([](int) {
    std::lock_guard<std::mutex> hold(g_lock);
    int number = 0;
    g_input >> number;
    sum += number;
  });
  mc_assert(sum == 3);
}
MC_TEST(InputWithoutALock) {
  InTwoThreads([](int) { g_input.get(); });
}

// Several threads may use these at once, as long as they lead to the C library's.
// Buffers without a stream: the first write makes the buffer grow, the others do not.
MC_TEST(BufferUnderALock) {
  static std::stringbuf buffer;
  InTwoThreads([](int) {
    std::lock_guard<std::mutex> hold(g_lock);
    buffer.sputn("abc", 3);
  });
  mc_assert(buffer.str() == "abcabc");
}
MC_TEST(BufferWithoutALock) {
  static std::stringbuf buffer;
  InTwoThreads([](int) { buffer.sputn("abc", 3); });
}
MC_TEST(BufferReadInOneOrder) {
  static std::stringbuf buffer("abc");
  InTwoThreads([](int who) {
    char text[2];
    std::lock_guard<std::mutex> hold(g_lock);
    buffer.sgetn(text, 2);
    mc_assert(who == 2 || text[0] == 'a');
  });
}
MC_TEST(BufferReadsIntoAVariable) {
  static char text[2];
  std::thread reader([] { std::stringbuf("ab").sgetn(text, 1); });
  text[0] = 'x';
  reader.join();
}
MC_TEST(SynchronisedStream) {
  static std::ostringstream output;
  InTwoThreads([](int who) { std::osyncstream(output) << who << "\n"; });
  mc_assert(output.str() == "1\n2\n" || output.str() == "2\n1\n");
}

MC_TEST(StandardOutput) {
  InTwoThreads([](int who) {
    std::cout << who << " and text" << std::endl;
    std::wcerr << L"";
  });
}
// Whoever prints first does nothing that the others do not: the buffer is there.
MC_TEST(StandardOutputUnderALock) {
  static std::mutex mutex;
  InTwoThreads([](int who) {
    const std::lock_guard<std::mutex> lock(mutex);
    std::printf("%d\n", who);
  });
}
MC_TEST(StandardOutputSynchronised) {
  InTwoThreads([](int who) { std::osyncstream(std::cout) << who; });
}
MC_TEST(StandardOutputRedirected) {
  std::ostringstream output;
  std::streambuf* const before = std::cout.rdbuf(output.rdbuf());
  InTwoThreads([](int who) { std::cout << who; });
  std::cout.rdbuf(before);
}
MC_TEST(StandardOutputNotSynchronised) {
  std::ios::sync_with_stdio(false);
  InTwoThreads([](int who) { std::cout << who; });
}

MC_MAIN();
