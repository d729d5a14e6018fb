// SettledAccesses: when an access cannot add a fact to the table any more.
#include <gtest/gtest.h>

#include "racedet/settled_accesses.h"

namespace mc::racedet {
namespace {

using sched::MicroAccess;
using sched::ThreadId;
constexpr sched::Cell kX = 0x10000;
constexpr uint64_t kWritePc = 100, kReadPc = 200;

class SettledAccessesTest : public testing::Test {
 protected:
  void Block(ThreadId thread, bool after_creation = false) {
    sched::Event event;
    event.thread = thread;
    settled.BeginEvent(event, after_creation);
    ++events;
  }
  bool Write(uint64_t pc = kWritePc, sched::Cell cell = kX) {
    return settled.Enter({cell, pc, 4, 0, sched::kWrite});
  }
  bool Read(uint64_t pc = kReadPc, sched::Cell cell = kX) {
    return settled.Enter({cell, pc, 4, 0, sched::kRead});
  }
  void Lock(sched::CellKind kind = sched::CellKind::kMutex) {
    settled.ChangeLocks(OfLock(kind, sched::kReadWrite, sched::kAcquire));
  }
  void Unlock(sched::CellKind kind = sched::CellKind::kMutex) {
    settled.ChangeLocks(OfLock(kind, sched::kWrite, sched::kRelease));
  }
  static MicroAccess OfLock(sched::CellKind kind, uint8_t mode, uint16_t flags) {
    return {sched::MakeCell(kind, 0x9000), 400, 1, flags, mode};
  }
  void NewExecution() {
    settled.CutBack(0);
    events = 0;
  }
  void Know(uint64_t earlier, uint64_t later, bool unordered) {
    CandidateTable::Instance instance;
    instance.earlier.pc = earlier;
    instance.later.pc = later;
    instance.later.thread = 1;
    instance.cell = kX;
    instance.unordered = instance.data_race = unordered;
    table.Add(instance);
  }

