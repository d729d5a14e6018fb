// Programs whose number of Mazurkiewicz traces is known: the optimal search makes exactly that many
// executions, none twice and none given up, under every scheduling policy.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "dpor/dfs.h"
#include "dpor/source.h"
#include "dpor/strategy_table.h"
#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"

namespace mc::toy {
namespace {

class RegressionTable : public testing::TestWithParam<KnownProgram> {};

void ExpectCounts(const Exploration& found, const KnownProgram& known, const std::string& who) {
  EXPECT_EQ(found.traces.size(), known.traces) << who;
  EXPECT_EQ(found.deadlocks, known.deadlocks) << who;
  EXPECT_EQ(found.assumptions, known.assumptions) << who;
  EXPECT_EQ(found.assertions, known.assertions) << who;
  EXPECT_EQ(found.exits, known.exits) << who;
}

TEST_P(RegressionTable, BruteForce) {
  const Exploration all = BruteForce(ParseOrDie(GetParam().text), 3'000'000);
  ASSERT_TRUE(all.complete);
  ExpectCounts(all, GetParam(), "brute force");
}

TEST_P(RegressionTable, OptimalSearch) {
  const Program program = ParseOrDie(GetParam().text);
  const Exploration all = BruteForce(program, 3'000'000);
  EXPECT_EQ(CheckOptimal(program, all), "");
  dpor::OptimalSearch<false> search({});
  ExpectCounts(Explore(program, search, 1'000'000), GetParam(), "odpor");
}

TEST_P(RegressionTable, SleepSets) {
  const Program program = ParseOrDie(GetParam().text);
  for (const char* name : {"source", "dpor"}) {
    for (const dpor::Policy policy : kPolicies) {
      dpor::SearchOptions options;
      options.policy = policy;
      options.seed = 1;
      const std::unique_ptr<dpor::Search> search = dpor::MakeSearch(name, options);
      const Exploration found = Explore(program, *search, 1'000'000);
      EXPECT_TRUE(search->complete()) << search->error();
      ExpectCounts(found, GetParam(), name);
      for (const auto& [hash, times] : found.traces) EXPECT_EQ(times, 1u) << name;
    }
  }
}

TEST_P(RegressionTable, DepthFirst) {
  const Program program = ParseOrDie(GetParam().text);
  dpor::DepthFirstSearch search;
  const Exploration found = Explore(program, search, 3'000'000);
  EXPECT_TRUE(search.complete()) << search.error();
  ExpectCounts(found, GetParam(), "dfs");
}

std::string TestName(const testing::TestParamInfo<KnownProgram>& info) {
  std::string name;
  for (const char* c = info.param.name; *c != 0; ++c) {
    name += isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
  }
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Table, RegressionTable, testing::ValuesIn(RegressionPrograms()), TestName);

struct Family {
  std::string name, text;
  uint64_t traces;
};

std::vector<Family> Families() {
  std::vector<Family> f;
  uint64_t factorial = 1;
  for (int n = 1; n <= 6; ++n) {
    factorial *= n;
    const auto name = [n](const char* family) { return family + ("(" + std::to_string(n) + ")"); };
    f.push_back({name("ainc"), AtomicIncrements(n), factorial});
    f.push_back({name("wainc"), WriteAndIncrements(n), factorial * (n + 1)});
    f.push_back({name("cas"), CompareExchanges(n), static_cast<uint64_t>(n)});
    f.push_back({name("wcas"), WriteAndCompareExchanges(n), 1 + n * (uint64_t{1} << (n - 1))});
    f.push_back({name("readers"), Readers(n), uint64_t{1} << n});
    f.push_back({name("lockinc"), LockedIncrements(n, 1), factorial});
    f.push_back({name("lock2inc"), LockedIncrements(n, 2), factorial});
    if (n <= 4) {
      f.push_back({name("inc"), Increments(n), factorial * factorial});
      f.push_back({name("rw"), ReadWrites(n), factorial * factorial});
      f.push_back({name("binc"), AtomicIncrementsOf(n, 2), factorial * factorial});
      f.push_back({name("cinc"), AtomicIncrementsOf(n, 3), factorial * factorial * factorial});
      uint64_t twice = 1;
      for (int k = 1; k <= 2 * n; ++k) twice *= k;
      f.push_back({name("twice"), Twice(n), twice >> n});
    }
    if (n >= 2) {
      f.push_back({name("philosophers ordered"), Philosophers(n, true), (uint64_t{1} << n) - 2});
      f.push_back({name("philosophers cyclic"), Philosophers(n, false), (uint64_t{1} << n) - 1});
    }
  }
  f.push_back({"ainc(7)", AtomicIncrements(7), 5040});
  f.push_back({"readers(10)", Readers(10), 1024});
  for (int n = 2; n <= 10; ++n) {
    f.push_back(
        {"lastzero(" + std::to_string(n) + ")", LastZero(n), (n + 3) * (uint64_t{1} << n) / 4});
  }
  for (int n = 12; n <= 14; ++n) {
    f.push_back({"indexer(" + std::to_string(n) + ")", Indexer(n), uint64_t{1} << (3 * (n - 11))});
  }
  for (int n = 13; n <= 18; ++n) {
    f.push_back({"filesystem(" + std::to_string(n) + ")", FileSystem(n), uint64_t{1} << (n - 13)});
  }
  f.push_back({"lists(3, 6)", Lists(3, 6), 8});
  f.push_back({"lists(2, 7)", Lists(2, 7), 144});
  f.push_back({"fib(1)", Fibonacci(1), 0});  // no closed form: compared with depth-first search
  return f;
}

TEST(Families, OptimalSearchMakesOneExecutionPerTrace) {
  for (const Family& family : Families()) {
    const Program program = ParseOrDie(family.text);
    uint64_t traces = family.traces;
    if (traces == 0) traces = BruteForce(program, 1'000'000).traces.size();
    for (const dpor::Policy policy : kPolicies) {
      dpor::OptimalSearchOptions options;
      options.policy = policy;
      dpor::OptimalSearch<false> search(options);
      Machine machine(program);
      sched::Trace trace;
      while (search.runs() <= traces && RunOne(machine, search, trace)) {
      }
      EXPECT_EQ(search.error(), "") << family.name;
      EXPECT_TRUE(search.complete()) << family.name;
      EXPECT_EQ(search.executions(), traces) << family.name;
      EXPECT_EQ(search.blocked(), 0u) << family.name;
    }
  }
}

TEST(Families, FibonacciFive) {
  const Program program = ParseOrDie(Fibonacci(5));
  dpor::OptimalSearch<false> search({});
  Machine machine(program);
  sched::Trace trace;
  while (RunOne(machine, search, trace)) {
  }
  EXPECT_TRUE(search.complete()) << search.error();
  EXPECT_EQ(search.executions(), 218243u);
}

TEST(Families, SourceSetsFindEveryTraceOfLastZero) {
  for (const dpor::Policy policy : {dpor::Policy::kStay, dpor::Policy::kLowest}) {
    dpor::SourceSearch search(policy, 1);
    const Exploration found = Explore(ParseOrDie(LastZero(8)), search, 20000);
    EXPECT_TRUE(search.complete()) << search.error();
    EXPECT_EQ(found.traces.size(), 704u);
    EXPECT_EQ(search.executions(), 704u);
    EXPECT_GT(search.sleep_blocked(), 1000u);  // which is what the optimal search saves
  }
}

// What a search holds at its end is what the last path needs, however many executions there were.
TEST(Memory, DoesNotGrowWithExecutions) {
  for (const std::string& text :
       {AtomicIncrementsOf(4, 3), LastZero(8), LockedIncrements(6, 1), Readers(8)}) {
    const Program program = ParseOrDie(text);
    dpor::OptimalSearch<false> search({});
    Machine machine(program);
    sched::Trace trace;
    while (RunOne(machine, search, trace)) {
    }
    EXPECT_EQ(search.live_requests(), 0u) << text;
    // The events of the last path, and per node at most one sleeping event of each thread.
    EXPECT_LE(search.live_events(), trace.size() * (program.threads.size() + 1)) << text;
  }
}

// Two threads and one mutex, 100,000 events: nothing may be quadratic in the length.
TEST(LongExecutions, HundredThousandEvents) {
  const int rounds = 25000;
  std::string one;
  for (int k = 0; k < rounds; ++k) one += std::string(k == 0 ? "" : "; ") + "lock m; unlock m";
  std::string other;
  for (int k = 0; k < 2 * rounds; ++k) other += std::string(k == 0 ? "" : "; ") + "x=1";
  const Program program = ParseOrDie(one + " ‖ " + other + "; lock m; r0=y; unlock m ‖ y=1");
  dpor::OptimalSearchOptions options;
  options.policy = dpor::Policy::kRandom;
  options.seed = 5;
  dpor::OptimalSearch<false> search(options);
  Machine machine(program);
  sched::Trace trace;
  for (int k = 0; k < 20; ++k) {
    ASSERT_TRUE(RunOne(machine, search, trace));
    ASSERT_EQ(search.error(), "");
    ASSERT_GT(trace.size(), 100000u);
  }
}

TEST(LongExecutions, MoreEventsOfAThreadThanSixteenBitsCount) {
  std::string one;
  for (int k = 0; k < 70000; ++k) one += std::string(k == 0 ? "" : "; ") + "a=1";
  const Program program = ParseOrDie(one + "; x=1; x=2 ‖ r0=x ‖ r0=x");
  for (const dpor::Policy policy : kPolicies) {
    dpor::OptimalSearchOptions options;
    options.policy = policy;
    dpor::OptimalSearch<false> search(options);
    Machine machine(program);
    sched::Trace trace;
    while (search.runs() < 20 && RunOne(machine, search, trace)) {
    }
    EXPECT_TRUE(search.complete()) << search.error();
    EXPECT_EQ(search.executions(), 9u);  // each reader sees 0, 1 or 2
  }
}

TEST(LongExecutions, TwoHundredThreads) {
  const Program program = ParseOrDie("x=1 ‖ " + Repeat("y=1, r0=z", 1) + " ‖ r0=x ‖ " + [] {
    std::string text;
    for (int t = 0; t < 200; ++t) {
      text += (t == 0 ? "" : " ‖ ") + std::string("v") + std::to_string(t) + "=1; r0=x";
    }
    return text;
  }());
  dpor::OptimalSearch<false> search({});
  Machine machine(program);
  sched::Trace trace;
  for (int k = 0; k < 300; ++k) ASSERT_TRUE(RunOne(machine, search, trace));
  EXPECT_EQ(search.error(), "");
  EXPECT_GT(search.LowerBound(), 300u);
}

}  // namespace
}  // namespace mc::toy
