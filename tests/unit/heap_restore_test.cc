// Snapshot and Restore of the program heap, against a model that remembers everything.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "sched/heap.h"

namespace mc::sched {
namespace {

class HeapRestoreTest : public ::testing::Test {
 protected:
  ~HeapRestoreTest() override { heap_.Release(); }
  char* Allocate(uint64_t size, ThreadId thread = 0) {
    return static_cast<char*>(heap_.Allocate(thread, size, 16, AllocationKind::kMalloc, 0x1111));
  }
  FreeStatus Free(void* p, ThreadId thread = 0) {
    return heap_.Free(thread, p, AllocationKind::kMalloc, 0x2222);
  }
  static uint64_t Address(const void* p) { return reinterpret_cast<uint64_t>(p); }

  ProgramHeap heap_;
};

TEST_F(HeapRestoreTest, WithoutSnapshotTheHeapIsEmptyAgain) {
  char* const p = Allocate(100);
  heap_.Restore();
  EXPECT_TRUE(heap_.IsBadAccess(Address(p), 1));
  EXPECT_EQ(heap_.Describe(Address(p)).verdict, AddressVerdict::kWild);
  EXPECT_EQ(heap_.Lookup(Address(p)), nullptr);
  EXPECT_EQ(Allocate(100), p);
}

TEST_F(HeapRestoreTest, OlderBlocksStayAndComeBack) {
  char* const kept = Allocate(100);
  char* const freed_before = Allocate(200);
  Free(freed_before);
  heap_.Snapshot();
  const uint64_t identity = heap_.IdentityAt(Address(kept));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(heap_.LiveBlocksSinceSnapshot(), 0u);
    EXPECT_EQ(heap_.live_bytes(), 100u);
    EXPECT_FALSE(heap_.IsBadAccess(Address(kept), 100));
    EXPECT_EQ(heap_.IdentityAt(Address(kept)), identity);
    EXPECT_EQ(heap_.Describe(Address(freed_before)).verdict, AddressVerdict::kUseAfterFree);
    EXPECT_EQ(Free(freed_before), FreeStatus::kDoubleFree);
    EXPECT_EQ(Free(kept, 1), FreeStatus::kFreed);
    EXPECT_TRUE(heap_.IsBadAccess(Address(kept), 1));
    EXPECT_EQ(heap_.LiveBlocksSinceSnapshot(), 0u);
    EXPECT_EQ(Allocate(98, 1), kept) << "handed out again by the thread that freed it";
    EXPECT_NE(heap_.IdentityAt(Address(kept)), identity);
    EXPECT_EQ(heap_.LiveBlocksSinceSnapshot(), 1u);
    int visited = 0;
    heap_.VisitLiveSinceSnapshot([&](const HeapBlock& block) {
      EXPECT_EQ(block.begin, Address(kept));
      ++visited;
    });
    EXPECT_EQ(visited, 1);
    heap_.Restore();
  }
}

TEST_F(HeapRestoreTest, NewBlocksShareNoUnitWithOlderOnes) {
  char* const kept = Allocate(100);
  heap_.Snapshot();
  EXPECT_NE(UnitOf(Address(Allocate(100))), UnitOf(Address(kept)));
  int ranges = 0;
  heap_.VisitSnapshotPages([&](uint64_t begin, uint64_t end) {
    EXPECT_LE(begin, Address(kept));
    EXPECT_EQ(begin % 4096, 0u);
    EXPECT_EQ(end, Address(kept) / kUnitBytes * kUnitBytes + kUnitBytes);
    ++ranges;
  });
  EXPECT_EQ(ranges, 1);
}

TEST_F(HeapRestoreTest, AThreadSeesTheSameAddressesAndContentInEveryExecution) {
  std::vector<char*> first;
  std::vector<uint64_t> identities;
  for (int round = 0; round < 4; ++round) {
    int step = 0;
    for (const uint64_t size : {16, 100, 3000, 16, 70000, 2 << 20, 100, 70000}) {
      char* const p = Allocate(size, 2);
      const char expected = size < 60000 ? static_cast<char>(0xbe) : '\0';
      ASSERT_EQ(std::string(p, size), std::string(size, expected)) << "round " << round;
      std::memset(p, 'a' + round, size);
      if (step % 3 == 2) Free(p, 2);
      if (round == 0) {
        first.push_back(p);
        identities.push_back(heap_.IdentityAt(Address(p)));
      }
      EXPECT_EQ(p, first[step]);
      EXPECT_EQ(heap_.IdentityAt(Address(p)), identities[step]);
      ++step;
    }
    // Different sizes in the next execution's place: a large block over what were small ones.
    heap_.Restore();
    char* const large = Allocate(4 << 20, 2);
    EXPECT_EQ(std::string(large, 4 << 20), std::string(4 << 20, '\0'));
    std::memset(large, 'z', 4 << 20);
    heap_.Restore();
  }
}

TEST_F(HeapRestoreTest, ContentOfAReusedOlderLargeBlockIsZeroedByWriting) {
  char* const p = Allocate(200000);
  std::memset(p, 'x', 200000);
  heap_.Snapshot();
  Free(p);
  EXPECT_EQ(Allocate(200000), p);
  EXPECT_EQ(std::string(p, 200000), std::string(200000, '\0'));
}

TEST_F(HeapRestoreTest, ASecondSnapshotMovesTheBase) {
  char* const a = Allocate(10);
  heap_.Snapshot();
  Free(a, 1);
  EXPECT_EQ(Allocate(10, 1), a);
  char* const b = Allocate(10);
  heap_.Snapshot();
  EXPECT_EQ(heap_.LiveBlocksSinceSnapshot(), 0u);
  Free(a);
  Free(b);
  heap_.Restore();
  EXPECT_EQ(heap_.live_bytes(), 20u);
  EXPECT_FALSE(heap_.IsBadAccess(Address(a), 10));
  EXPECT_FALSE(heap_.IsBadAccess(Address(b), 10));
  EXPECT_EQ(Free(b), FreeStatus::kFreed);
}

// Random executions over a random snapshot. The model keeps what a user of the heap can know.
class RandomHeap {
 public:
  RandomHeap(ProgramHeap* heap, uint32_t seed) : heap_(heap), random_(seed) {}

