#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checker/footprint_text.h"

namespace mc::checker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(FootprintText, WhatShowsNoFootprintsStays) {
  Symbolizer symbolizer({});
  const FootprintText text = ExplainFootprints("a choice of 3 was not there", &symbolizer);
  EXPECT_EQ(text.words, "a choice of 3 was not there");
  EXPECT_EQ(text.raw, "");
}

TEST(FootprintText, TheDifferenceIsToldInWords) {
  Symbolizer symbolizer({});
  const std::string raw =
      "expected event 3 of thread 1 touching { RW 0x200200010010+32 R 0x71000ffffd00+8 W "
      "0x900000000000001+1 }, found event 3 of thread 1 touching { RW 0x200200010010+32 R "
      "0x71000ffffd00+16 R 0x10055555555b1c0+1 }";
  const FootprintText text = ExplainFootprints(raw, &symbolizer);
  EXPECT_EQ(text.words,
            "this step did not read and write what it did before; only now: the stack of T1, a "
            "lock; only before: the stack of T1, the begin, the end or the waking of a thread");
  EXPECT_EQ(text.raw, raw);
}

TEST(FootprintText, MoreThanAtLeastIsNoSurprise) {
  Symbolizer symbolizer({});
  const FootprintText text = ExplainFootprints(
      "expected at least event 0 of thread 2 touching { R 0x200000010010+1 }, found event 0 of "
      "thread 2 touching { W 0x200200010010+1 }",
      &symbolizer);
  EXPECT_EQ(text.words,
            "this step did not read and write what it did before; only before: heap memory that "
            "T0 allocated");
}

TEST(FootprintText, ManyNamesAreCutOff) {
  Symbolizer symbolizer({});
  const FootprintText text = ExplainFootprints(
      "expected event 0 of thread 2 touching { }, found event 0 of thread 2 touching { W "
      "0x200000010010+1 W 0x200200010010+1 W 0x200400010010+1 W 0x200600010010+1 ... }",
      &symbolizer);
  EXPECT_THAT(text.words,
              AllOf(HasSubstr("T0 allocated, heap memory that T1 allocated"),
                    HasSubstr(" and more"), Not(HasSubstr("T3")), Not(HasSubstr("only before"))));
}

TEST(FootprintText, OneFootprintIsLeftOut) {
  Symbolizer symbolizer({});
  const FootprintText text = ExplainFootprints(
      "expected event 2 of thread 1 touching { W 0x200000010010+1 }, but that thread cannot run",
      &symbolizer);
  EXPECT_EQ(text.words, "expected event 2 of thread 1, but that thread cannot run");
  EXPECT_THAT(text.raw, HasSubstr("0x200000010010+1"));
}

}  // namespace
}  // namespace mc::checker
