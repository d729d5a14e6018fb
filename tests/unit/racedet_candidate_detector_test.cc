// The candidate detector on traces written by hand: the figures of Blum 2016, each kind of edge,
// each kind of lock, byte-exact overlap, and what a search relies on (kept prefixes, sharing,
// reports).
#include <gtest/gtest.h>

#include <vector>

#include "racedet/candidate_detector.h"
#include "tests/unit/trace_builder.h"

namespace mc::racedet {
namespace {

using sched::CellKind;
using sched::OperationKind;
using sched::ReplayTrace;
using sched::ThreadId;
using sched::Trace;
using sched::TraceBuilder;

constexpr auto kLimited = CandidateRule::kLimitedHappensBefore;
constexpr auto kPure = CandidateRule::kHappensBefore;
constexpr sched::Cell kX = 0x1000, kY = 0x2000;

// What a detector finds in traces run one after another.
class Found {
 public:
  Found(CandidateRule rule, std::initializer_list<const TraceBuilder*> traces) {
    CandidateDetector detector(rule, table);
    for (const TraceBuilder* b : traces) ReplayTrace(b->trace(), detector);
  }
  Found(CandidateRule rule, const TraceBuilder& b) : Found(rule, {&b}) {}

  size_t size() const { return table.size(); }
  const Candidate* At(uint64_t a, uint64_t b) const {
    const uint32_t index = table.Find(a, b);
    return index == CandidateTable::kNone ? nullptr : &table[index];
  }

  CandidateTable table;
};

// Two threads that are never blocked.
TraceBuilder TwoThreads() { return TraceBuilder(); }

TEST(CandidateDetector, Figure1OnlyUnderLimited) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 101);
  b.Block(1).Lock(7).Write(kY, 8, 103).Unlock(7);
  b.Block(2).Lock(7).Read(kY, 8, 106).Unlock(7);
  b.Block(2).Write(kX, 4, 109);
  const Found limited(kLimited, b);
  ASSERT_EQ(limited.size(), 1u);
  const Candidate* c = limited.At(101, 109);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->status, CandidateStatus::kSuspected);
  EXPECT_FALSE(c->unordered);
  EXPECT_FALSE(c->data_race);
  EXPECT_EQ(c->earlier.thread, 1);
  EXPECT_EQ(c->earlier.event, 0u);
  EXPECT_EQ(c->later.event, 3u);
  EXPECT_EQ(Found(kPure, b).size(), 0u);
}

TEST(CandidateDetector, ConfirmedWhenSeenInBothOrders) {
  TraceBuilder first, second;
  first.Block(1).Write(kX, 4, 11);
  first.Block(2).Read(kX, 4, 12);
  second.Block(2).Read(kX, 4, 12);
  second.Block(1).Write(kX, 4, 11);
  EXPECT_EQ(Found(kLimited, first).At(11, 12)->status, CandidateStatus::kSuspected);
  EXPECT_EQ(Found(kLimited, second).At(11, 12)->status, CandidateStatus::kSuspected);
  const Found both(kLimited, {&first, &second});
  EXPECT_EQ(both.At(12, 11)->status, CandidateStatus::kConfirmed);
  EXPECT_TRUE(both.At(12, 11)->data_race);
}

TEST(CandidateDetector, OneInstructionIsConfirmedByBothOrdersOfThreads) {
  TraceBuilder first, second;
  first.Block(1).Write(kX, 4, 11);
  first.Block(2).Write(kX, 4, 11);
  second.Block(2).Write(kX, 4, 11);
  second.Block(1).Write(kX, 4, 11);
  EXPECT_EQ(Found(kLimited, first).At(11, 11)->status, CandidateStatus::kSuspected);
  EXPECT_EQ(Found(kLimited, {&first, &second}).At(11, 11)->status, CandidateStatus::kConfirmed);
}

// ---------------------------------------------------------------- Kinds

