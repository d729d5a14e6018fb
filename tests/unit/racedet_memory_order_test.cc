// Happens-before under C++ memory orders: whether a payload that is published through an atomic is
// a data race.
#include <gtest/gtest.h>

#include "racedet/candidate_detector.h"
#include "tests/unit/trace_builder.h"

namespace mc::racedet {
namespace {

using sched::MemoryOrder;
using sched::TraceBuilder;

constexpr auto kRelaxed = MemoryOrder::kRelaxed, kConsume = MemoryOrder::kConsume,
               kAcquire = MemoryOrder::kAcquire, kRelease = MemoryOrder::kRelease,
               kAcqRel = MemoryOrder::kAcqRel, kSeqCst = MemoryOrder::kSeqCst;
constexpr sched::Cell kData = 0x1000, kFlag = 0x2000;

// Whether the write at pc 1 and the read at pc 2 of the payload race; under both rules alike.
bool PayloadRaces(const TraceBuilder& b) {
  bool races[2];
  for (const bool pure : {false, true}) {
    CandidateTable table;
    CandidateDetector detector(
        pure ? CandidateRule::kHappensBefore : CandidateRule::kLimitedHappensBefore, table);
    sched::ReplayTrace(b.trace(), detector);
    const uint32_t index = table.Find(1, 2);
    EXPECT_TRUE(pure || index != CandidateTable::kNone);  // limited: whatever the orders
    races[pure] = index != CandidateTable::kNone && table[index].data_race;
  }
  EXPECT_EQ(races[0], races[1]);
  return races[0];
}

TEST(MemoryOrder, MessagePassing) {
  for (int store = 0; store < 6; ++store) {
    for (int load = 0; load < 6; ++load) {
      const auto s = static_cast<MemoryOrder>(store), l = static_cast<MemoryOrder>(load);
      TraceBuilder b;
      b.Block(1).Write(kData, 4, 1).Store(kFlag, s, 3);
      b.Block(2).Load(kFlag, l, 4).Read(kData, 4, 2);
      const bool releases = s == kRelease || s == kAcqRel || s == kSeqCst;
      const bool acquires = l == kConsume || l == kAcquire || l == kAcqRel || l == kSeqCst;
      EXPECT_EQ(PayloadRaces(b), !(releases && acquires)) << store << " " << load;
    }
  }
}

TEST(MemoryOrder, WrittenAfterTheRelease) {
  TraceBuilder b;
  b.Block(1).Store(kFlag, kRelease, 3).Write(kData, 4, 1);
  b.Block(2).Load(kFlag, kAcquire, 4).Read(kData, 4, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, ReadModifyWriteContinuesAReleaseSequence) {
  TraceBuilder b;
  b.Block(1).Write(kData, 4, 1).Store(kFlag, kRelease, 3);
  b.Block(3).ReadModifyWrite(kFlag, kRelaxed, 5);
  b.Block(2).Load(kFlag, kAcquire, 4).Read(kData, 4, 2);
  EXPECT_FALSE(PayloadRaces(b));
}

TEST(MemoryOrder, PlainStoreEndsAReleaseSequenceEvenOfItsOwnThread) {
  for (const sched::ThreadId by : {1, 3}) {
    TraceBuilder b;
    b.Block(1).Write(kData, 4, 1).Store(kFlag, kRelease, 3);
    b.Block(by).Store(kFlag, kRelaxed, 5);
    b.Block(2).Load(kFlag, kAcquire, 4).Read(kData, 4, 2);
    EXPECT_TRUE(PayloadRaces(b)) << by;
  }
}

TEST(MemoryOrder, RelaxedReadModifyWriteDoesNotAcquire) {
  TraceBuilder b;
  b.Block(1).Write(kData, 4, 1).Store(kFlag, kRelease, 3);
  b.Block(2).ReadModifyWrite(kFlag, kRelaxed, 4).Read(kData, 4, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, Fences) {
  struct Row {
    MemoryOrder release, acquire;
    bool race;
  };
  for (const Row& row : {Row{kRelease, kAcquire, false}, Row{kSeqCst, kSeqCst, false},
                         Row{kAcqRel, kAcqRel, false}, Row{kAcquire, kAcquire, true},
                         Row{kRelease, kRelease, true}, Row{kRelaxed, kAcquire, true}}) {
    TraceBuilder b;
    b.Block(1).Write(kData, 4, 1).Fence(row.release).Store(kFlag, kRelaxed, 3);
    b.Block(2).Load(kFlag, kRelaxed, 4).Fence(row.acquire).Read(kData, 4, 2);
    EXPECT_EQ(PayloadRaces(b), row.race);
  }
}

TEST(MemoryOrder, OnlyWhatPrecedesTheReleaseFence) {
  TraceBuilder b;
  b.Block(1).Fence(kRelease).Write(kData, 4, 1).Store(kFlag, kRelaxed, 3);
  b.Block(2).Load(kFlag, kAcquire, 4).Read(kData, 4, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, FencesWithoutACommonAtomicDoNotSynchronise) {
  TraceBuilder b;
  b.Block(1).Write(kData, 4, 1).Fence(kSeqCst);
  b.Block(2).Fence(kSeqCst).Read(kData, 4, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, AcquireFenceBeforeTheLoadIsOfNoUse) {
  TraceBuilder b;
  b.Block(1).Write(kData, 4, 1).Store(kFlag, kRelease, 3);
  b.Block(2).Fence(kAcquire).Load(kFlag, kRelaxed, 4).Read(kData, 4, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, APlainWriteOrANewLifetimeForgetsTheRelease) {
  for (const bool lifetime : {false, true}) {
    TraceBuilder b;
    b.Block(1).Write(kData, 4, 1).Store(kFlag, kRelease, 3);
    b.Block(3);
    if (lifetime) {
      b.Allocate(kFlag - 16, 4096, 5);
    } else {
      b.Write(kFlag + 2, 1, 5);
    }
    b.Block(2).Load(kFlag, kAcquire, 4).Read(kData, 4, 2);
    EXPECT_TRUE(PayloadRaces(b)) << lifetime;
  }
}

TEST(MemoryOrder, AtomicsCommunicateUnderBothRules) {
  TraceBuilder b;
  b.Block(1).ReadModifyWrite(kFlag, kSeqCst, 3);
  b.Block(2).ReadModifyWrite(kFlag, kSeqCst, 4);
  for (const auto rule : {CandidateRule::kLimitedHappensBefore, CandidateRule::kHappensBefore}) {
    CandidateTable table;
    CandidateDetector detector(rule, table);
    sched::ReplayTrace(b.trace(), detector);
    ASSERT_EQ(table.size(), 1u);
    EXPECT_TRUE(table[0].unordered);
    EXPECT_FALSE(table[0].data_race);
  }
}

TEST(MemoryOrder, AnAtomicAndAPlainAccessCanRace) {
  TraceBuilder b;
  b.Block(1).Write(kFlag, 4, 1);
  b.Block(2).Load(kFlag, kAcquire, 2);
  EXPECT_TRUE(PayloadRaces(b));
}

TEST(MemoryOrder, InitialisedPlainlyAndPublishedByItsOwnRelease) {
  TraceBuilder b;
  b.Block(1).Write(kFlag, 4, 1).Store(kFlag, kRelease, 3);
  b.Block(2).Load(kFlag, kAcquire, 2);
  EXPECT_FALSE(PayloadRaces(b));
}

}  // namespace
}  // namespace mc::racedet
