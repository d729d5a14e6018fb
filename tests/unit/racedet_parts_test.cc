// The parts of race detection by themselves: clocks against plain vectors, locksets, the table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

#include "racedet/candidate_table.h"
#include "racedet/clock_arena.h"
#include "racedet/lockset.h"

namespace mc::racedet {
namespace {

using sched::CellKind;
using sched::MakeCell;

TEST(ClockArena, JoinEqualsMaximumOfVectors) {
  const auto seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (const uint32_t width : {3u, 16u, 17u, 100u, 4096u}) {
    ClockArena arena;
    std::vector<std::vector<uint32_t>> plain{std::vector<uint32_t>(width, 0)};
    std::vector<ClockArena::Ref> refs{ClockArena::kEmpty};
    size_t cut_size = 0, cut_count = 0;
    for (int i = 0; i < 200; ++i) {
      const size_t a = random() % refs.size(), b = random() % refs.size();
      const uint32_t thread = random() % width, bound = random() % 1000;
      refs.push_back(arena.Join(refs[a], {refs[b], thread, bound}));
      std::vector<uint32_t> joined(width);
      for (uint32_t t = 0; t < width; ++t) joined[t] = std::max(plain[a][t], plain[b][t]);
      joined[thread] = std::max(joined[thread], bound);
      plain.push_back(joined);
      if (i == 100) cut_size = arena.size(), cut_count = refs.size();
      if (i == 150) {
        arena.CutBack(cut_size);
        refs.resize(cut_count);
        plain.resize(cut_count);
      }
    }
    for (size_t i = 0; i < refs.size(); ++i) {
      for (uint32_t t = 0; t < width; ++t) ASSERT_EQ(arena.Get(refs[i], t), plain[i][t]);
    }
  }
}

TEST(ClockArena, NothingNewMakesNoClock) {
  ClockArena arena;
  const auto a = arena.Join(ClockArena::kEmpty, {ClockArena::kEmpty, 5, 10});
  const auto b = arena.Join(a, {ClockArena::kEmpty, 9, 20});
  const size_t size = arena.size();
  EXPECT_EQ(arena.Join(b, {a, 5, 10}), b);
  EXPECT_EQ(arena.Join(b, {a, 9, 3}), b);
  EXPECT_EQ(arena.size(), size);
}

TEST(Lockset, SetsAreInternedWhateverTheOrder) {
  LocksetTable table;
  const auto m1 = MakeCell(CellKind::kMutex, 1), m2 = MakeCell(CellKind::kMutex, 2);
  const auto a = table.Apply(table.Apply(0, m1, LockChange::kAcquire), m2, LockChange::kAcquire);
  const auto b = table.Apply(table.Apply(0, m2, LockChange::kAcquire), m1, LockChange::kAcquire);
  EXPECT_EQ(a, b);
  EXPECT_EQ(table.HoldsOf(a).size(), 2u);
  const auto only1 = table.Apply(a, m2, LockChange::kRelease);
  const auto only2 = table.Apply(a, m1, LockChange::kRelease);
  EXPECT_EQ(table.CommonProtection(only1, only2), Protection::kNone);
  EXPECT_EQ(table.CommonProtection(only1, a), Protection::kLocks);
  EXPECT_EQ(table.Apply(only1, m1, LockChange::kRelease), 0u);
  EXPECT_EQ(table.Apply(0, m1, LockChange::kRelease), 0u);
}

TEST(Lockset, ReadHoldsAreCounted) {
  LocksetTable table;
  const auto rw = MakeCell(CellKind::kWriterHalf, 1);
  const auto once = table.Apply(0, rw, LockChange::kReadAcquire);
  const auto twice = table.Apply(once, rw, LockChange::kReadAcquire);
  EXPECT_EQ(table.Apply(twice, rw, LockChange::kReadRelease), once);
  EXPECT_EQ(table.Apply(once, rw, LockChange::kReadRelease), 0u);
  EXPECT_EQ(table.CommonProtection(once, twice), Protection::kNone);
  EXPECT_EQ(table.CommonProtection(once, table.Apply(0, rw, LockChange::kAcquire)),
            Protection::kLocks);
}

TEST(Lockset, ContradictedSemaphoresProtectNothing) {
  LocksetTable table;
  const auto s = MakeCell(CellKind::kSemaphore, 1);
  const auto held = table.Apply(0, s, LockChange::kAcquire);
  EXPECT_EQ(table.CommonProtection(held, held), Protection::kSemaphoresOnly);
  EXPECT_TRUE(table.Contradict(s));
  EXPECT_FALSE(table.Contradict(s));
  EXPECT_EQ(table.CommonProtection(held, held), Protection::kNone);
}

CandidateTable::Instance InstanceOf(uint64_t earlier, uint64_t later) {
  CandidateTable::Instance instance;
  instance.earlier.pc = earlier;
  instance.later.pc = later;
  instance.later.thread = 1;
  return instance;
}

TEST(CandidateTable, MergeIsTheUnion) {
  CandidateTable a, b;
  a.Add(InstanceOf(1, 2));
  b.Add(InstanceOf(2, 1));
  auto recycled = InstanceOf(3, 4);
  recycled.recycled = true;
  a.Add(recycled);
  b.Add(InstanceOf(3, 4));
  for (size_t i = 0; i < b.size(); ++i) a.Merge(b[i]);
  EXPECT_EQ(a[a.Find(1, 2)].status, CandidateStatus::kConfirmed);
  EXPECT_EQ(a[a.Find(4, 3)].status, CandidateStatus::kSuspected);
  EXPECT_TRUE(a[a.Find(4, 3)].promoted);
  EXPECT_EQ(a.promoted(), 1u);
  EXPECT_EQ(a.malloc_recycle_discarded(), 0u);
  std::vector<uint32_t> changes;
  a.TakeChanges(&changes);
  for (size_t i = 0; i < b.size(); ++i) a.Merge(b[i]);
  EXPECT_FALSE(a.HasChanges());
}

TEST(CandidateTable, RecycledAfterRealIsNotNews) {
  CandidateTable table;
  table.Add(InstanceOf(1, 2));
  std::vector<uint32_t> changes;
  table.TakeChanges(&changes);
  auto recycled = InstanceOf(1, 2);
  recycled.recycled = true;
  table.Add(recycled);
  EXPECT_FALSE(table.HasChanges());
  EXPECT_EQ(table[0].status, CandidateStatus::kSuspected);
  EXPECT_FALSE(table[0].promoted);
}

}  // namespace
}  // namespace mc::racedet
