// The job engine against a runner made of tables: which jobs it makes, in which order it runs them,
// when it suspends, cancels and stops (spec iterative-deepening 4).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "checker/job_engine.h"
#include "sched/preemption_points.h"

namespace mc::checker {
namespace {

using racedet::CandidateStatus;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PpSet Set(const std::string& text) { return *PpSet::Parse(text); }

CandidateView Candidate(uint64_t earlier, uint64_t later,
                        CandidateStatus status = CandidateStatus::kSuspected) {
  CandidateView view;
  view.earlier_pc = earlier;
  view.later_pc = later;
  view.earlier_pp = "f.cc:" + std::to_string(earlier);
  view.later_pp = "f.cc:" + std::to_string(later);
  view.status = status;
  return view;
}

// What the runner's program is like under one PP set.
struct StateSpace {
  uint64_t executions = 1;
  double seconds_each = 0.001;
  std::vector<CandidateView> candidates = {};
  uint64_t bug_at = 0;    // execution in which a bug shows; 0: none
  bool crash = false;     // the bug takes the worker with it
  uint64_t estimate = 0;  // told as the total; 0: the truth
};

class FakeRunner : public JobRunner {
 public:
  explicit FakeRunner(std::function<StateSpace(const PpSet&)> program)
      : program_(std::move(program)) {}

  SliceResult Run(int job, const PpSet& pps, const SliceLimits& limits,
                  JobEvents& events) override {
    EXPECT_GT(limits.executions, 0u);
    EXPECT_GT(limits.time, absl::ZeroDuration());
    const StateSpace space = program_(pps);
    if (order.empty() || order.back() != pps.Text()) order.push_back(pps.Text());
    uint64_t& done = done_[job];
    if (done == 0) {
      for (const CandidateView& candidate : space.candidates) events.OnCandidate(candidate);
    }
    const absl::Time end = now + limits.time;
    bool bug = false;
    for (uint64_t i = 0; i < limits.executions && done < space.executions && now < end && !bug;
         ++i) {
      ++done;
      now += absl::Seconds(space.seconds_each);
      bug = done == space.bug_at;
    }
    JobProgress progress;
    progress.executions = done;
    progress.seconds = static_cast<double>(done) * space.seconds_each;
    progress.estimate =
        static_cast<double>(space.estimate != 0 ? space.estimate : space.executions);
    events.OnProgress(progress);
    if (bug) events.OnBug();
    if (bug && space.crash) {
      done_.clear();
      return {SliceEnd::kCrashed, true};
    }
    if (bug && limits.stop_on_bug) return {SliceEnd::kStoppedAtBug, false};
    if (done == space.executions) return {SliceEnd::kComplete, false};
    if (interrupt_after != 0 && ++slices >= interrupt_after) return {SliceEnd::kInterrupted, false};
    return {SliceEnd::kPaused, false};
  }
  void Drop(int job) override {
    done_.erase(job);
    dropped.push_back(job);
  }
  bool MemoryIsShort() override { return memory_is_short; }

  absl::Time now = absl::UnixEpoch();
  std::vector<std::string> order;  // sets, in the order in which they got time
  std::vector<int> dropped;
  bool memory_is_short = false;
  int interrupt_after = 0;
  int slices = 0;

 private:
  std::function<StateSpace(const PpSet&)> program_;
  std::map<int, uint64_t> done_;
};

struct Search {
  Search(std::function<StateSpace(const PpSet&)> program, EngineOptions options = {})
      : runner(std::move(program)), engine(options, &runner, [this] { return runner.now; }) {}

  const Job& JobOf(const std::string& pps) const {
    for (const auto& job : engine.jobs()) {
      if (job->pps.Text() == Set(pps).Text()) return *job;
    }
    ADD_FAILURE() << "no job " << pps;
    static const Job none;
    return none;
  }
  bool HasJob(const std::string& pps) const {
    for (const auto& job : engine.jobs()) {
      if (job->pps.Text() == Set(pps).Text()) return true;
    }
    return false;
  }

