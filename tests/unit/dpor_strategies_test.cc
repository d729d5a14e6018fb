// The table of searches, replay, random walks, and the report of divergence.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "dpor/odpor.h"
#include "dpor/random_walk.h"
#include "dpor/replay_strategy.h"
#include "dpor/strategy_table.h"
#include "tests/toy/explore.h"

namespace mc::toy {
namespace {

std::vector<dpor::Step> StepsOf(const sched::Trace& trace) {
  std::vector<dpor::Step> steps;
  for (const sched::Event& e : trace.events) {
    dpor::Step step;
    step.thread = e.thread;
    for (const sched::Choice& c : trace.ChoicesOf(e)) step.choices.push_back(c.value);
    steps.push_back(step);
  }
  return steps;
}

TEST(StrategyTable, KnowsItsNames) {
  EXPECT_EQ(dpor::Strategies()[0].name, "odpor");
  for (const dpor::StrategyEntry& entry : dpor::Strategies()) {
    EXPECT_NE(dpor::MakeSearch(entry.name, {}), nullptr) << entry.name;
  }
  EXPECT_EQ(dpor::MakeSearch("no such search", {}), nullptr);
}

TEST(Replay, RepeatsEveryExecution) {
  const Program program = ParseOrDie(
      "lock m0; wait c0,m0; unlock m0 ‖ lock m0; wait c0,m0; unlock m0 ‖ signal c0, signal c0, "
      "r0=choose(2)");
  dpor::OptimalSearch<false> search({});
  Machine machine(program), again(program);
  sched::Trace trace;
  int executions = 0;
  while (RunOne(machine, search, trace)) {
    ++executions;
    dpor::ReplayStrategy replay(StepsOf(trace));
    sched::Trace repeated;
    ASSERT_TRUE(RunOne(again, replay, repeated));
    EXPECT_EQ(again.StateHash(), machine.StateHash());
    EXPECT_FALSE(replay.diverged_step().has_value()) << replay.error();
    EXPECT_TRUE(replay.complete());
    EXPECT_FALSE(RunOne(again, replay, repeated));
  }
  EXPECT_GT(executions, 14);
}

TEST(Replay, ReportsTheFirstStepThatCannotBeFollowed) {
  const Program program = ParseOrDie("lock m0; unlock m0 ‖ lock m0; r0=choose(2)");
  Machine machine(program);
  sched::Trace trace;
  {
    dpor::ReplayStrategy replay({{0, {}}, {1, {}}});
    RunOne(machine, replay, trace);
    EXPECT_EQ(replay.diverged_step(), 1u);
    EXPECT_EQ(replay.error(), "step 1: T1 is to run, but it cannot");
    EXPECT_EQ(replay.error_step(), 1u);
    EXPECT_EQ(trace.outcome, sched::ExecutionOutcome::kBlocked);
  }
  {
    dpor::ReplayStrategy replay({{0, {}}, {0, {}}, {1, {}}, {1, {2}}});
    RunOne(machine, replay, trace);
    EXPECT_EQ(replay.diverged_step(), 3u);
  }
  {
    dpor::ReplayStrategy replay({{0, {}}, {0, {}}, {7, {}}});
    RunOne(machine, replay, trace);
    EXPECT_EQ(replay.diverged_step(), 2u);
  }
  {
    dpor::ReplayStrategy replay(std::vector<dpor::Step>(9));
    RunOne(machine, replay, trace);
    EXPECT_EQ(replay.diverged_step(), 2u);  // thread 0 has no third event
  }
  {
    dpor::ReplayStrategy replay(
        std::vector<dpor::Step>{{1, {}}});  // then on its own, staying on thread 1
    RunOne(machine, replay, trace);
    EXPECT_FALSE(replay.diverged_step().has_value());
    EXPECT_EQ(trace.events[1].thread, 1);
    EXPECT_EQ(trace.size(), 2u);  // thread 1 keeps the mutex, thread 0 stays blocked
  }
  {
    // A choice that the program does not ask for, also where another step fails later.
    dpor::ReplayStrategy replay({{0, {}}, {0, {1}}, {1, {}}, {7, {}}});
    RunOne(machine, replay, trace);
    EXPECT_EQ(replay.error(),
              "step 1: the schedule has 1 choices, but the program asks only for 0");
    EXPECT_EQ(replay.diverged_step(), 1u);
  }
}

TEST(Replay, OnlyTheLastStepMayLackChoices) {
  const Program program = ParseOrDie("r0=choose(2), r1=choose(2) ‖ x=1");
  Machine machine(program);
  sched::Trace trace;
  dpor::ReplayStrategy lacking({{0, {1}}, {1, {}}});
  RunOne(machine, lacking, trace);
  EXPECT_EQ(lacking.diverged_step(), 0u);
  EXPECT_EQ(lacking.error(),
            "step 0: the program asks for 2 choices or more, but the schedule has only 1");
  dpor::ReplayStrategy cut_off({{1, {}}, {0, {1}}});
  RunOne(machine, cut_off, trace);
  EXPECT_FALSE(cut_off.diverged_step().has_value()) << cut_off.error();
}

TEST(Random, SameSeedSameExecutions) {
  const Program program = ParseOrDie(Increments(3));
  auto run = [&](uint64_t seed) {
    dpor::RandomWalk walk(seed, 200);
    return Explore(program, walk, 1000);
  };
  EXPECT_EQ(run(4).traces, run(4).traces);
  EXPECT_NE(run(4).traces, run(5).traces);
  EXPECT_EQ(run(4).executions, 200u);
  EXPECT_GT(run(4).traces.size(), 20u);
}

// A machine whose first thread does something else in every execution.
TEST(Divergence, IsReportedWithBothBehaviours) {
  const Program one = ParseOrDie("x=1; y=1 ‖ r0=x; r1=y ‖ r0=y");
  const Program two = ParseOrDie("x=1; y=1 ‖ r1=y; r0=x ‖ r0=y");
  for (const char* name : {"odpor", "source", "dpor"}) {
    auto search = dpor::MakeSearch(name, {});
    Machine first(one), second(two);
    sched::Trace trace;
    bool more = true;
    for (int k = 0; k < 50 && more; ++k) {
      search->Resume();
      more = RunOne(k % 2 == 0 ? first : second, *search, trace, false);
    }
    EXPECT_NE(search->error(), "") << name;
    EXPECT_NE(search->error().find("step "), std::string::npos);
    EXPECT_FALSE(search->complete());
  }
}

// At the half of a search the estimate is of the right order.
TEST(Estimate, IsOfTheRightOrderHalfWay) {
  const struct {
    std::string text;
    uint64_t runs;
  } cases[] = {{AtomicIncrements(7), 5040},
               {AtomicIncrementsOf(4, 3), 13824},
               {LockedIncrements(6, 1), 720},
               {Twice(4), 2520},
               {Readers(10), 1024},
               {LastZero(10), 3328},
               {WriteAndCompareExchanges(8), 1025}};
  for (const auto& c : cases) {
    const Program program = ParseOrDie(c.text);
    dpor::OptimalSearch<false> search({});
    Machine machine(program);
    sched::Trace trace;
    uint64_t bound = 0;
    while (RunOne(machine, search, trace)) {
      EXPECT_GE(search.LowerBound(), bound);
      EXPECT_LE(search.LowerBound(), c.runs);
      bound = search.LowerBound();
      if (search.runs() != c.runs / 2) continue;
      EXPECT_GT(search.Estimate(), 0.25 * double(c.runs)) << c.text;
      EXPECT_LT(search.Estimate(), 12.0 * double(c.runs)) << c.text;
    }
    EXPECT_EQ(search.Estimate(), double(c.runs));
  }
}

}  // namespace
}  // namespace mc::toy
