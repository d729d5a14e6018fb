// Random programs: what delay bounding runs against the schedules by definition, and that samples
// are reproducible, execute nothing that is not possible, and find what they promise to find.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dpor/delay.h"
#include "dpor/dfs.h"
#include "dpor/pct.h"
#include "dpor/portfolio.h"
#include "dpor/pos.h"
#include "dpor/random_walk.h"
#include "dpor/strategy_table.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/cells.h"
#include "tests/toy/explore.h"
#include "tests/toy/random_programs.h"

namespace mc::toy {
namespace {

using Schedule = std::vector<uint32_t>;

// The threads of an execution, each followed by its choices.
Schedule ScheduleOf(const sched::Trace& trace) {
  Schedule schedule;
  for (const sched::Event& e : trace.events) {
    schedule.push_back(e.thread);
    for (const sched::Choice& c : trace.ChoicesOf(e)) schedule.push_back(1000 + c.value);
  }
  return schedule;
}

// How many delays an execution takes: a thread that runs cost one for each enabled thread that the
// round-robin order, beginning with the one that ran last, has before it.
class DelayCounter : public sched::Strategy {
 public:
  explicit DelayCounter(sched::Strategy& search) : search_(search) {}
  bool BeginExecution(const sched::Trace& trace, size_t*) override {
    size_t keep = 0;
    delays_ = 0;
    return search_.BeginExecution(trace, &keep);
  }
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override {
    const sched::ThreadId next = search_.Next(trace, state);
    const uint32_t first = state.Current() == sched::kNoThread ? 0u : state.Current();
    for (uint32_t k = 0; k < state.ThreadCount(); ++k) {
      const auto t = static_cast<sched::ThreadId>((first + k) % state.ThreadCount());
      if (t == next) break;
      delays_ += state.IsEnabled(t) ? 1 : 0;
    }
    return next;
  }
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override {
    return search_.NextChoice(position, index, arity);
  }
  void EndExecution(const sched::Trace& trace) override { search_.EndExecution(trace); }
  uint32_t delays() const { return delays_; }