// A compare-and-exchange (pc 11) that fails in one execution and succeeds in the other.
TEST(CandidateDetector, KindsAreTheStrongestSeenInWhateverOrder) {
  constexpr auto kOrder = sched::MemoryOrder::kRelaxed;
  TraceBuilder fails, succeeds;
  fails.Block(1).Load(kX, kOrder, 11);
  fails.Block(2).Store(kX, kOrder, 12);
  succeeds.Block(1).ReadModifyWrite(kX, kOrder, 11);
  succeeds.Block(2).Store(kX, kOrder, 12);
  EXPECT_EQ(Found(kLimited, fails).At(11, 12)->lower_kind, AccessKind::kAtomicRead);
  for (const Found& both :
       {Found(kLimited, {&fails, &succeeds}), Found(kLimited, {&succeeds, &fails})}) {
    EXPECT_EQ(both.At(11, 12)->lower_kind, AccessKind::kAtomicReadModifyWrite);
    EXPECT_EQ(both.At(11, 12)->higher_kind, AccessKind::kAtomicWrite);
    EXPECT_EQ(both.At(11, 12)->status, CandidateStatus::kSuspected);
  }
}

TEST(CandidateDetector, KindsOfOneInstructionAreOfTheStrongerAndTheWeakerAccess) {
  constexpr auto kOrder = sched::MemoryOrder::kRelaxed;
  TraceBuilder first, second;
  first.Block(1).ReadModifyWrite(kX, kOrder, 11);
  first.Block(2).Load(kX, kOrder, 11);
  second.Block(1).Load(kX, kOrder, 11);
  second.Block(2).ReadModifyWrite(kX, kOrder, 11);
  for (const Found& both :
       {Found(kLimited, {&first, &second}), Found(kLimited, {&second, &first})}) {
    EXPECT_EQ(both.At(11, 11)->lower_kind, AccessKind::kAtomicReadModifyWrite);
    EXPECT_EQ(both.At(11, 11)->higher_kind, AccessKind::kAtomicRead);
  }
}

// What an instance across a free shows of a candidate is its kinds, not an order of it.
TEST(CandidateDetector, KindsOfRecycledInstancesCountInWhateverOrder) {
  TraceBuilder real, recycled;
  real.Block(2).Read(kX, 4, 12);
  real.Block(1).Write(kX, 4, 11);
  recycled.Block(1).Write(kX, 4, 11).Free(kX, 16, 3);
  recycled.Block(2).Allocate(kX, 16, 4).Write(kX, 4, 12);
  for (const Found& both :
       {Found(kLimited, {&real, &recycled}), Found(kLimited, {&recycled, &real})}) {
    const Candidate* const c = both.At(11, 12);
    EXPECT_EQ(c->higher_kind, AccessKind::kWrite);
    EXPECT_EQ(c->status, CandidateStatus::kSuspected);
    EXPECT_EQ(c->earlier.pc, 12u);
  }
}

TEST(CandidateTable, MergesTheKindsOfAnotherProcess) {
  CandidateTable ours;
  Candidate theirs;
  theirs.earlier.pc = 11;
  theirs.later.pc = 12;
  theirs.earlier_first_seen = true;
  theirs.lower_kind = AccessKind::kAtomicRead;
  theirs.higher_kind = AccessKind::kWrite;
  ours.Merge(theirs);
  theirs.lower_kind = AccessKind::kAtomicReadModifyWrite;
  theirs.higher_kind = AccessKind::kRead;
  ours.Merge(theirs);
  EXPECT_EQ(ours[0].lower_kind, AccessKind::kAtomicReadModifyWrite);
  EXPECT_EQ(ours[0].higher_kind, AccessKind::kWrite);
}

// ---------------------------------------------------------------- Malloc-recycle

