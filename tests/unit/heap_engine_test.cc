// The engine's own heap.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "sched/engine_heap.h"
#include "sched/heap.h"

namespace mc::sched {
namespace {

uint64_t Address(const void* p) { return reinterpret_cast<uint64_t>(p); }

TEST(EngineHeapTest, EverySizeHasRoomAndIsAligned) {
  for (size_t size = 0; size < 70000; size = size < 600 ? size + 1 : size + size / 50) {
    void* const p = EngineAllocate(size);
    ASSERT_NE(p, nullptr);
    EXPECT_GE(EngineUsableSize(p), size);
    EXPECT_LE(EngineUsableSize(p), size < 64 ? size + 16 : size + size / 3);
    EXPECT_EQ(Address(p) % 16, 0u);
    EXPECT_TRUE(IsEngineBlock(p));
    EXPECT_FALSE(ProgramHeap::Contains(Address(p)));
    std::memset(p, 1, EngineUsableSize(p));
    EngineFree(p);
  }
  int local = 0;
  EXPECT_FALSE(IsEngineBlock(&local));
}

TEST(EngineHeapTest, AlignmentsUpToTheLimit) {
  for (size_t alignment = 1; alignment <= kMaxEngineAlignment; alignment *= 2) {
    for (const size_t size : {1, 100, 5000, 40000, 100000}) {
      void* const first = EngineAllocate(size, alignment);
      void* const second = EngineAllocate(size, alignment);
      EXPECT_EQ(Address(first) % alignment, 0u);
      EXPECT_EQ(Address(second) % alignment, 0u);
      EngineFree(first);
      EngineFree(second);
    }
  }
  EXPECT_EQ(EngineAllocate(1, 2 * kMaxEngineAlignment), nullptr);
}

TEST(EngineHeapTest, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(EngineAllocate(size_t{1} << 41), nullptr);
  EXPECT_EQ(EngineAllocate(~size_t{0}), nullptr);
  char* const p = static_cast<char*>(EngineAllocate(10));
  EXPECT_EQ(EngineReallocate(p, size_t{1} << 41), nullptr);
  std::memset(p, 1, 10);  // still there
  EngineFree(p);
  EngineFree(nullptr);
}

TEST(EngineHeapTest, ReallocateKeepsTheContent) {
  auto* p = static_cast<unsigned char*>(EngineReallocate(nullptr, 1));
  p[0] = 0;
  size_t size = 1;
  for (const size_t next : {10, 100, 1000, 100000, 3000000, 5000, 7}) {
    p = static_cast<unsigned char*>(EngineReallocate(p, next));
    for (size_t i = 0; i < std::min(size, next); ++i) ASSERT_EQ(p[i], i % 251);
    for (size_t i = 0; i < next; ++i) p[i] = static_cast<unsigned char>(i % 251);
    size = next;
  }
  EngineFree(p);
  auto* const zeroed = static_cast<unsigned char*>(EngineAllocateZeroed(7));
  for (int i = 0; i < 7; ++i) EXPECT_EQ(zeroed[i], 0);
  EngineFree(zeroed);
}

TEST(EngineHeapTest, RandomBlocksNeverOverlap) {
  constexpr uint32_t kSeed = 20160707;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  const uint64_t in_use = EngineBytesInUse();
  std::map<unsigned char*, std::pair<size_t, unsigned char>> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 2 == 0) {
      const size_t size = random() % (random() % 50 == 0 ? 300000 : 300);
      auto* const p = static_cast<unsigned char*>(EngineAllocate(size));
      const auto mark = static_cast<unsigned char>(step);
      std::memset(p, mark, size);
      ASSERT_TRUE(live.emplace(p, std::pair(size, mark)).second);
    } else {
      auto victim = live.lower_bound(std::next(live.begin(), random() % live.size())->first);
      const auto [size, mark] = victim->second;
      for (size_t i = 0; i < size; ++i) ASSERT_EQ(victim->first[i], mark);
      EngineFree(victim->first);
      live.erase(victim);
    }
  }
  for (const auto& [p, value] : live) EngineFree(p);
  EXPECT_EQ(EngineBytesInUse(), in_use);
}

}  // namespace
}  // namespace mc::sched
