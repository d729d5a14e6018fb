// SharedLines: what one thread alone touches, or fills for a thread that it creates.
#include <gtest/gtest.h>

#include "racedet/shared_lines.h"
#include "tests/unit/trace_builder.h"

namespace mc::racedet {
namespace {

using Answer = SharedLines::Answer;
using sched::TraceBuilder;
constexpr sched::Cell kX = 0x10000, kFar = 0x80000;

// Enters a whole trace, from event `from` on; the answer for its last access to memory.
Answer Enter(SharedLines& lines, const sched::Trace& trace, size_t from = 0) {
  Answer answer = Answer::kOneThread;
  for (size_t p = from; p < trace.size(); ++p) {
    const sched::Event& event = trace.events[p];
    lines.BeginEvent(trace, event);
    for (uint32_t i = event.first_access; i < event.first_access + event.access_count; ++i) {
      const sched::MicroAccess& access = trace.accesses[i];
      if (sched::IsMemory(access.begin)) {
        answer = lines.Touch(trace, event, i);
      } else if (sched::KindOf(access.begin) == sched::CellKind::kThreadStart &&
                 access.mode == sched::kWrite) {
        lines.Create(event, i, static_cast<sched::ThreadId>(sched::ObjectOf(access.begin)));
      }
    }
  }
  return answer;
}

TEST(SharedLines, OwnedUntilASecondThreadComes) {
  TraceBuilder b;
  b.Block(1).Write(kX, 4, 1);
  b.Block(1).Read(kX, 4, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kOneThread);
  TraceBuilder second;
  second.Block(2).Read(kX + 8, 4, 3);  // of the same line
  EXPECT_EQ(Enter(lines, second.trace()), Answer::kBecameShared);
  EXPECT_EQ(Enter(lines, second.trace()), Answer::kShared);
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kShared);
}

TEST(SharedLines, HandedToAThreadThatIsCreatedAfterwards) {
  TraceBuilder b;
  b.Block(0).Write(kX, 4, 1).Create(1);
  b.Block(1).Start().Read(kX, 4, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kOneThread);
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kOneThread) << "again is harmless";
  b.Block(2).Read(kX, 4, 3);
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kBecameShared);
}

TEST(SharedLines, NotHandedIfTheCreatorGoesOnWithIt) {
  TraceBuilder before, after;
  before.Block(0).Create(1).Write(kX, 4, 1);
  before.Block(1).Start().Read(kX, 4, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, before.trace()), Answer::kBecameShared);

  after.Block(0).Write(kX, 4, 1).Create(1);
  after.Block(1).Start().Read(kX, 4, 2);
  after.Block(0).Write(kX, 4, 3);
  SharedLines others;
  EXPECT_EQ(Enter(others, after.trace()), Answer::kBecameShared);
}

TEST(SharedLines, NotHandedToALaterBlockOrWithoutAStart) {
  TraceBuilder later;
  later.Block(0).Write(kX, 4, 1).Create(1);
  later.Block(1).Start();
  later.Block(1).Read(kX, 4, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, later.trace()), Answer::kBecameShared);

  TraceBuilder without;
  without.Block(0).Write(kX, 4, 1).Create(1);
  without.Block(1).Read(kX, 4, 2);
  SharedLines others;
  EXPECT_EQ(Enter(others, without.trace()), Answer::kBecameShared);
}

TEST(SharedLines, CreationsOfAnotherExecutionDoNotCount) {
  TraceBuilder first, second;
  first.Block(0).Write(kFar, 4, 1).Create(1);
  second.Block(0).Write(kX, 4, 1);
  second.Block(1).Start().Read(kX, 4, 2);
  SharedLines lines;
  Enter(lines, first.trace());
  EXPECT_EQ(Enter(lines, second.trace()), Answer::kBecameShared);
}

TEST(SharedLines, AnotherExecutionMayHandItInAnotherPlace) {
  TraceBuilder first, second;
  first.Block(2).Write(kFar, 4, 9).Write(kFar + 64, 4, 9);
  first.Block(0).Write(kX, 4, 1).Create(1);
  first.Block(1).Start().Read(kX, 4, 2);
  second.Block(0).Write(kX, 4, 1).Create(1);
  second.Block(1).Start().Read(kX, 4, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, first.trace()), Answer::kOneThread);
  EXPECT_EQ(Enter(lines, second.trace()), Answer::kOneThread);
}

TEST(SharedLines, LargeRangesAreShared) {
  TraceBuilder b, large;
  b.Block(1).Write(kX + 4096, 4, 1);
  large.Block(1).Write(kX, 65536, 2);
  SharedLines lines;
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kOneThread);
  EXPECT_EQ(Enter(lines, large.trace()), Answer::kBecameShared);
  EXPECT_EQ(Enter(lines, large.trace()), Answer::kShared);
  EXPECT_EQ(Enter(lines, b.trace()), Answer::kBecameShared);
  for (uint32_t i = 0; i < 200; ++i) {  // more of them than are kept apart
    TraceBuilder another;
    another.Block(1).Write(kFar + 200000 * i, 100000, 3);
    EXPECT_NE(Enter(lines, another.trace()), Answer::kOneThread);
    EXPECT_EQ(Enter(lines, another.trace()), Answer::kShared);
  }
  EXPECT_LE(lines.size(), 2u);
}

}  // namespace
}  // namespace mc::racedet