TEST(CandidateDetector, Figure2FreedAndRecycledByTheOtherThread) {
  TraceBuilder b;
  b.Block(1).Allocate(kX, 16, 1).Write(kX, 4, 2);
  b.Block(1).Free(kX, 16, 3);
  b.Block(2).Allocate(kX, 16, 4);
  b.Block(2).Write(kX, 4, 5);
  const Found found(kLimited, b);
  ASSERT_NE(found.At(2, 5), nullptr);
  EXPECT_EQ(found.At(2, 5)->status, CandidateStatus::kMallocRecycle);
  EXPECT_FALSE(found.At(2, 5)->data_race);
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found.table[i].status, CandidateStatus::kMallocRecycle);
  }
  EXPECT_EQ(found.table.malloc_recycle_discarded(), found.size());
}

TEST(CandidateDetector, FreedButNotRecycledIsReal) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 2);
  b.Block(1).Free(kX, 16, 3);
  b.Block(2).Write(kX, 4, 5);
  const Found found(kLimited, b);
  EXPECT_EQ(found.At(2, 5)->status, CandidateStatus::kSuspected);
  EXPECT_TRUE(found.At(3, 5)->data_race);
}

TEST(CandidateDetector, Figure3TheAdversarialOneIsPromoted) {
  // T1 writes x and frees it, T2's allocation recycles it, and T2 uses its stale pointer:
  // discarded.
  TraceBuilder recycled;
  recycled.Block(1).Write(kX, 4, 2).Free(kX, 16, 3);
  recycled.Block(2).Allocate(kX, 16, 4).Write(kX, 4, 5);
  // The reordering: T2's allocation gets other memory, and the same pair lies in one allocation.
  TraceBuilder reordered;
  reordered.Block(2).Allocate(kY, 16, 4).Write(kX, 4, 5);
  reordered.Block(1).Write(kX, 4, 2).Free(kX, 16, 3);
  const Found found(kLimited, {&recycled, &reordered});
  const Candidate* c = found.At(2, 5);
  EXPECT_EQ(c->status, CandidateStatus::kSuspected);
  EXPECT_TRUE(c->promoted);
  EXPECT_GE(found.table.promoted(), 1u);
  EXPECT_EQ(found.At(3, 4)->status, CandidateStatus::kMallocRecycle);
}

TEST(CandidateDetector, AccessBeforeAFreeOfTheSameAllocation) {
  TraceBuilder b;
  b.Block(1).Allocate(kX, 64, 1);
  b.Block(2).Read(kX + 40, 8, 2);
  b.Block(1).Free(kX, 64, 3);
  const Found found(kLimited, b);
  EXPECT_TRUE(found.At(2, 3)->data_race);
  EXPECT_FALSE(found.At(1, 2)->data_race);  // the allocation's write is no access of the program
  EXPECT_EQ(found.size(), 2u);
}

// ---------------------------------------------------------------- Must-happen-before

TEST(CandidateDetector, CreateOrdersTheFirstBlockOnly) {
  TraceBuilder b;
  b.Block(0).Write(kX, 4, 1).Write(kY, 4, 2);
  b.Block(0).Create(1).Write(kX + 64, 4, 9);
  b.Block(1).Start().Read(kX, 4, 3).Read(kX + 64, 4, 10);
  b.Block(1).Read(kY, 4, 4);
  const Found found(kLimited, b);
  EXPECT_EQ(found.At(1, 3), nullptr);
  EXPECT_EQ(found.At(9, 10), nullptr);  // an edge orders the whole transition
  ASSERT_NE(found.At(2, 4), nullptr);   // definition 6 (2): not through T2's own order
  EXPECT_FALSE(found.At(2, 4)->unordered);
  EXPECT_EQ(found.size(), 1u);
}

TEST(CandidateDetector, TransitiveThroughTheSourcesOrder) {
  TraceBuilder b;
  b.Block(0).Write(kX, 4, 1);
  b.Block(0).Create(1);
  b.Block(1).Start();
  b.Block(1).Create(2);  // a later block than the one the edge led to
  b.Block(2).Start().Read(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, b).size(), 0u);
}