 private:
  sched::Strategy& search_;
  uint32_t delays_ = 0;
};

TEST(DelaySearch, RunsExactlyTheSchedulesWithFewDelays) {
  ForRandomPrograms(ProgramCount(1000), [](const Program& program, const Exploration& expected) {
    for (uint32_t bound = 0; bound <= 3; ++bound) {
      std::set<Schedule> within, found;
      {
        dpor::DepthFirstSearch all;
        all.Resume();
        DelayCounter counter(all);
        Machine machine(program);
        sched::Trace trace;
        while (RunOne(machine, counter, trace, false)) {
          all.Resume();
          if (counter.delays() <= bound) within.insert(ScheduleOf(trace));
        }
      }
      dpor::DelaySearch search(bound);
      Machine machine(program);
      sched::Trace trace;
      while (RunOne(machine, search, trace)) {
        if (!found.insert(ScheduleOf(trace)).second) return std::string("a schedule was run twice");
      }
      if (!search.complete()) return "not complete: " + search.error();
      if (found != within) {
        return std::to_string(found.size()) + " schedules instead of " +
               std::to_string(within.size());
      }
      if (search.left_out() != (within.size() < expected.executions)) {
        return std::string("wrong about whether the bound left something out");
      }
    }
    return std::string();
  });
}

TEST(Samples, AreReproducibleAndRunWhatIsPossible) {
  ForRandomPrograms(ProgramCount(500), [](const Program& program, const Exploration& expected) {
    for (const char* name : {"random", "pct", "pos"}) {
      std::vector<Schedule> runs[2];
      for (std::vector<Schedule>& run : runs) {
        dpor::SearchOptions options;
        options.seed = 17;
        options.executions = 20;
        const std::unique_ptr<dpor::Search> search = dpor::MakeSearch(name, options);
        Machine machine(program);
        sched::Trace trace;
        while (RunOne(machine, *search, trace)) {
          run.push_back(ScheduleOf(trace));
          if (!expected.traces.contains(HashTrace(trace))) return std::string("an unknown trace");
        }
      }
      if (runs[0].size() != 20) return name + (" ran " + std::to_string(runs[0].size())) + " times";
      if (runs[0] != runs[1]) return name + std::string(": other executions with the same seed");
    }
    return std::string();
  });
}

// A bug that needs three orderings: found about as often as promised, or more often.
TEST(ProbabilisticConcurrencyTesting, KeepsItsPromise) {
  const Program program = ParseOrDie(
      "x=1; r0=y, if r0==1 {; x=2; r1=y, if r1==2 {; z=1}} ‖ r0=x, if r0==1 {; y=1; r1=x, if "
      "r1==2 {; y=2}}");
  const sched::Cell z = VariableCell(program.variables.at("z"));
  uint64_t runs = 0, shown = 0;
  double least = 1;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    dpor::ProbabilisticConcurrencyTesting search(4, seed, 1000);
    Machine machine(program);
    sched::Trace trace;
    while (RunOne(machine, search, trace)) {
      ++runs;
      for (const sched::MicroAccess& access : trace.accesses) {
        shown += access.mode == sched::kWrite && access.begin == z ? 1 : 0;
      }
    }
    EXPECT_GT(search.chance(), 0);
    least = std::min(least, search.chance());
  }
  EXPECT_GE(static_cast<double>(shown), least * static_cast<double>(runs) / 2);
  EXPECT_LT(shown, runs);
}

// In how many executions of `search` does `shows` hold of the schedule or of the trace?
template <typename Shows>
uint64_t CountShown(const Program& program, dpor::Search& search, const Shows& shows) {
  Machine machine(program);
  sched::Trace trace;
  uint64_t shown = 0;
  while (RunOne(machine, search, trace)) shown += shows(trace) ? 1 : 0;
  return shown;
}

std::string Repeated(const std::string& text, int times) {
  std::string all;
  for (int k = 0; k < times; ++k) all += text;
  return all;
}

// A store that has to wait for 20 events that nothing depends on, and then to come between two
// others: 1 execution in 2^22 of a random walk, about 1 in 44 where events keep their priorities.
TEST(PartialOrderSampling, EventsThatNothingDependsOnDoNotWearOutTheOthers) {
  const Program program =
      ParseOrDie("x=1 ‖ " + Repeated("y=1; ", 20) + "r0=x; r1=x, if r0==0 {if r1==1 {z=1}}");
  const sched::Cell z = VariableCell(program.variables.at("z"));
  const auto writes_z = [&](const sched::Trace& trace) {
    return std::ranges::any_of(trace.accesses, [&](const sched::MicroAccess& access) {
      return access.mode == sched::kWrite && access.begin == z;
    });
  };
  dpor::PartialOrderSampling pos(1, 4400);
  const uint64_t shown = CountShown(program, pos, writes_z);
  EXPECT_GT(shown, 60u);
  EXPECT_LT(shown, 160u);
  dpor::RandomWalk random(1, 4400);
  EXPECT_EQ(CountShown(program, random, writes_z), 0u);
}

// Two threads that take turns on one variable: which of them is next has to be decided anew each
// time, as in a random walk: 1 execution in 2^8. If an event that came second kept its priority, it
// would be 1 in 10! / 2.
TEST(PartialOrderSampling, WhichOfTwoRacingEventsIsFirstIsDecidedAnew) {
  const std::string thread = Repeated("x=1; ", 4) + "x=1";
  const Program program = ParseOrDie(thread + " ‖ " + thread);
  const auto takes_turns = [](const sched::Trace& trace) {
    for (size_t k = 1; k < trace.size(); ++k) {
      if (trace.events[k].thread == trace.events[k - 1].thread) return false;
    }
    return true;
  };
  dpor::PartialOrderSampling pos(1, 25600);
  const uint64_t shown = CountShown(program, pos, takes_turns);
  EXPECT_GT(shown, 60u);
  EXPECT_LT(shown, 140u);
}

// The same with locks, of which it is known from the start what they wait for; but not that a
// lock's own release races with nothing.
TEST(PartialOrderSampling, LocksAreTakenInAnyOrder) {
  const std::string thread = Repeated("lock m0; unlock m0; ", 3) + "lock m0; unlock m0";
  const Program program = ParseOrDie(thread + " ‖ " + thread);
  const auto takes_turns = [](const sched::Trace& trace) {
    sched::ThreadId last = sched::kNoThread;
    for (const sched::Event& e : trace.events) {
      if (e.operation.kind != sched::OperationKind::kLock) continue;
      if (e.thread == last) return false;
      last = e.thread;
    }
    return true;
  };
  dpor::PartialOrderSampling pos(1, 6400);
  const uint64_t shown = CountShown(program, pos, takes_turns);
  EXPECT_GT(shown, 60u);
  EXPECT_LT(shown, 140u);
}

// The systematic member of a portfolio runs each trace once although others run in between, and
// ends the portfolio; the others run what is possible; each execution counts once.
TEST(Portfolio, EndsWhenItsSystematicMemberHasRunAll) {
  ForRandomPrograms(ProgramCount(1000), [](const Program& program, const Exploration& expected) {
    std::vector<Schedule> runs[2];
    for (std::vector<Schedule>& run : runs) {
      dpor::Portfolio search(dpor::Portfolio::DefaultMembers(dpor::Policy::kStay, 7));
      Machine machine(program);
      sched::Trace trace;
      Exploration all, systematic;
      while (RunOne(machine, search, trace)) {
        run.push_back(ScheduleOf(trace));
        all.Add(machine, trace);
        if (search.part_that_ran() == "odpor") systematic.Add(machine, trace);
        if (all.executions > 4 * expected.traces.size() + 20) return std::string("does not end");
      }
      if (!search.complete()) return "not complete: " + search.error();
      for (const auto& [hash, times] : systematic.traces) {
        if (times > 1) return std::string("the systematic member ran a trace twice");
      }
      if (systematic.traces.size() != expected.traces.size()) return std::string("traces missing");
      if (all.traces.size() != expected.traces.size()) return std::string("an unknown trace");
      uint64_t runs_of_members = 0;
      for (const auto& member : search.members()) runs_of_members += member.search->runs();
      if (search.runs() != run.size() || search.runs() != runs_of_members ||
          search.LowerBound() != search.runs() ||
          search.Estimate() != static_cast<double>(search.runs())) {
        return std::string("wrong counts");
      }
    }
    return runs[0] == runs[1] ? std::string() : std::string("other executions with the same seed");
  });
}

// Every member gets its share: half of the executions are those of the systematic one.
TEST(Portfolio, SharesTheBudget) {
  const std::string thread = Repeated("x=1; ", 4) + "x=1";
  const Program program = ParseOrDie(thread + " ‖ " + thread + " ‖ " + thread);
  dpor::Portfolio search(dpor::Portfolio::DefaultMembers(dpor::Policy::kStay, 7));
  Machine machine(program);
  sched::Trace trace;
  while (search.runs() < 20000 && RunOne(machine, search, trace)) {
  }
  ASSERT_EQ(search.runs(), 20000u);
  uint64_t others = 0;
  for (const auto& member : search.members()) {
    if (member.name == "odpor" || member.is_over) continue;
    EXPECT_GT(member.search->runs(), 1500u) << member.name;
    EXPECT_LT(member.search->runs(), 2500u) << member.name;
    ++others;
  }
  EXPECT_GE(others, 5u);
  EXPECT_GT(search.members()[0].search->runs(), 9000u);
  EXPECT_LT(search.members()[0].search->runs(), 11000u);
  EXPECT_FALSE(search.complete());
  EXPECT_GT(search.Estimate(), 20000);
}

// What a member finds out about the program is an error of the whole.
TEST(Portfolio, EndsWithTheErrorOfAMember) {
  const Program one = ParseOrDie("x=1; y=1 ‖ r0=x; r1=y ‖ r0=y");
  const Program two = ParseOrDie("x=1; y=1 ‖ r1=y; r0=x ‖ r0=y");
  dpor::Portfolio search(dpor::Portfolio::DefaultMembers(dpor::Policy::kStay, 7));
  Machine first(one), second(two);
  sched::Trace trace;
  bool more = true;
  for (int k = 0; k < 200 && more; ++k) more = RunOne(k % 3 == 0 ? second : first, search, trace);
  EXPECT_FALSE(more);
  EXPECT_NE(search.error().find("step "), std::string::npos) << search.error();
  EXPECT_FALSE(search.complete());
}

}  // namespace
}  // namespace mc::toy
