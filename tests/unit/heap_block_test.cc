// One block's life on the program heap: addresses, content, shadow, description, reuse.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "sched/heap.h"

namespace mc::sched {
namespace {

class HeapBlockTest : public ::testing::Test {
 protected:
  ~HeapBlockTest() override { heap_.Release(); }

  char* Allocate(uint64_t size, ThreadId thread = 0, uint64_t alignment = 16,
                 AllocationKind kind = AllocationKind::kMalloc, bool zeroed = false) {
    return static_cast<char*>(heap_.Allocate(thread, size, alignment, kind, 0x1111, zeroed));
  }
  FreeStatus Free(void* p, ThreadId thread = 0, AllocationKind kind = AllocationKind::kMalloc) {
    return heap_.Free(thread, p, kind, 0x2222);
  }
  static uint64_t Address(const void* p) { return reinterpret_cast<uint64_t>(p); }

  ProgramHeap heap_;
};

TEST_F(HeapBlockTest, SizeClassesCoverEverySizeTightly) {
  for (uint64_t bytes = 1; bytes <= kLargestSmallSlot; ++bytes) {
    const uint32_t size_class = SmallClassOf(bytes);
    ASSERT_LT(size_class, kSmallClassCount);
    ASSERT_GE(SlotBytesOfClass(size_class), bytes);
    if (size_class > 0) {
      ASSERT_LT(SlotBytesOfClass(size_class - 1), bytes) << "a smaller class would do";
    }
    ASSERT_EQ(SlotBytesOfClass(size_class) % 16, 0u);
  }
  for (const SmallClass& small : kSmallClasses) {
    for (uint64_t offset = 0; offset < kUnitBytes; ++offset) {
      ASSERT_EQ(offset * small.reciprocal >> 32, offset / small.slot_bytes);
    }
  }
}

TEST_F(HeapBlockTest, BlocksAreAlignedDisjointAndSeparatedByRedzones) {
  struct Range {
    uint64_t begin, size;
  };
  std::vector<Range> ranges;
  for (const uint64_t alignment : {1, 16, 32, 64, 256, 4096, 65536, 1 << 20}) {
    for (const uint64_t size : {0, 1, 7, 8, 15, 16, 17, 100, 511, 512, 513, 1024, 5000, 61000,
                                65536, 100000, 1 << 20, 3 << 20}) {
      for (int i = 0; i < 3; ++i) {
        const uint64_t begin = Address(Allocate(size, 0, alignment));
        ASSERT_NE(begin, 0u);
        ASSERT_EQ(begin % std::max<uint64_t>(alignment, 16), 0u);
        ASSERT_TRUE(ProgramHeap::Contains(begin));
        for (const Range& other : ranges) {
          ASSERT_TRUE(begin >= other.begin + other.size + 16 || begin + size + 16 <= other.begin);
        }
        ranges.push_back({begin, size});
      }
    }
  }
  for (const Range& r : ranges) {
    EXPECT_FALSE(heap_.IsBadAccess(r.begin, r.size));
    EXPECT_TRUE(heap_.IsBadAccess(r.begin + r.size, 1));
    EXPECT_TRUE(heap_.IsBadAccess(r.begin - 1, 1));
    EXPECT_TRUE(heap_.IsBadAccess(r.begin, r.size + 1));
    EXPECT_TRUE(heap_.IsBadAccess(r.begin + r.size + 15, 1));
    ASSERT_NE(heap_.Lookup(r.begin), nullptr);
    EXPECT_EQ(heap_.Lookup(r.begin)->begin, r.begin);
    EXPECT_EQ(heap_.Lookup(r.begin + r.size)->begin, r.begin);
    EXPECT_EQ(heap_.Lookup(r.begin + r.size / 2)->size, r.size);
  }
}

TEST_F(HeapBlockTest, ShadowIsExactForEveryOffsetAndSize) {
  for (const uint64_t size : {1, 5, 8, 13, 24, 40}) {
    const uint64_t begin = Address(Allocate(size));
    for (uint64_t offset = 0; offset <= size + 8; ++offset) {
      for (uint64_t bytes = 1; bytes <= 48; ++bytes) {
        EXPECT_EQ(heap_.IsBadAccess(begin + offset, bytes), offset + bytes > size)
            << "block of " << size << ", access of " << bytes << " at " << offset;
      }
    }
    EXPECT_EQ(ProgramHeap::FirstBadAddress(begin, 100), begin + size);
  }
}

TEST_F(HeapBlockTest, FreshContentIsFixed) {
  for (const uint64_t size : {1, 8, 100, 4096, 60000}) {
    for (int round = 0; round < 2; ++round) {
      char* const p = Allocate(size);
      EXPECT_EQ(std::string(p, size), std::string(size, static_cast<char>(0xbe)));
      std::memset(p, 'x', size);
      Free(p);
      char* const zeroed = Allocate(size, 0, 16, AllocationKind::kMalloc, true);
      EXPECT_EQ(zeroed, p);
      EXPECT_EQ(std::string(zeroed, size), std::string(size, '\0'));
      Free(zeroed);
    }
  }
  for (const uint64_t size : {62000, 1 << 20, 5 << 20}) {
    for (int round = 0; round < 3; ++round) {
      char* const p = Allocate(size);
      EXPECT_EQ(std::string(p, size), std::string(size, '\0'));
      std::memset(p, 'x', size);
      Free(p);
    }
  }
}

TEST_F(HeapBlockTest, RecordTellsTheStory) {
  char* const p = Allocate(100, 3, 16, AllocationKind::kNewArray);
  const HeapBlock* block = heap_.Lookup(Address(p) + 57);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->begin, Address(p));
  EXPECT_EQ(block->size, 100u);
  EXPECT_EQ(block->allocating_thread, 3);
  EXPECT_EQ(block->allocation_pc, 0x1111u);
  EXPECT_EQ(block->kind, AllocationKind::kNewArray);
  EXPECT_TRUE(block->live());
  const uint64_t identity = block->identity;
  EXPECT_EQ(heap_.IdentityAt(Address(p) + 99), identity);
  EXPECT_EQ(Free(p, 5, AllocationKind::kNewArray), FreeStatus::kFreed);
  block = heap_.Lookup(Address(p));
  EXPECT_FALSE(block->live());
  EXPECT_EQ(block->freeing_thread, 5);
  EXPECT_EQ(block->free_pc, 0x2222u);
  EXPECT_EQ(block->identity, identity);
  // The freeing thread hands it out again, as a block of its own.
  EXPECT_EQ(Allocate(100, 5), p);
  EXPECT_NE(heap_.IdentityAt(Address(p)), identity);
  EXPECT_EQ(heap_.Lookup(Address(p))->allocating_thread, 5);
  EXPECT_EQ(heap_.Lookup(Address(p))->free_pc, 0u);
}

TEST_F(HeapBlockTest, DescribesWhatAnAddressIs) {
  char* const a = Allocate(40);
  char* const b = Allocate(40);
  const uint64_t begin = Address(a);
  EXPECT_EQ(heap_.Describe(begin + 39).verdict, AddressVerdict::kValid);
  AddressDescription d = heap_.Describe(begin + 40);
  EXPECT_EQ(d.verdict, AddressVerdict::kHeapOverrun);
  EXPECT_EQ(d.block->begin, begin);
  EXPECT_EQ(d.offset, 40);
  d = heap_.Describe(begin - 1);
  EXPECT_EQ(d.verdict, AddressVerdict::kHeapOverrun) << "before the first block of a unit";
  EXPECT_EQ(d.offset, -1);
  d = heap_.Describe(Address(b) - 1);
  EXPECT_EQ(d.verdict, AddressVerdict::kHeapOverrun);
  EXPECT_EQ(d.block->begin, Address(b)) << "the nearer of two neighbours";
  Free(a);
  d = heap_.Describe(begin + 8);
  EXPECT_EQ(d.verdict, AddressVerdict::kUseAfterFree);
  EXPECT_EQ(d.offset, 8);
  EXPECT_TRUE(heap_.IsBadAccess(begin + 8, 1));
  // Never handed out: same region, another region, nothing of the heap.
  EXPECT_EQ(heap_.Describe(begin + 30000).verdict, AddressVerdict::kWild);
  EXPECT_EQ(heap_.Describe(RegionBegin(77) + 100000).verdict, AddressVerdict::kWild);
  EXPECT_TRUE(heap_.IsBadAccess(RegionBegin(77) + 100000, 1));
  EXPECT_FALSE(heap_.IsBadAccess(Address(&d), 1));
  EXPECT_EQ(heap_.IdentityAt(Address(&d)), 0u);
  char* const large = Allocate(1 << 20);
  EXPECT_EQ(heap_.Describe(Address(large) - 4).verdict, AddressVerdict::kHeapOverrun);
  EXPECT_EQ(heap_.Describe(Address(large) + (1 << 20) + 50).verdict, AddressVerdict::kHeapOverrun);
  EXPECT_EQ(heap_.Lookup(Address(large) + (700 << 10))->begin, Address(large));
}

TEST_F(HeapBlockTest, WrongFreesAreTold) {
  char* const p = Allocate(64);
  int local = 0;
  EXPECT_EQ(Free(&local), FreeStatus::kInvalidFree);
  EXPECT_EQ(Free(p + 16), FreeStatus::kInvalidFree);
  EXPECT_EQ(Free(reinterpret_cast<void*>(RegionBegin(9) + 70000)), FreeStatus::kInvalidFree);
  EXPECT_TRUE(heap_.Lookup(Address(p))->live());
  const HeapBlock* block;
  EXPECT_EQ(heap_.CheckFree(p, AllocationKind::kNew, &block), FreeStatus::kMismatched);
  EXPECT_EQ(block, heap_.Lookup(Address(p)));
  EXPECT_TRUE(heap_.Lookup(Address(p))->live()) << "CheckFree changes nothing";
  EXPECT_EQ(Free(p), FreeStatus::kFreed);
  EXPECT_EQ(Free(p), FreeStatus::kDoubleFree);
  EXPECT_EQ(Free(p, 1), FreeStatus::kDoubleFree);
  char* const q = Allocate(64, 0, 16, AllocationKind::kNewArray);
  EXPECT_EQ(Free(q, 0, AllocationKind::kNew), FreeStatus::kMismatched);
  EXPECT_FALSE(heap_.Lookup(Address(q))->live());
  EXPECT_TRUE(KindsMatch(AllocationKind::kAligned, AllocationKind::kMalloc));
  EXPECT_TRUE(KindsMatch(AllocationKind::kAlignedNew, AllocationKind::kNew));
  EXPECT_FALSE(KindsMatch(AllocationKind::kMalloc, AllocationKind::kNew));
}

TEST_F(HeapBlockTest, ThreadPolicyAddressesDependOnTheThreadAlone) {
  // Thread 1 gets the same addresses whether or not thread 2 allocates in between.
  std::vector<char*> alone;
  for (int i = 0; i < 20; ++i) alone.push_back(Allocate(24 + 40 * i, 1));
  heap_.Restore();
  for (int i = 0; i < 20; ++i) {
    Free(Allocate(64, 2), 2);
    EXPECT_EQ(Allocate(24 + 40 * i, 1), alone[i]);
    Allocate(24 + 40 * i, 2);
  }
}

TEST_F(HeapBlockTest, ThreadPolicyReusesLastInFirstOutForTheFreer) {
  char* const a = Allocate(50, 1);
  char* const b = Allocate(50, 1);
  char* const c = Allocate(50, 1);
  Free(a, 1);
  Free(b, 2);
  Free(c, 2);
  EXPECT_EQ(Allocate(52, 2), c) << "last freed first, same size class";
  EXPECT_EQ(Allocate(50, 2), b);
  EXPECT_NE(Allocate(50, 2), a) << "thread 1 has that one";
  EXPECT_EQ(Allocate(50, 1), a);
}

TEST_F(HeapBlockTest, RecyclePolicySharesOneListPerClass) {
  heap_.Configure(HeapPolicy::kRecycle);
  char* const a = Allocate(50, 1);
  char* const big = Allocate(1 << 20, 1);
  Free(a, 1);
  Free(big, 1);
  EXPECT_EQ(Allocate(50, 2), a);
  EXPECT_EQ(Allocate(1 << 20, 3), big);
  EXPECT_EQ(heap_.Lookup(Address(a))->size_class, SizeClassOf(50));
  EXPECT_EQ(heap_.Lookup(Address(big))->size_class, SizeClassOf(1 << 20));
}

TEST_F(HeapBlockTest, FreshPolicyAndFreesOfNobodyNeverReuse) {
  char* const b = Allocate(50);
  EXPECT_EQ(Free(b, kNoThread), FreeStatus::kFreed);
  EXPECT_EQ(Free(b), FreeStatus::kDoubleFree);
  EXPECT_NE(Allocate(50), b);
  heap_.Configure(HeapPolicy::kFresh);
  char* const a = Allocate(50);
  Free(a);
  for (int i = 0; i < 3000; ++i) EXPECT_NE(Allocate(50), a);
}

TEST_F(HeapBlockTest, LargeBlocksAreReusedForTheSameNumberOfUnits) {
  char* const a = Allocate(1 << 20);
  char* const b = Allocate(2 << 20);
  Free(a);
  Free(b);
  EXPECT_EQ(Address(a) % 4096, 0u);
  EXPECT_NE(Allocate(17 << 20), a);
  EXPECT_EQ(Allocate(1 << 20), a);
  EXPECT_EQ(Allocate((2 << 20) - 100), b);
}

TEST_F(HeapBlockTest, LimitsAreReported) {
  heap_.Configure(HeapPolicy::kThread, 1000);
  char* const p = Allocate(600);
  EXPECT_FALSE(heap_.limit_exceeded());
  EXPECT_EQ(heap_.live_bytes(), 600u);
  EXPECT_EQ(Allocate(401), nullptr);
  EXPECT_TRUE(heap_.limit_exceeded());
  EXPECT_NE(Allocate(400), nullptr);
  EXPECT_EQ(Allocate(1), nullptr);
  Free(p);
  EXPECT_NE(Allocate(600), nullptr);
  heap_.Restore();
  EXPECT_FALSE(heap_.limit_exceeded());
  EXPECT_EQ(heap_.live_bytes(), 0u);
  heap_.Configure(HeapPolicy::kThread, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(Allocate(std::numeric_limits<uint64_t>::max()), nullptr);
  EXPECT_EQ(Allocate(uint64_t{1} << 40), nullptr);
  EXPECT_EQ(Allocate(8, 0, uint64_t{1} << 40), nullptr);
  EXPECT_NE(Allocate(uint64_t{4} << 30), nullptr);
  EXPECT_EQ(Allocate(uint64_t{4} << 30), nullptr) << "the region is full";
  EXPECT_NE(Allocate(uint64_t{4} << 30, 1), nullptr);
}

TEST_F(HeapBlockTest, TheLastThreadHasARegionToo) {
  char* const p = Allocate(100, kMaxThreads - 1);
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(RegionOf(Address(p)), kMaxThreads - 1);
  EXPECT_FALSE(heap_.IsBadAccess(Address(p), 100));
  EXPECT_EQ(Free(p, 0), FreeStatus::kFreed);
}

using HeapBlockDeathTest = HeapBlockTest;

TEST_F(HeapBlockDeathTest, OccupiedAddressesEndTheProcessWithAMessage) {
  Allocate(1);
  ProgramHeap second;  // finds the range in use
  EXPECT_EXIT(second.Allocate(0, 1, 16, AllocationKind::kMalloc, 0), ::testing::ExitedWithCode(2),
              "cannot reserve .* something else is mapped there");
}

}  // namespace
}  // namespace mc::sched
