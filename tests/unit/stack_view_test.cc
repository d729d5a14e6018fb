// StackView: what other threads write to a stack is not shown, what the thread writes is.
#include "sched/stack_view.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace mc::sched {
namespace {

class StackViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    memset(stack_, 1, sizeof stack_);
    view_.Reset(reinterpret_cast<uintptr_t>(stack_) + sizeof stack_);
  }
  uintptr_t At(size_t i) const { return reinterpret_cast<uintptr_t>(stack_ + i); }
  void OtherWrites(size_t i, unsigned char value) {
    view_.BeforeWriteByOther(At(i), 1);
    stack_[i] = value;
    view_.AfterWriteByOther(At(i), 1);
  }
  void OwnWrites(size_t i, unsigned char value) {
    view_.OnOwnWrite(At(i), 1);
    stack_[i] = value;
  }
  unsigned char Shown(size_t i, bool overwritten = false) {
    bool found = false;
    const unsigned char* live = view_.Show(At(0), &found);
    EXPECT_EQ(found, overwritten);
    return live[i];
  }

  unsigned char stack_[64];
  StackView view_;
};

TEST_F(StackViewTest, WritesOfOthersAreNotShown) {
  OtherWrites(10, 2);
  OtherWrites(10, 3);
  EXPECT_EQ(Shown(10), 1);
  EXPECT_EQ(Shown(9), 1);
  EXPECT_EQ(Shown(11), 1);
}

// Two writes in one block: the first value is not what the other thread left.
TEST_F(StackViewTest, SeveralWritesInOneBlock) {
  view_.BeforeWriteByOther(At(10), 2);
  stack_[10] = 2;
  view_.BeforeWriteByOther(At(10), 1);
  stack_[10] = 3;
  view_.AfterWriteByOther(At(10), 2);
  view_.AfterWriteByOther(At(10), 1);
  EXPECT_EQ(Shown(10), 1);
}

TEST_F(StackViewTest, OwnWritesAreShown) {
  OtherWrites(10, 2);
  OwnWrites(10, 5);
  EXPECT_EQ(Shown(10), 5);
  OtherWrites(10, 6);
  EXPECT_EQ(Shown(10), 5);
}

// The order of an own and another's write that the thread did not see makes no difference.
TEST_F(StackViewTest, ShowsTheSameBeforeAndAfterTheOthersWrite) {
  OwnWrites(10, 5);
  const unsigned char before = Shown(10);
  OtherWrites(10, 2);
  EXPECT_EQ(Shown(10), before);
}

// The byte has become part of something else, whose writes nobody reports.
TEST_F(StackViewTest, UnreportedOwnWrites) {
  OtherWrites(10, 2);
  stack_[10] = 7;
  EXPECT_EQ(Shown(10, true), 7);
  stack_[10] = 8;
  EXPECT_EQ(Shown(10), 8);
}

TEST_F(StackViewTest, UnreportedOwnWriteBetweenTwoOfOthers) {
  OtherWrites(10, 2);
  stack_[10] = 7;
  OtherWrites(10, 3);
  EXPECT_EQ(Shown(10), 7);
}

// What lies below the live stack is forgotten.
TEST_F(StackViewTest, DeadBytes) {
  OtherWrites(10, 2);
  bool overwritten = false;
  view_.Show(At(20), &overwritten);
  EXPECT_EQ(Shown(10), 2);
}

TEST_F(StackViewTest, EdgesOfTheStack) {
  view_.BeforeWriteByOther(At(60), 100);  // beyond its end
  stack_[63] = 2;
  view_.AfterWriteByOther(At(60), 100);
  EXPECT_EQ(Shown(63), 1);
  view_.BeforeWriteByOther(At(63) + 1, 4);
  view_.BeforeWriteByOther(At(0) - StackView::kMaxSize, 4);
  EXPECT_EQ(Shown(0), 1);
}

// As a checkpoint does.
TEST_F(StackViewTest, SaveAndRestore) {
  OtherWrites(10, 2);
  OtherWrites(20, 3);
  std::vector<StackView::MarkedByte> saved;
  view_.Save(&saved);
  EXPECT_EQ(saved.size(), 2u);
  OwnWrites(10, 2);
  view_.Reset(reinterpret_cast<uintptr_t>(stack_) + sizeof stack_);
  view_.Restore(saved);
  EXPECT_EQ(Shown(10), 1);
  EXPECT_EQ(Shown(20), 1);
  stack_[20] = 7;
  EXPECT_EQ(Shown(20, true), 7);
}

TEST_F(StackViewTest, ResetForgets) {
  OtherWrites(10, 2);
  view_.Reset(reinterpret_cast<uintptr_t>(stack_) + sizeof stack_);
  EXPECT_EQ(Shown(10), 2);
}

}  // namespace
}  // namespace mc::sched
