// Model checking inside a unit test: mc::Check runs the body in every interleaving and reports like
// any other assertion.
//
//   mc-c++ googletest_check.cc -lgtest -lgtest_main -o googletest_check && ./googletest_check
#include <gtest/gtest.h>
#include <mc/mc.h>

#include <atomic>
#include <string>
#include <thread>

// Two threads add one each.
template <typename Counter>
void CountToTwo() {
  Counter counter{0};
  std::thread other([&] { counter = counter + 1; });
  counter = counter + 1;
  other.join();
  mc_assert(counter == 2);
}

TEST(Counter, FetchAddCounts) {
  EXPECT_TRUE(mc::Check([] {
    std::atomic<int> counter{0};
    std::thread other([&] { counter.fetch_add(1); });
    counter.fetch_add(1);
    other.join();
    mc_assert(counter == 2);
  }));
}

// A load and a store, each atomic, are not an atomic increment. The failure message tells how to
// replay it.
TEST(Counter, LoadAndStoreDoNot) {
  const mc::CheckResult result =
      mc::Check(CountToTwo<std::atomic<int>>, mc::CheckOptions().Time("20s"));
#ifdef MC_HARNESS
  EXPECT_EQ(result.verdict(), mc::Verdict::kBug);
  EXPECT_NE(result.message().find("--replay="), std::string::npos) << result;
#else
  EXPECT_TRUE(result);  // an ordinary run: practically always lucky
#endif
}
