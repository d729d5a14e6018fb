// When checkpoints are made and which are kept; the heap goes back to any state that was saved.
#include "sched/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sched/heap.h"
#include "sched/heap_checkpoint.h"

namespace mc::sched {
namespace {

// An execution with `kept` events from the one before; makes the checkpoint that is due, if any.
// Returns the position it goes on from.
size_t Execute(CheckpointStack& stack, size_t kept, bool can_be_made = true) {
  const Checkpoint* const from = stack.Begin(kept);
  const size_t position = from == nullptr ? 0 : from->position;
  if (stack.due() != CheckpointStack::kNever) {
    EXPECT_GT(stack.due(), position);
    EXPECT_LE(stack.due(), kept);
    stack.Make().position = stack.due();
    stack.Done(can_be_made);
  }
  return position;
}

TEST(CheckpointStack, FirstExecutionsAreRunFromTheBeginning) {
  CheckpointStack stack;
  EXPECT_EQ(Execute(stack, 0), 0u);
  EXPECT_EQ(Execute(stack, 3), 0u);
  EXPECT_EQ(stack.due(), CheckpointStack::kNever);
}

TEST(CheckpointStack, LiesWhereAllThatPaidForItMadeUseOfIt) {
  CheckpointStack stack;
  Execute(stack, 0);
  Execute(stack, 2);
  Execute(stack, 10);  // 12 events were executed again: it is made at the shorter prefix
  EXPECT_EQ(Execute(stack, 10), 2u);
  EXPECT_EQ(Execute(stack, 2), 2u);
  EXPECT_EQ(Execute(stack, 1), 0u) << "what lies behind the branch is forgotten";
  EXPECT_EQ(Execute(stack, 10), 0u);
}

TEST(CheckpointStack, DeeperOnesAreKeptBesideShallowerOnes) {
  CheckpointStack stack;
  Execute(stack, 10);
  for (int i = 0; i < 3; ++i) Execute(stack, 100);
  EXPECT_EQ(Execute(stack, 100), 100u);
  EXPECT_EQ(Execute(stack, 99), 10u);
  EXPECT_EQ(Execute(stack, 9), 0u);
}

TEST(CheckpointStack, AsksEverMoreRarelyIfNoneCanBeMade) {
  CheckpointStack stack;
  int asked = 0;
  for (int i = 0; i < 10000; ++i) {
    stack.Begin(10);
    if (stack.due() == CheckpointStack::kNever) continue;
    ++asked;
    stack.Done(false);
  }
  EXPECT_GE(asked, 5);
  EXPECT_LE(asked, 20);
}

TEST(CheckpointStack, ClearForgetsAll) {
  CheckpointStack stack;
  Execute(stack, 10);
  EXPECT_EQ(Execute(stack, 10), 10u);
  stack.Clear();
  EXPECT_EQ(Execute(stack, 10), 0u);
}

// All that a program and a report can see of the heap.
struct HeapContent {
  std::map<uint64_t, std::string> blocks;  // live ones since the snapshot, by address
  uint64_t live_bytes = 0, live_blocks = 0;

  bool operator==(const HeapContent&) const = default;
};

class HeapCheckpointTest : public ::testing::TestWithParam<HeapPolicy> {
 protected:
  HeapCheckpointTest() { heap_.Configure(GetParam()); }
  ~HeapCheckpointTest() override { heap_.Release(); }

  void Step() {
    const auto thread = static_cast<ThreadId>(random_() % 3);
    if (!live_.empty() && random_() % 3 == 0) {
      const size_t k = random_() % live_.size();
      EXPECT_EQ(heap_.Free(thread, live_[k], AllocationKind::kMalloc, 2), FreeStatus::kFreed);
      live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(k));
    } else if (!live_.empty() && random_() % 3 == 0) {
      char* const block = live_[random_() % live_.size()];
      *block = static_cast<char>(random_());
    } else {
      const uint64_t size = 1 + random_() % (random_() % 8 == 0 ? 3000 : 100);
      auto* const block =
          static_cast<char*>(heap_.Allocate(thread, size, 16, AllocationKind::kMalloc, 1));
      memset(block, static_cast<int>(random_() & 0xff), size);
      live_.push_back(block);
    }
  }
  HeapContent Content() const {
    HeapContent content;
    heap_.VisitLiveSinceSnapshot([&](const HeapBlock& block) {
      EXPECT_FALSE(heap_.IsBadAccess(block.begin, block.size));
      EXPECT_TRUE(heap_.IsBadAccess(block.end(), 1));
      content.blocks[block.begin] =
          std::string(reinterpret_cast<const char*>(block.begin), block.size);
    });
    content.live_bytes = heap_.live_bytes();
    content.live_blocks = heap_.LiveBlocksSinceSnapshot();
    return content;
  }

  ProgramHeap heap_;
  std::mt19937 random_;
  std::vector<char*> live_;
};

TEST_P(HeapCheckpointTest, GoesBackAndOnAsBefore) {
  heap_.Allocate(0, 50, 16, AllocationKind::kMalloc, 1);
  heap_.Snapshot();
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_.seed(seed);
    heap_.Restore();
    live_.clear();
    for (int i = 0; i < 30; ++i) Step();
    HeapCheckpoint checkpoint;
    ASSERT_TRUE(heap_.Save(1 << 20, &checkpoint));
    const HeapContent saved = Content();
    const std::vector<char*> live = live_;
    const std::mt19937 random = random_;
    std::vector<HeapContent> on;
    for (int i = 0; i < 30; ++i) Step(), on.push_back(Content());
    for (int round = 0; round < 2; ++round) {
      heap_.RestoreTo(checkpoint);
      ASSERT_EQ(Content(), saved);
      live_ = live;
      random_ = random;
      for (int i = 0; i < 30; ++i) {
        Step();
        ASSERT_EQ(Content(), on[static_cast<size_t>(i)]) << "other addresses or other content";
      }
    }
    heap_.Restore();
    ASSERT_EQ(Content(), (HeapContent{{}, 50, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, HeapCheckpointTest,
                         ::testing::Values(HeapPolicy::kThread, HeapPolicy::kRecycle,
                                           HeapPolicy::kFresh));

TEST(HeapCheckpoint, IsNotMadeOfTooMuchOrOnceABlockOfTheSnapshotWasFreed) {
  ProgramHeap heap;
  void* const old = heap.Allocate(0, 50, 16, AllocationKind::kMalloc, 1);
  heap.Snapshot();
  HeapCheckpoint checkpoint;
  heap.Allocate(0, 5000, 16, AllocationKind::kMalloc, 1);
  EXPECT_FALSE(heap.Save(4000, &checkpoint));
  EXPECT_TRUE(heap.Save(1 << 20, &checkpoint));
  heap.Free(0, old, AllocationKind::kMalloc, 2);
  EXPECT_FALSE(heap.Save(1 << 20, &checkpoint));
  heap.Release();
}

}  // namespace
}  // namespace mc::sched