// An attempt to join that failed was put off, and so is the end of the thread behind it; the join
// that follows makes up for both.
TEST(CandidateDetector, JoinAfterAFailedAttempt) {
  TraceBuilder direct;
  direct.Block(1).Write(kX, 4, 1);
  direct.Block(0).FailToJoin(1);
  direct.Block(1).Exit();
  direct.Block(0, OperationKind::kJoin).Join(1).Read(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, direct).size(), 0u);
  EXPECT_EQ(Found(kPure, direct).size(), 0u);

  TraceBuilder by_another;
  by_another.Block(1).Write(kX, 4, 1);
  by_another.Block(2).FailToJoin(1);
  by_another.Block(1).Exit();
  by_another.Block(2, OperationKind::kJoin).Join(1);
  by_another.Block(2).Exit();
  by_another.Block(0, OperationKind::kJoin).Join(2).Read(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, by_another).size(), 0u);

  // The attempt itself orders nothing.
  TraceBuilder without;
  without.Block(1).Write(kX, 4, 1);
  without.Block(0).FailToJoin(1).Read(kX, 4, 2);
  without.Block(1).Exit();
  EXPECT_TRUE(Found(kLimited, without).At(1, 2)->data_race);
}

TEST(CandidateDetector, EdgesOfEachKind) {
  TraceBuilder join;
  join.Block(1).Write(kX, 4, 1);
  join.Block(1).Exit();
  join.Block(0, OperationKind::kJoin).Join(1).Write(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, join).size(), 0u);

  TraceBuilder inside;
  inside.Block(1).Write(kX, 4, 1).Exit();
  inside.Block(0).Read(kY, 4, 3).Join(1).Write(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, inside).size(), 1u);  // T0 was not blocked
  EXPECT_FALSE(Found(kLimited, inside).At(1, 2)->unordered);

  TraceBuilder wake;
  wake.Block(1).Write(kX, 4, 1).Wake(0);
  wake.Block(0, OperationKind::kReacquire).Woken().Lock(7).Write(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, wake).size(), 0u);
  // A notification alone does not synchronise in C++.
  EXPECT_TRUE(Found(kPure, wake).At(1, 2)->data_race);

  TraceBuilder runnable;
  runnable.Block(1).Write(kX, 4, 1).Wake(0);
  runnable.Block(0, OperationKind::kFutexReturn).Woken().Write(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, runnable).size(), 0u);
  EXPECT_EQ(Found(kPure, runnable).size(), 0u);

  TraceBuilder contended;
  contended.Block(1).Write(kX, 4, 1).Unlock(7);
  contended.Block(0, OperationKind::kLock).Lock(7).Write(kX, 4, 2);
  EXPECT_EQ(Found(kLimited, contended).size(), 1u);  // unlock -> lock gives no edge
  EXPECT_EQ(Found(kPure, contended).size(), 0u);
}

TEST(CandidateDetector, BarrierEdgeComesFromTheLastArrival) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1).Arrive(5, false);
  b.Block(2).Write(kY, 4, 2).Arrive(5, true);
  b.Block(1, OperationKind::kBarrierDepart).Depart(5).Read(kY, 4, 3);
  b.Block(2, OperationKind::kBarrierDepart).Depart(5).Read(kX, 4, 4);
  const Found limited(kLimited, b);
  EXPECT_EQ(limited.At(2, 3), nullptr);
  EXPECT_NE(limited.At(1, 4), nullptr);  // T1's arrival enabled nobody
  EXPECT_EQ(Found(kPure, b).size(), 0u);
}

// ---------------------------------------------------------------- Locks