  void RunSteps(int count) {
    for (int i = 0; i < count && !::testing::Test::HasFatalFailure(); ++i) Step();
  }
  void Snapshot() {
    heap_->Snapshot();
    saved_ = live_;
  }
  void Restore() {
    heap_->Restore();
    live_ = saved_;
  }
  void Check() const {
    uint64_t bytes = 0, fresh = 0;
    for (const auto& [begin, block] : live_) {
      const HeapBlock* const found = heap_->Lookup(begin + block.size / 2);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->begin, begin);
      ASSERT_EQ(found->size, block.size);
      ASSERT_EQ(found->identity, block.identity);
      ASSERT_TRUE(found->live());
      ASSERT_FALSE(heap_->IsBadAccess(begin, block.size));
      ASSERT_TRUE(heap_->IsBadAccess(begin + block.size, 1));
      ASSERT_TRUE(heap_->IsBadAccess(begin - 1, 1));
      bytes += block.size;
      const auto older = saved_.find(begin);
      fresh += older == saved_.end() || older->second.identity != block.identity;
    }
    ASSERT_EQ(heap_->live_bytes(), bytes);
    ASSERT_EQ(heap_->LiveBlocksSinceSnapshot(), fresh);
    uint64_t visited = 0;
    heap_->VisitLiveSinceSnapshot([&](const HeapBlock& block) {
      ++visited;
      ASSERT_TRUE(live_.contains(block.begin));
    });
    ASSERT_EQ(visited, fresh);
    uint64_t all = 0;
    heap_->VisitAllLive([&](const HeapBlock&) { ++all; });
    ASSERT_EQ(all, live_.size());
  }

 private:
  struct Known {
    uint64_t size, identity;
  };

  uint64_t Below(uint64_t limit) {
    return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random_);
  }

  void Step() {
    const auto thread = static_cast<ThreadId>(Below(4));
    if (live_.empty() || Below(5) < 3) {
      const uint64_t limits[] = {40, 40, 600, 5000, 200000};
      const uint64_t size = Below(limits[Below(5)]);
      const uint64_t alignment = uint64_t{1} << Below(9);
      auto* const p = heap_->Allocate(thread, size, alignment, AllocationKind::kMalloc, 1);
      ASSERT_NE(p, nullptr);
      const uint64_t begin = reinterpret_cast<uint64_t>(p);
      ASSERT_EQ(begin % alignment, 0u);
      const bool large = SizeClassOf(size, alignment) >= kSmallClassCount;
      for (uint64_t i = 0; i < size; i += 61) {
        ASSERT_EQ(static_cast<uint8_t*>(p)[i], large ? 0 : ProgramHeap::kFreshByte)
            << "size " << size;
      }
      std::memset(p, 0x55, size);
      // Not inside, nor within a redzone of, any live block.
      auto next = live_.lower_bound(begin);
      if (next != live_.end()) {
        ASSERT_GE(next->first, begin + size + 16);
      }
      if (next != live_.begin()) {
        --next;
        ASSERT_GE(begin, next->first + next->second.size + 16);
      }
      live_[begin] = {size, heap_->IdentityAt(begin)};
    } else {
      auto victim = live_.begin();
      std::advance(victim, Below(live_.size()));
      const uint64_t begin = victim->first;
      auto* const p = reinterpret_cast<void*>(begin);
      ASSERT_EQ(heap_->Free(thread, p, AllocationKind::kMalloc, 2), FreeStatus::kFreed);
      ASSERT_EQ(heap_->CheckFree(p, AllocationKind::kMalloc), FreeStatus::kDoubleFree);
      if (victim->second.size > 0) {
        ASSERT_TRUE(heap_->IsBadAccess(begin, 1));
      }
      ASSERT_EQ(heap_->Describe(begin).verdict, AddressVerdict::kUseAfterFree);
      live_.erase(victim);
    }
  }

  ProgramHeap* heap_;
  std::mt19937 random_;
  std::map<uint64_t, Known> live_, saved_;
};

TEST_F(HeapRestoreTest, RandomExecutionsAgreeWithTheModel) {
  for (const HeapPolicy policy : {HeapPolicy::kThread, HeapPolicy::kRecycle, HeapPolicy::kFresh}) {
    for (uint32_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE("policy " + std::to_string(static_cast<int>(policy)) + ", seed " +
                   std::to_string(seed));
      heap_.Release();
      heap_.Configure(policy);
      RandomHeap random(&heap_, seed);
      random.RunSteps(60);
      random.Snapshot();
      for (int execution = 0; execution < 8; ++execution) {
        random.RunSteps(static_cast<int>(seed) * 5);
        random.Check();
        if (HasFatalFailure()) return;
        random.Restore();
        random.Check();
        if (HasFatalFailure()) return;
        if (execution == 4) random.Snapshot();
      }
    }
  }
}

}  // namespace
}  // namespace mc::sched
