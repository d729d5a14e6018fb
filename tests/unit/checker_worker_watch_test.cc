#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "checker/worker_watch.h"

namespace mc::checker {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

// A worker whose standing is given, looked at every 100 ms of a clock that is given, too.
class HangWatchTest : public ::testing::Test {
 protected:
  HangWatchTest() { watch_.Start(now_); }

  // Seconds until it is said to hang; -1 if it is not in `seconds`. In each of them it gets
  // `processor` seconds of a processor and `growth` bytes of memory.
  double HangsWithin(int seconds, double processor, uint64_t growth = 0, char state = 'R') {
    const absl::Time begin = now_;
    while (now_ - begin < absl::Seconds(seconds)) {
      now_ += absl::Milliseconds(100);
      standing_.state = state;
      standing_.processor_time += absl::Seconds(processor / 10);
      standing_.resident += growth / 10;
      if (watch_.IsQuiet(now_, transitions_, in_program_) && watch_.Hangs(now_, standing_)) {
        return absl::ToDoubleSeconds(now_ - begin);
      }
    }
    return -1;
  }

  HangWatch watch_{absl::Seconds(10), 640 * kMegabyte};
  absl::Time now_ = absl::FromUnixSeconds(1000000);
  WorkerStanding standing_;
  uint64_t transitions_ = 7;
  bool in_program_ = true;
};

TEST_F(HangWatchTest, AnEndlessLoopHangs) { EXPECT_NEAR(HangsWithin(60, 1), 10, 0.5); }

TEST_F(HangWatchTest, ABlockedWorkerHangs) { EXPECT_NEAR(HangsWithin(60, 0, 0, 'S'), 10, 0.5); }

TEST_F(HangWatchTest, TransitionsAreLife) {
  for (int i = 0; i < 10; ++i, ++transitions_) EXPECT_EQ(HangsWithin(9, 1), -1);
  EXPECT_NEAR(HangsWithin(60, 1), 10, 0.5);
}

TEST_F(HangWatchTest, OutsideTheProgramNothingHangs) {
  in_program_ = false;
  EXPECT_EQ(HangsWithin(60, 1), -1);
}

TEST_F(HangWatchTest, ABusyMachineGivesItTime) { EXPECT_NEAR(HangsWithin(600, 0.1), 50, 1); }

TEST_F(HangWatchTest, StoppedIsNotHanging) {
  EXPECT_EQ(HangsWithin(60, 0, 0, 'T'), -1);
  EXPECT_NEAR(HangsWithin(60, 1), 10, 0.5);
}

TEST_F(HangWatchTest, ThePauseOfTheSupervisorDoesNotCount) {
  EXPECT_EQ(HangsWithin(9, 1), -1);
  now_ += absl::Hours(1);
  standing_.processor_time += absl::Hours(1);
  EXPECT_NEAR(HangsWithin(60, 1), 10, 0.5);
}

// However slowly a machine hands out pages: it ends with the limit of its memory, not as a loop.
TEST_F(HangWatchTest, WhoAllocatesWithoutEndDoesNotHang) {
  EXPECT_EQ(HangsWithin(200, 1, 3 * kMegabyte), -1);
  EXPECT_NE(HangsWithin(11, 1), -1);  // no more
}

// 8 times in 10 seconds it takes memory and gives it back: that is a loop.
TEST_F(HangWatchTest, WhoAllocatesAndFreesHangs) {
  bool hangs = false;
  for (int i = 0; i < 40 && !hangs; ++i) {
    const double growth = i % 2 == 0 ? 100 * kMegabyte : 0;
    if (i % 2 != 0) standing_.resident -= 100 * kMegabyte;
    hangs = HangsWithin(1, 1, static_cast<uint64_t>(growth)) >= 0;
  }
  EXPECT_TRUE(hangs);
}

TEST_F(HangWatchTest, SlowGrowthIsNotLife) {
  EXPECT_NEAR(HangsWithin(60, 1, kMegabyte / 2), 10, 0.5);
}

TEST(WorkerStanding, OfThisProcess) {
  const WorkerStanding before = ReadWorkerStanding(getpid());
  EXPECT_EQ(before.state, 'R');
  std::vector<char> block(64 * kMegabyte);
  std::memset(block.data(), 1, block.size());
  const WorkerStanding after = ReadWorkerStanding(getpid());
  EXPECT_GE(after.resident, before.resident + 60 * kMegabyte);
  EXPECT_GE(after.processor_time, before.processor_time);
}

TEST(WorkerStanding, OfNobody) { EXPECT_EQ(ReadWorkerStanding(-1).state, '?'); }

}  // namespace
}  // namespace mc::checker
