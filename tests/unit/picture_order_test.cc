// Happens-before as the pictures draw it: reduced, and complete.
#include "checker/picture_order.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "checker/picture.h"
#include "sched/cell.h"
#include "sched/event.h"

namespace mc::checker {
namespace {

constexpr uint64_t kX = 0x1000, kY = 0x2000;
const PictureAccess kWriteX{kX, 4, sched::kWrite}, kReadX{kX, 4, sched::kRead};
const PictureAccess kWriteY{kY, 4, sched::kWrite}, kReadY{kY, 4, sched::kRead};

PictureStep Step(uint32_t thread, std::vector<PictureAccess> accesses) {
  PictureStep step;
  step.thread = thread;
  step.accesses = std::move(accesses);
  return step;
}

TEST(PictureOrderTest, ArrowsThatFollowFromOthersAreLeftOut) {
  // T0 writes x, then y; T1 reads y, then x: the order of the x's follows.
  const std::vector<PictureStep> steps = {Step(0, {kWriteX}), Step(0, {kWriteY}), Step(1, {kReadY}),
                                          Step(1, {kReadX})};
  const std::vector<OrderArrow> arrows = ReducedHappensBefore(steps);
  ASSERT_EQ(arrows.size(), 1u);
  EXPECT_EQ(arrows[0].from, 1u);
  EXPECT_EQ(arrows[0].to, 2u);
  EXPECT_EQ(arrows[0].cell, kY);
}

TEST(PictureOrderTest, ReadsAndAdditionsCommute) {
  const auto arrows_between = [](uint8_t a, uint8_t b) {
    return ReducedHappensBefore({Step(0, {{kX, 8, a}}), Step(1, {{kX + 7, 8, b}})}).size();
  };
  EXPECT_EQ(arrows_between(sched::kRead, sched::kRead), 0u);
  EXPECT_EQ(arrows_between(sched::kAdd, sched::kAdd), 0u);
  EXPECT_EQ(arrows_between(sched::kAdd, sched::kRead), 1u);
  EXPECT_EQ(arrows_between(sched::kWrite, sched::kRead), 1u);
  EXPECT_EQ(arrows_between(sched::kReadWrite, sched::kReadWrite), 1u);
}

TEST(PictureOrderTest, RandomReductionsAgreeWithTheClosure) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto below = [&](uint32_t limit) { return random() % limit; };
    std::vector<PictureStep> steps;
    const uint32_t length = 2 + below(14), threads = 2 + below(3);
    for (uint32_t i = 0; i < length; ++i) {
      PictureStep step = Step(below(threads) * 7, {});
      for (uint32_t n = below(3); n > 0; --n) {
        constexpr uint8_t kModes[] = {sched::kRead, sched::kWrite, sched::kReadWrite, sched::kAdd};
        step.accesses.push_back({below(12), 1 + below(4), kModes[below(4)]});
      }
      steps.push_back(step);
    }
    const size_t n = steps.size();
    const auto closure = [n](std::vector<std::vector<char>> order) {
      for (size_t k = 0; k < n; ++k) {
        for (size_t i = 0; i < n; ++i) {
          for (size_t j = 0; j < n; ++j) order[i][j] |= order[i][k] && order[k][j];
        }
      }
      return order;
    };
    std::vector<std::vector<char>> lanes(n, std::vector<char>(n)), full;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) lanes[i][j] = steps[i].thread == steps[j].thread;
    }
    full = lanes;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = i + 1; j < n; ++j) {
        for (const PictureAccess& a : steps[i].accesses) {
          for (const PictureAccess& b : steps[j].accesses) {
            const bool overlap = a.begin < b.begin + b.size && b.begin < a.begin + a.size;
            full[i][j] |= overlap && sched::ModesConflict(a.mode, b.mode);
          }
        }
      }
    }
    const std::vector<OrderArrow> arrows = ReducedHappensBefore(steps);
    const auto with_all_but = [&](size_t left_out) {
      auto order = lanes;
      for (size_t i = 0; i < arrows.size(); ++i) {
        if (i != left_out) order[arrows[i].from][arrows[i].to] = true;
      }
      return closure(order);
    };
    ASSERT_EQ(with_all_but(arrows.size()), closure(full));
    for (size_t i = 0; i < arrows.size(); ++i) {
      ASSERT_NE(with_all_but(i), closure(full)) << "an arrow too many";
      ASSERT_TRUE(full[arrows[i].from][arrows[i].to]);
      ASSERT_NE(steps[arrows[i].from].thread, steps[arrows[i].to].thread);
    }
  }
}

TEST(PictureOrderTest, CellsAreNamed) {
  using sched::CellKind;
  EXPECT_EQ(CellText(0x1234), "0x1234");
  EXPECT_EQ(CellText(sched::MakeCell(CellKind::kMutex, 0x10)), "mutex 0x10");
  EXPECT_EQ(CellText(sched::MakeCell(CellKind::kThreadExit, 3)), "end of T3");
  EXPECT_EQ(CellText(sched::MakeCell(CellKind::kBarrierGeneration, 0x1002)),
            "barrier 0x10, generation 2");
}

}  // namespace
}  // namespace mc::checker