TEST(CandidateDetector, ReadHoldsProtectAgainstWritersOnly) {
  TraceBuilder readers;
  readers.Block(1).ReadLock(9).Write(kX, 4, 1).ReadUnlock(9);
  readers.Block(2).ReadLock(9).Write(kX, 4, 2).ReadUnlock(9);
  EXPECT_TRUE(Found(kLimited, readers).At(1, 2)->data_race);
  EXPECT_TRUE(Found(kPure, readers).At(1, 2)->data_race);

  TraceBuilder writer;
  writer.Block(1).ReadLock(9).Read(kX, 4, 1).ReadUnlock(9);
  writer.Block(2).WriteLock(9).Write(kX, 4, 2).WriteUnlock(9);
  writer.Block(1).ReadLock(9).Read(kX, 4, 3).ReadUnlock(9);
  EXPECT_EQ(Found(kLimited, writer).size(), 0u);
  EXPECT_EQ(Found(kPure, writer).size(), 0u);

  TraceBuilder twice;  // the lock is still held after the first of two unlocks
  twice.Block(1).ReadLock(9).ReadLock(9).ReadUnlock(9).Read(kX, 4, 1).ReadUnlock(9);
  twice.Block(2).WriteLock(9).Write(kX, 4, 2).WriteUnlock(9).Write(kX, 4, 3);
  EXPECT_EQ(Found(kLimited, twice).At(1, 2), nullptr);
  EXPECT_NE(Found(kLimited, twice).At(1, 3), nullptr);
}

TEST(CandidateDetector, RoutineThatHasRunOnceIsNoLock) {
  TraceBuilder b;
  b.Block(0).Lock(9).Write(kY, 4, 1).Unlock(9);  // the routine
  b.Block(1).OnceDone(9).Read(kY, 4, 2).Write(kX, 4, 3);
  b.Block(2).OnceDone(9).Read(kY, 4, 2).Write(kX, 4, 3);
  for (const auto rule : {kLimited, kPure}) {
    const Found found(rule, b);
    ASSERT_NE(found.At(3, 3), nullptr);
    EXPECT_TRUE(found.At(3, 3)->data_race);
  }
  EXPECT_EQ(Found(kPure, b).At(1, 2), nullptr);
}

TEST(CandidateDetector, SemaphoreUsedAsALock) {
  TraceBuilder b;
  b.Block(1).SemaphoreWait(3, 1).Write(kX, 4, 1).SemaphorePost(3, 0);
  b.Block(2).Read(kY, 4, 9).SemaphoreWait(3, 1).Write(kX, 4, 2).SemaphorePost(3, 0);
  EXPECT_EQ(Found(kLimited, b).size(), 0u);

  // A later execution shows that a thread that does not hold it posts it: the pair comes back.
  TraceBuilder stranger;
  stranger.Block(1).SemaphorePost(3, 1);
  EXPECT_NE(Found(kLimited, {&b, &stranger}).At(1, 2), nullptr);
  EXPECT_EQ(Found(kLimited, {&stranger, &b}).size(), 1u);

  TraceBuilder two;  // its initial value is 2
  two.Block(1).SemaphoreWait(3, 2).Write(kX, 4, 1);
  two.Block(1).SemaphorePost(3, 1);
  two.Block(2).Read(kY, 4, 9).SemaphoreWait(3, 2).Write(kX, 4, 2).SemaphorePost(3, 1);
  EXPECT_EQ(Found(kLimited, two).size(), 1u);
}

TEST(CandidateDetector, SemaphoreUsedAsASignal) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1);
  b.Block(1).SemaphorePost(3, 0).Write(kY, 4, 2);
  b.Block(2, OperationKind::kSemaphoreWait).SemaphoreWait(3, 1).Read(kX, 4, 3).Read(kY, 4, 4);
  const Found limited(kLimited, b);
  EXPECT_EQ(limited.size(), 0u);
  const Found pure(kPure, b);
  EXPECT_EQ(pure.At(1, 3), nullptr);
  EXPECT_TRUE(pure.At(2, 4)->data_race);  // written after the post
}

TEST(CandidateDetector, OlderAccessWithAnotherLocksetIsRemembered) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1);
  b.Block(1).Lock(7).Write(kX, 4, 1).Unlock(7);
  b.Block(2).Lock(7).Write(kX, 4, 2).Unlock(7);
  EXPECT_NE(Found(kLimited, b).At(1, 2), nullptr);
}

// ---------------------------------------------------------------- Bytes and kinds