  CandidateTable table;
  SettledAccesses settled{table, true};
  size_t events = 0;
};

TEST_F(SettledAccessesTest, OfOneThread) {
  Block(1);
  EXPECT_TRUE(Write());
  EXPECT_TRUE(Read());
  Block(2);
  EXPECT_FALSE(Write()) << "another thread";
}

TEST_F(SettledAccessesTest, AllFactsAreWanted) {
  Block(1);
  Write();
  Block(2);
  EXPECT_FALSE(Read());
  Know(kWritePc, kReadPc, false);
  EXPECT_FALSE(Read());
  Know(kReadPc, kWritePc, false);
  EXPECT_FALSE(Read()) << "both orders, but not that nothing orders them";
  Know(kReadPc, kWritePc, true);
  EXPECT_TRUE(Read());
  Block(1);
  EXPECT_TRUE(Write());
}

TEST_F(SettledAccessesTest, ADataRaceIsAFactOfItsOwn) {
  CandidateTable::Instance instance;
  instance.earlier.pc = kWritePc;
  instance.later.pc = kReadPc;
  instance.cell = kX;
  instance.unordered = true;
  table.Add(instance);
  std::swap(instance.earlier, instance.later);
  table.Add(instance);
  Block(1);
  Write();
  Block(2);
  EXPECT_FALSE(Read());
}

TEST_F(SettledAccessesTest, ANewPartnerUnsettles) {
  Know(kWritePc, kReadPc, true);
  Know(kReadPc, kWritePc, true);
  Block(1);
  Write();
  Block(2);
  EXPECT_TRUE(Read());
  Block(1);
  EXPECT_FALSE(Write(300));
  Block(2);
  EXPECT_FALSE(Read()) << "that with the new instruction may be a new pair";
  EXPECT_TRUE(Read(kReadPc, kX + 4)) << "other bytes";
}

TEST_F(SettledAccessesTest, BeforeTheCreation) {
  Block(0);
  EXPECT_TRUE(Write());
  settled.Create(1);
  Block(1, true);
  EXPECT_TRUE(Read()) << "in its first block";
  Block(1);
  EXPECT_FALSE(Read()) << "in a later block: a candidate by must-happen-before";
  Know(kReadPc, kWritePc, false);
  EXPECT_FALSE(Read()) << "the other order";
  Know(kWritePc, kReadPc, false);
  EXPECT_TRUE(Read());
  NewExecution();
  Block(0);
  settled.Create(1);
  EXPECT_FALSE(Write()) << "this time after it";
  NewExecution();
  Block(0);
  EXPECT_TRUE(Write()) << "before there is another thread";
  settled.Create(1);
  Block(1);
  EXPECT_FALSE(Read()) << "that it was written later once is enough";
}

TEST_F(SettledAccessesTest, BeforeTheCreationOfOneOfTwo) {
  Block(0);
  settled.Create(1);
  Block(0);
  Write();
  settled.Create(2);
  Block(2);
  Know(kWritePc, kReadPc, false);
  EXPECT_TRUE(Read());
  NewExecution();
  Block(0);
  settled.Create(1);
  settled.Create(2);
  EXPECT_FALSE(Write()) << "this time after it";
  NewExecution();
  Block(0);
  settled.Create(1);
  Block(0);
  EXPECT_FALSE(Write()) << "that it was once is enough";
}

// One instruction both sets up, before there is another thread, and is what that thread does.
TEST_F(SettledAccessesTest, SetUpByTheSameInstruction) {
  Block(0);
  Write();
  settled.Create(1);
  settled.Create(2);
  Block(1, true);
  EXPECT_TRUE(Write()) << "in its first block";
  Block(1);
  CandidateTable::Instance instance;
  instance.earlier.pc = instance.later.pc = kWritePc;
  instance.earlier.thread = 2;
  instance.later.thread = 1;
  instance.cell = kX;
  table.Add(instance);
  EXPECT_FALSE(Write()) << "known of a higher thread first only";
  Know(kWritePc, kWritePc, false);  // by threads 0 and 1
  EXPECT_TRUE(Write());
  Block(2);
  EXPECT_FALSE(Write()) << "two threads";
  Block(0);
  EXPECT_FALSE(Write()) << "main, while there are others";
}

TEST_F(SettledAccessesTest, OrdersOfOneInstructionAreToldByThreads) {
  Block(0);
  settled.Create(1);
  Block(1);
  EXPECT_TRUE(Write());
  Block(0);
  settled.Join(1);
  EXPECT_FALSE(Write(kWritePc, kX + 2)) << "the higher thread first";
  Know(kWritePc, kWritePc, false);
  EXPECT_FALSE(Write(kWritePc, kX + 2)) << "known of the lower one first only";
  CandidateTable::Instance instance;
  instance.earlier.pc = instance.later.pc = kWritePc;
  instance.earlier.thread = 1;
  instance.cell = kX;
  table.Add(instance);
  EXPECT_TRUE(Write(kWritePc, kX + 2));
}

TEST_F(SettledAccessesTest, BeforeTheCreationByAnother) {
  Block(0);
  settled.Create(1);
  Write();
  Block(1, true);
  settled.Create(2);
  Block(2, true);
  EXPECT_FALSE(Read());
}

TEST_F(SettledAccessesTest, AfterAJoin) {
  Know(kWritePc, kReadPc, false);
  Block(1);
  Write();
  Block(2);
  EXPECT_FALSE(Write()) << "two threads write";
  Know(kWritePc, kWritePc, true);
  NewExecution();
  Block(1);
  Write();
  Block(0);
  settled.Join(1);
  settled.Join(2);
  EXPECT_TRUE(Read(kReadPc));
  NewExecution();
  Block(0);
  EXPECT_FALSE(Read()) << "not joined this time";
  NewExecution();
  Block(0);
  settled.Join(1);
  settled.Join(2);
  EXPECT_FALSE(Read()) << "that it was once is enough";
}

TEST_F(SettledAccessesTest, ProtectedByALock) {
  Block(1);
  Lock();
  Write();
  Unlock();
  Block(2);
  Lock();
  EXPECT_TRUE(Write()) << "no order of the two adds anything";
  EXPECT_TRUE(Read());
  Unlock();
  EXPECT_FALSE(Read()) << "without the lock";
  Lock();
  EXPECT_TRUE(Read()) << "it is another class";
}

TEST_F(SettledAccessesTest, HeldForReadingByBoth) {
  Block(1);
  Lock(sched::CellKind::kReadersHalf);
  Write();
  Block(2);
  Lock(sched::CellKind::kReadersHalf);
  EXPECT_FALSE(Write());
  Unlock(sched::CellKind::kReadersHalf);
  Lock(sched::CellKind::kWriterHalf);
  EXPECT_TRUE(Write());
}

TEST_F(SettledAccessesTest, CutBackGivesLocksBack) {
  Block(1);
  Lock();
  Write();
  Block(2);
  Lock();
  Block(2);
  Unlock();
  settled.CutBack(2);
  Block(2);
  EXPECT_TRUE(Write()) << "still held";
  settled.CutBack(1);
  Block(2);
  EXPECT_FALSE(Write());
}

TEST_F(SettledAccessesTest, LocksProtectUnderTheLimitedRuleOnly) {
  SettledAccesses other{table, false};
  for (const ThreadId thread : {ThreadId{1}, ThreadId{2}}) {
    sched::Event event;
    event.thread = thread;
    other.BeginEvent(event, false);
    other.ChangeLocks(OfLock(sched::CellKind::kMutex, sched::kReadWrite, sched::kAcquire));
    EXPECT_EQ(other.Enter({kX, kWritePc, 4, 0, sched::kWrite}), thread == 1);
    other.ChangeLocks(OfLock(sched::CellKind::kMutex, sched::kWrite, sched::kRelease));
  }
}

TEST_F(SettledAccessesTest, CutBackForgetsJoinsAndCreations) {
  Know(kWritePc, kReadPc, false);
  Block(1);
  Write();
  Block(0);
  settled.Join(1);
  Block(0);
  EXPECT_TRUE(Read());
  settled.CutBack(1);
  Block(0);
  EXPECT_FALSE(Read());
}

TEST_F(SettledAccessesTest, ManyThreadsSettleNothing) {
  Block(64);
  EXPECT_FALSE(Write());
  Block(1);
  EXPECT_FALSE(Write());
}

}  // namespace
}  // namespace mc::racedet