  FakeRunner runner;
  JobEngine engine;
};

TEST(JobEngine, WithoutCandidatesTheStaticSetsVerify) {
  Search search([](const PpSet&) { return StateSpace{}; });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_THAT(search.runner.order, ElementsAre("none", "lock", "unlock", "sync"));
  EXPECT_EQ(search.engine.Total().executions, 4u);
}

TEST(JobEngine, ASuspectedCandidateMakesASmallAndABigJobOfItsEarlierSide) {
  Search search([](const PpSet& pps) {
    StateSpace space;
    if (pps.Includes(Set("lock"))) space.candidates = {Candidate(10, 20)};
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_EQ(search.JobOf("access:f.cc:10").role, JobRole::kSmall);
  EXPECT_EQ(search.JobOf("lock,access:f.cc:10").role, JobRole::kBig);
  EXPECT_TRUE(search.JobOf("sync,access:f.cc:10").complete());
  EXPECT_FALSE(search.HasJob("access:f.cc:20"));
  // Race PPs are more urgent than the static sets still to come, and the smaller set comes first.
  EXPECT_THAT(
      std::vector<std::string>(search.runner.order.begin(), search.runner.order.begin() + 4),
      ElementsAre("none", "lock", "access:f.cc:10", "lock,access:f.cc:10"));
}

TEST(JobEngine, AConfirmedCandidateAsksForBothSides) {
  Search search([](const PpSet& pps) {
    StateSpace space;
    if (pps.Includes(Set("sync"))) {
      space.candidates = {Candidate(10, 20, CandidateStatus::kConfirmed)};
    }
    return space;
  });
  search.engine.Run();
  EXPECT_TRUE(search.HasJob("access:f.cc:10"));
  EXPECT_TRUE(search.HasJob("access:f.cc:20"));
  EXPECT_TRUE(search.JobOf("sync,access:f.cc:10,access:f.cc:20").complete());
  EXPECT_TRUE(search.engine.saturated());
}

TEST(JobEngine, ACandidateOfUnknownOrderAsksForBothSides) {
  Search search([](const PpSet&) {
    StateSpace space;
    space.candidates = {Candidate(10, 20)};
    space.candidates[0].order_known = false;
    return space;
  });
  search.engine.Run();
  EXPECT_TRUE(search.JobOf("sync,access:f.cc:10,access:f.cc:20").complete());
}

TEST(JobEngine, SaturationNeedsBothSidesOnceConfirmed) {
  // The earlier side's PP shows the candidate in the other order.
  Search search([](const PpSet& pps) {
    StateSpace space;
    const bool preempted = pps.Includes(Set("access:f.cc:10"));
    space.candidates = {
        Candidate(10, 20, preempted ? CandidateStatus::kConfirmed : CandidateStatus::kSuspected)};
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_TRUE(search.JobOf("sync,access:f.cc:10,access:f.cc:20").complete());
  EXPECT_THAT(search.engine.UntestedCandidates(), IsEmpty());
}

TEST(JobEngine, MallocRecycleMakesNoJob) {
  Search search([](const PpSet&) {
    StateSpace space;
    space.candidates = {Candidate(10, 20, CandidateStatus::kMallocRecycle)};
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_EQ(search.engine.jobs().size(), 4u);
  EXPECT_THAT(search.engine.UntestedCandidates(), IsEmpty());
}

TEST(JobEngine, NestedCandidatesAreFollowedToTheBottom) {
  // Figure 5 of the paper: y's race shows only with x's PP, and the bug only with both.
  Search search([](const PpSet& pps) {
    StateSpace space;
    space.candidates = {Candidate(1, 2)};
    if (pps.IncludesAccess("f.cc:1")) space.candidates.push_back(Candidate(3, 4));
    if (pps.IncludesAccess("f.cc:1") && pps.IncludesAccess("f.cc:3")) space.bug_at = 1;
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kBug);
  EXPECT_FALSE(search.engine.saturated());
}

TEST(JobEngine, SeveralCandidatesAreVerifiedByOneJobNotByEverySubset) {
  constexpr uint64_t kCandidates = 12;
  Search search([](const PpSet&) {
    StateSpace space;
    for (uint64_t i = 1; i <= kCandidates; ++i) {
      space.candidates.push_back(Candidate(i, i + 100));
    }
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_LT(search.runner.order.size(), 4 + 3 * kCandidates);
}

TEST(JobEngine, ACompleteJobReplacesItsSubsets) {
  Search search([](const PpSet& pps) {
    StateSpace space;
    if (pps.Includes(Set("sync"))) space.candidates = {Candidate(1, 2), Candidate(3, 4)};
    return space;
  });
  search.engine.Run();
  for (const auto& job : search.engine.jobs()) {
    if (job->complete()) continue;
    EXPECT_EQ(job->state, JobState::kReplaced) << job->pps.Text();
    EXPECT_FALSE(job->started) << job->pps.Text();
  }
}

TEST(JobEngine, StopsAtTheFirstBug) {
  Search search([](const PpSet& pps) {
    StateSpace space{.executions = 10};
    if (pps.Includes(Set("lock"))) space.bug_at = 3;
    return space;
  });
  EXPECT_EQ(search.engine.Run(), SearchEnd::kBug);
  EXPECT_THAT(search.runner.order, ElementsAre("none", "lock"));
  EXPECT_EQ(search.JobOf("lock").progress.executions, 3u);
}

TEST(JobEngine, KeepingGoingABugCancelsSupersetsOnly) {
  Search search(
      [](const PpSet& pps) {
        StateSpace space{.executions = 10};
        space.candidates = {Candidate(1, 2)};
        if (pps.Includes(Set("lock"))) space.bug_at = 3;
        return space;
      },
      {.keep_going = true});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.JobOf("lock").complete());  // itself it goes on
  EXPECT_EQ(search.JobOf("lock").progress.executions, 10u);
  EXPECT_EQ(search.JobOf("sync").state, JobState::kCancelled);
  EXPECT_FALSE(search.HasJob("sync,access:f.cc:1"));
  EXPECT_TRUE(search.JobOf("unlock,access:f.cc:1").complete());
  EXPECT_FALSE(search.engine.saturated());
}

TEST(JobEngine, ACrashLosesTheTreesOfSuspendedJobs) {
  Search search(
      [](const PpSet& pps) {
        StateSpace space;
        if (pps == Set("lock")) return StateSpace{.executions = 5'000'000};  // is suspended
        if (pps == Set("unlock")) return StateSpace{.executions = 10, .bug_at = 2, .crash = true};
        return space;
      },
      {.time = absl::Seconds(60), .keep_going = true});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kTimeBudget);
  EXPECT_EQ(search.JobOf("unlock").state, JobState::kCrashed);
  // Back from nothing, not from where it was: its counts are those of its second run alone.
  const JobProgress& lock = search.JobOf("lock").progress;
  EXPECT_LT(lock.executions * 0.001, 60.0 - 0.1);
  EXPECT_GT(lock.executions, 1000u);
}

TEST(JobEngine, SuspendsWhatCannotBeDoneInTimeAndResumesTheBestEstimate) {
  Search search(
      [](const PpSet& pps) {
        if (pps == Set("lock")) return StateSpace{.executions = 4'000'000};
        if (pps == Set("unlock")) return StateSpace{.executions = 1'000'000};
        return StateSpace{.executions = pps.Includes(Set("lock")) ? 5'000'000u : 1u};
      },
      {.time = absl::Seconds(20)});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kTimeBudget);
  // Never a superset of a suspended job: not sync.
  EXPECT_THAT(search.runner.order, ElementsAre("none", "lock", "unlock"));
  EXPECT_EQ(search.JobOf("lock").state, JobState::kSuspended);
  EXPECT_LE(search.JobOf("lock").progress.executions, 200u);
  EXPECT_GT(search.JobOf("unlock").progress.executions, 10'000u);
  EXPECT_FALSE(search.JobOf("sync").started);
}

TEST(JobEngine, DoesNotSuspendBefore32Executions) {
  Search search(
      [](const PpSet& pps) {
        if (pps == Set("lock")) {
          return StateSpace{.executions = 31, .seconds_each = 0.05, .estimate = 1'000'000'000};
        }
        return StateSpace{};
      },
      {.time = absl::Seconds(10)});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_THAT(search.runner.order, ElementsAre("none", "lock", "unlock", "sync"));
}

TEST(JobEngine, ASuspendedJobThatFinishesAfterAllVerifies) {
  // The estimate is far too high at first.
  Search search(
      [](const PpSet& pps) {
        if (pps == Set("lock")) {
          return StateSpace{.executions = 1'000, .estimate = 1'000'000'000};
        }
        return StateSpace{};
      },
      {.time = absl::Seconds(30)});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.engine.saturated());
  EXPECT_THAT(search.runner.order, ElementsAre("none", "lock", "unlock", "lock", "sync"));
}

TEST(JobEngine, ASuspendedJobComesBeforeTheManyCombinationsOfExploredPps) {
  Search search(
      [](const PpSet& pps) {
        StateSpace space;
        if (pps.Includes(Set("sync"))) space.executions = 4'000'000;
        for (uint64_t i = 1; i <= 8; ++i) space.candidates.push_back(Candidate(i, i + 100));
        return space;
      },
      {.time = absl::Seconds(10)});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kTimeBudget);
  EXPECT_GT(search.JobOf("sync").progress.executions, 5'000u);
  EXPECT_LT(search.runner.order.size(), 60u);
}

TEST(JobEngine, DropsTheWorstSuspendedJobWhenMemoryIsShort) {
  Search search(
      [](const PpSet& pps) {
        if (pps == Set("lock")) return StateSpace{.executions = 4'000'000};
        if (pps == Set("unlock")) return StateSpace{.executions = 1'000'000};
        return StateSpace{};
      },
      {.time = absl::Seconds(10)});
  search.runner.memory_is_short = true;
  EXPECT_EQ(search.engine.Run(), SearchEnd::kTimeBudget);
  EXPECT_EQ(search.JobOf("lock").state, JobState::kDropped);
  EXPECT_THAT(search.runner.dropped, Contains(search.JobOf("lock").id));
}

TEST(JobEngine, KeepsToTheBudgetOfExecutions) {
  Search search([](const PpSet&) { return StateSpace{.executions = 1000}; }, {.executions = 2500});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kExecutionBudget);
  EXPECT_EQ(search.engine.Total().executions, 2500u);
  EXPECT_FALSE(search.engine.saturated());
}

TEST(JobEngine, KeepsToTheBudgetOfTime) {
  Search search([](const PpSet&) { return StateSpace{.executions = 1'000'000}; },
                {.time = absl::Seconds(7)});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kTimeBudget);
  EXPECT_LT(search.runner.now - absl::UnixEpoch(), absl::Seconds(7.1));
  EXPECT_GE(search.runner.now - absl::UnixEpoch(), absl::Seconds(7));
}

TEST(JobEngine, AnInterruptionEndsTheSearch) {
  Search search([](const PpSet&) { return StateSpace{.executions = 1'000'000}; });
  search.runner.interrupt_after = 3;
  EXPECT_EQ(search.engine.Run(), SearchEnd::kInterrupted);
}

TEST(JobEngine, AnEndlessStrategyGetsALimitPerJobAndVerifiesNothing) {
  Search search([](const PpSet&) { return StateSpace{.executions = 1'000'000'000}; },
                {.executions_per_job = 50});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_FALSE(search.engine.saturated());
  for (const auto& job : search.engine.jobs()) {
    EXPECT_EQ(job->state, JobState::kLimited);
    EXPECT_EQ(job->progress.executions, 50u);
  }
}

TEST(JobEngine, ABoundedSearchCompletesAndVerifiesNothing) {
  Search search([](const PpSet&) { return StateSpace{}; },
                {.iterative = false, .only = Set("all"), .bound = "2 preemptions"});
  EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
  EXPECT_TRUE(search.JobOf("all").complete());
  EXPECT_FALSE(search.engine.saturated());
}

TEST(JobEngine, OneStrategyIsSaturatedOnlyIfItsSetHasEveryCandidate) {
  const auto program = [](const PpSet&) {
    StateSpace space;
    space.candidates = {Candidate(1, 2), Candidate(3, 4)};
    space.candidates[1].earlier_atomic = true;
    return space;
  };
  for (const auto& [pps, saturated, missing] :
       std::vector<std::tuple<std::string, bool, std::set<std::string>>>{
           {"all", true, {}},
           {"sync", false, {"f.cc:1", "f.cc:3"}},
           {"sync,atomic", false, {"f.cc:1"}},
           {"sync,atomic,access:f.cc:1", true, {}},
           {"sync,access:f.cc:1,access:f.cc:3", true, {}},
           {"sync,access:f.cc:2,access:f.cc:3", false, {"f.cc:1"}}}) {
    Search search(program, {.iterative = false, .only = Set(pps)});
    EXPECT_EQ(search.engine.Run(), SearchEnd::kComplete);
    EXPECT_EQ(search.engine.saturated(), saturated) << pps;
    EXPECT_EQ(search.engine.MissingFrom(Set(pps)), missing) << pps;
    EXPECT_EQ(search.engine.jobs().size(), 1u);
  }
}

// Random programs: candidates that show only where some PPs are in the set, in state spaces that
// grow with the set. Whatever happens, the invariants of the engine hold, and with time enough
// every candidate that can be reached is tested.
TEST(JobEngine, RandomProgramsConverge) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 300; ++round) {
    struct Rule {
      CandidateView candidate;
      PpSet needs;
    };
    std::vector<Rule> rules;
    const uint64_t lines = 1 + random() % 5;
    std::set<std::pair<uint64_t, uint64_t>> pairs;
    for (uint64_t i = 0, n = random() % 6; i < n; ++i) {
      Rule rule;
      rule.candidate =
          Candidate(1 + random() % lines, 1 + random() % lines,
                    random() % 2 == 0 ? CandidateStatus::kSuspected : CandidateStatus::kConfirmed);
      if (random() % 2 == 0) rule.needs.AddAccess("f.cc:" + std::to_string(1 + random() % lines));
      if (random() % 3 == 0) rule.needs.AddClasses(sched::kPpLock);
      // A pair has one status, whichever jobs see it: the findings see to that.
      if (pairs.insert(std::minmax(rule.candidate.earlier_pc, rule.candidate.later_pc)).second) {
        rules.push_back(rule);
      }
    }
    const auto program = [&](const PpSet& pps) {
      StateSpace space;
      space.executions = uint64_t{1} << std::min<size_t>(pps.Size(), 10);
      for (const Rule& rule : rules) {
        if (pps.Includes(rule.needs)) space.candidates.push_back(rule.candidate);
      }
      return space;
    };
    Search search(program);
    ASSERT_EQ(search.engine.Run(), SearchEnd::kComplete);
    ASSERT_TRUE(search.engine.saturated());
    // The fixed point, computed directly.
    PpSet everything = Set("sync");
    for (bool grew = true; grew;) {
      grew = false;
      for (const CandidateView& candidate : program(everything).candidates) {
        grew |= !everything.IncludesAccess(candidate.earlier_pp);
        everything.AddAccess(candidate.earlier_pp);
        if (candidate.status == CandidateStatus::kConfirmed) {
          grew |= !everything.IncludesAccess(candidate.later_pp);
          everything.AddAccess(candidate.later_pp);
        }
      }
    }
    std::set<std::string> seen;
    bool verified = false;
    for (const auto& job : search.engine.jobs()) {
      EXPECT_TRUE(seen.insert(job->pps.Text()).second) << "two jobs " << job->pps.Text();
      verified |= job->complete() && job->pps.Includes(everything);
    }
    EXPECT_TRUE(verified) << everything.Text();
  }
}

}  // namespace
}  // namespace mc::checker