TEST(CandidateDetector, OverlapIsByteExact) {
  for (int offset = -9; offset <= 9; ++offset) {
    TraceBuilder b = TwoThreads();
    b.Block(1).Write(kX + 5, 7, 1);
    b.Block(2).Read(kX + 5 + offset, 3, 2);
    EXPECT_EQ(Found(kLimited, b).size(), offset > -3 && offset < 7 ? 1u : 0u) << offset;
  }
}

TEST(CandidateDetector, RangesOfMegabytes) {
  constexpr uint32_t kSize = 5 << 20;
  for (const sched::Cell at : {kX - 1, kX, kX + kSize / 2, kX + kSize - 1, kX + kSize}) {
    TraceBuilder small_first, large_first;
    small_first.Block(1).Write(at, 1, 1);
    small_first.Block(2).Write(kX, kSize, 2);
    large_first.Block(2).Write(kX, kSize, 2);
    large_first.Block(1).Write(at, 1, 1);
    const size_t expected = at >= kX && at < kX + kSize ? 1 : 0;
    EXPECT_EQ(Found(kLimited, small_first).size(), expected) << at;
    EXPECT_EQ(Found(kLimited, large_first).size(), expected) << at;
  }
}

TEST(CandidateDetector, KindsOfAccess) {
  struct Row {
    uint16_t first, second;
    bool race;
  };
  const Row rows[] = {
      {0, 0, true},
      {0, sched::kAtomic, true},
      {sched::kAtomic, sched::kAtomic, false},
      {sched::kObjectBytes, sched::kObjectBytes, false},
      {sched::kObjectBytes, sched::kAtomic, false},
      {sched::kObjectBytes, 0, false},
      {sched::kObjectBytes, sched::kFree, false},
      {0, sched::kFree, true},
      {sched::kAtomic, sched::kFree, true},
      {sched::kAllocation, 0, false},
      {sched::kFree, sched::kFree, false},
  };
  for (const Row& row : rows) {
    for (const bool swapped : {false, true}) {
      TraceBuilder b;
      b.Block(1).Write(kX, 4, 1, swapped ? row.second : row.first);
      b.Block(2).Write(kX, 4, 2, swapped ? row.first : row.second);
      const Found found(kLimited, b);
      ASSERT_NE(found.At(1, 2), nullptr);
      if (found.At(1, 2)->status == CandidateStatus::kMallocRecycle) continue;
      EXPECT_TRUE(found.At(1, 2)->unordered);
      EXPECT_EQ(found.At(1, 2)->data_race, row.race) << row.first << " " << row.second;
    }
  }
}

TEST(CandidateDetector, ReadsAndCommutingAdditionsDoNotConflict) {
  TraceBuilder b;
  b.Block(1).Read(kX, 4, 1).Access(kY, 4, sched::kAdd, sched::kAtomic, 2);
  b.Block(2).Read(kX, 4, 3).Access(kY, 4, sched::kAdd, sched::kAtomic, 4);
  EXPECT_EQ(Found(kLimited, b).size(), 0u);
}

TEST(CandidateDetector, StacksAreForgottenWhenTheirThreadDies) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1, sched::kThreadLocal);
  b.Block(2).Write(kX, 4, 2);
  b.Block(1).Exit();
  b.Block(3).Write(kX, 4, 3, sched::kThreadLocal);
  const Found found(kLimited, b);
  EXPECT_NE(found.At(1, 2), nullptr);
  EXPECT_EQ(found.size(), 1u);
}

// ---------------------------------------------------------------- What a search relies on

TEST(CandidateDetector, ChangesAreReportedOnce) {
  TraceBuilder first, second;
  first.Block(1).Write(kX, 4, 11);
  first.Block(2).Read(kX, 4, 12);
  second.Block(2).Read(kX, 4, 12);
  second.Block(1).Write(kX, 4, 11);
  CandidateTable table;
  CandidateDetector detector(kLimited, table), another(kLimited, table);
  std::vector<uint32_t> changes;
  ReplayTrace(first.trace(), detector);
  table.TakeChanges(&changes);
  EXPECT_EQ(changes.size(), 1u);
  ReplayTrace(first.trace(), another);
  EXPECT_FALSE(table.HasChanges());
  ReplayTrace(second.trace(), another);
  table.TakeChanges(&changes);
  EXPECT_EQ(changes.size(), 1u);
  ReplayTrace(second.trace(), detector);
  ReplayTrace(first.trace(), detector);
  EXPECT_FALSE(table.HasChanges());
}

TEST(CandidateDetector, KeptPrefixIsNotLookedAtAgain) {
  TraceBuilder first, second;
  for (TraceBuilder* b : {&first, &second}) b->Block(1).Write(kX, 4, 1).Write(kY, 4, 2);
  first.Block(1).Lock(7).Write(kX, 4, 3);
  first.Block(2).Write(kY, 4, 4);
  second.Block(2).Lock(7).Write(kX, 4, 5);
  CandidateTable table;
  CandidateDetector detector(kLimited, table);
  ReplayTrace(first.trace(), detector);
  EXPECT_EQ(table.size(), 1u);
  detector.OnExecutionBegin(second.trace(), 1);
  detector.OnExecutionEnd(second.trace());
  EXPECT_EQ(table.size(), 2u);
  EXPECT_NE(table.Find(1, 5), CandidateTable::kNone);  // the kept access is still there,
  EXPECT_EQ(table.Find(3, 5), CandidateTable::kNone);  // the undone one is not
}

TEST(CandidateDetector, ManyThreadsInAnotherOrderThanBefore) {
  // All threads make the same access; of all but thread 3 the reader knows. What an earlier
  // execution left in the index of threads must not make thread 3's access be taken for another's.
  TraceBuilder upwards, downwards;
  for (ThreadId t = 1; t <= 8; ++t) upwards.Block(t).Write(kX, 4, 1);
  for (ThreadId t = 8; t >= 1; --t) {
    downwards.Block(t).Write(kX, 4, 1);
    if (t != 3) downwards.ReadModifyWrite(kY, sched::MemoryOrder::kRelease, 5);
  }
  downwards.Block(9).Load(kY, sched::MemoryOrder::kAcquire, 6).Read(kX, 4, 2);
  const Found found(kPure, {&upwards, &downwards});
  ASSERT_NE(found.At(1, 2), nullptr);
  EXPECT_TRUE(found.At(1, 2)->data_race);
  EXPECT_EQ(found.At(1, 2)->earlier.thread, 3);
}

TEST(CandidateDetector, JoinsARunningSearch) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1);
  b.Block(2).Write(kX, 4, 2);
  CandidateTable table;
  CandidateDetector detector(kLimited, table);
  detector.OnExecutionBegin(b.trace(), 1);
  detector.OnExecutionEnd(b.trace());
  EXPECT_NE(table.Find(1, 2), CandidateTable::kNone);
}

TEST(CandidateDetector, FourThousandThreads) {
  TraceBuilder b;
  constexpr int kThreads = 4096;
  b.Block(0).Write(kX, 4, 1);
  for (int t = 1; t < kThreads; ++t) b.Create(static_cast<ThreadId>(t));
  for (int t = 1; t < kThreads; ++t) {
    b.Block(static_cast<ThreadId>(t)).Start().Write(kY + 8 * t, 8, 2);
    b.Block(static_cast<ThreadId>(t)).Lock(7).Write(kX, 4, 3).Unlock(7);
    b.Block(static_cast<ThreadId>(t)).Exit();
  }
  b.Block(0);
  for (int t = 1; t < kThreads; ++t) b.Join(static_cast<ThreadId>(t));
  for (int t = 1; t < kThreads; ++t) b.Write(kY + 8 * t, 8, 4);
  b.Write(kX, 4, 5);
  EXPECT_EQ(Found(kPure, b).size(), 0u);
  const Found limited(kLimited, b);
  EXPECT_EQ(limited.At(3, 3), nullptr);  // protected by the mutex
  EXPECT_NE(limited.At(1, 3), nullptr);  // not in the created threads' first blocks
}

}  // namespace
}  // namespace mc::racedet
