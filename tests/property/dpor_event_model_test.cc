// The laws of the event model (optimal-dpor 1.3) over the toy machine, and the deliberate mistakes
// in it: each is convicted by the law check, by the search's own checks, or by lost final states.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/toy/brute_force.h"
#include "tests/toy/explore.h"
#include "tests/toy/generator.h"

namespace mc::toy {
namespace {

class RandomChooser : public Chooser {
 public:
  explicit RandomChooser(std::mt19937_64& random) : random_(random) {}
  uint32_t Choose(uint32_t, uint32_t arity) override {
    values.push_back(static_cast<uint32_t>(random_() % arity));
    return values.back();
  }
  std::vector<uint32_t> values;

 private:
  std::mt19937_64& random_;
};

class FixedChooser : public Chooser {
 public:
  explicit FixedChooser(std::vector<uint32_t> values) : values_(std::move(values)) {}
  uint32_t Choose(uint32_t index, uint32_t arity) override {
    fits = fits && index < values_.size() && values_[index] < arity;
    return fits ? values_[index] : 0;
  }
  bool fits = true;

 private:
  std::vector<uint32_t> values_;
};

bool Conflict(const std::vector<sched::MicroAccess>& a, const std::vector<sched::MicroAccess>& b) {
  for (const auto& x : a) {
    for (const auto& y : b) {
      if (x.ConflictsWith(y)) return true;
    }
  }
  return false;
}

bool SameAccesses(const sched::Trace& a, const sched::Trace& b) {
  return std::ranges::equal(a.accesses, b.accesses, [](const auto& x, const auto& y) {
    return x.begin == y.begin && x.size == y.size && x.mode == y.mode && x.flags == y.flags;
  });
}

struct Step {
  Machine after;
  sched::Trace trace;
  std::vector<uint32_t> choices;
};

Step RunStep(const Machine& state, sched::ThreadId thread, Chooser& chooser) {
  Step step{state, {}, {}};
  step.after.Step(thread, chooser, &step.trace);
  return step;
}

// Threads t, then u, from `state`; if they do not conflict, also u, then t. "" if the laws hold.
std::string CheckPair(const Program& program, const Machine& state, sched::ThreadId t,
                      sched::ThreadId u, std::mt19937_64& random) {
  RandomChooser choose_t(random), choose_u(random);
  const sched::Operation pending = state.Pending(u);
  const Step first = RunStep(state, t, choose_t);
  const bool u_before = state.IsEnabled(u), u_after = first.after.IsEnabled(u);
  if (u_before != u_after) {
    sched::MicroAccess accesses[4];
    int count = sched::PendingFootprint(pending, u, accesses);
    if (u_after) count = sched::PendingFootprint(first.after.Pending(u), u, accesses);
    std::vector<sched::MicroAccess> list(accesses, accesses + count);
    if (program.uses_exit) {
      sched::MicroAccess alive;
      alive.begin = sched::MakeCell(sched::CellKind::kAlive, 0);
      alive.size = 1;
      alive.mode = sched::kRead;
      list.push_back(alive);
    }
    const bool loses = u_before && !u_after;
    if (loses && !Conflict(first.trace.accesses, list)) {
      return "thread " + std::to_string(t) + " disables thread " + std::to_string(u) +
             " without a conflict";
    }
  }
  if (!u_after) return "";
  const Step second = RunStep(first.after, u, choose_u);
  if (Conflict(first.trace.accesses, second.trace.accesses)) return "";
  const std::string both = "threads " + std::to_string(t) + " and " + std::to_string(u) + ": ";
  if (!u_before) return both + "enabled by an event that does not conflict";
  FixedChooser fixed_u(choose_u.values), fixed_t(choose_t.values);
  const Step u_first = RunStep(state, u, fixed_u);
  if (!u_first.after.IsEnabled(t)) return both + "the other order is not possible";
  const Step t_second = RunStep(u_first.after, t, fixed_t);
  if (!fixed_u.fits || !fixed_t.fits) return both + "other choices in the other order";
  if (!SameAccesses(first.trace, t_second.trace) || !SameAccesses(second.trace, u_first.trace)) {
    return both + "other accesses in the other order";
  }
  if (second.after.StateHash() != t_second.after.StateHash()) {
    return both + "another state in the other order";
  }
  return "";
}

// Random walks; in each state every ordered pair of threads is checked.
std::string CheckLaws(const Program& program, ModelMutation mutation, uint64_t seed, int walks) {
  std::mt19937_64 random(seed);
  for (int walk = 0; walk < walks; ++walk) {
    Machine state(program, mutation);
    while (state.AnyEnabled()) {
      std::vector<sched::ThreadId> enabled;
      for (sched::ThreadId t = 0; t < state.ThreadCount(); ++t) {
        if (state.IsEnabled(t)) enabled.push_back(t);
      }
      for (const sched::ThreadId t : enabled) {
        for (sched::ThreadId u = 0; u < state.ThreadCount(); ++u) {
          if (u == t) continue;
          if (std::string wrong = CheckPair(program, state, t, u, random); !wrong.empty()) {
            return wrong;
          }
        }
      }
      RandomChooser chooser(random);
      state.Step(enabled[random() % enabled.size()], chooser, nullptr);
    }
  }
  return "";
}

TEST(EventModelLaws, HoldOnTheRegressionPrograms) {
  for (const KnownProgram& known : RegressionPrograms()) {
    EXPECT_EQ(CheckLaws(ParseOrDie(known.text), ModelMutation::kNone, 11, 60), "") << known.text;
  }
}

TEST(EventModelLaws, HoldOnRandomPrograms) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const Sketch sketch = Generate(seed);
    auto wrong = [&](const std::string& text) {
      Program program;
      std::string error;
      if (!Parse(text, &program, &error)) return std::string();
      return CheckLaws(program, ModelMutation::kNone, seed, 5);
    };
    if (wrong(sketch.Text()).empty()) continue;
    const Sketch small =
        Shrink(sketch, [&](const std::string& text) { return !wrong(text).empty(); });
    FAIL() << "seed " << seed << ": " << wrong(small.Text()) << "\n  " << small.Text();
  }
}

struct MutantCase {
  ModelMutation mutation;
  const char* text;
};

const MutantCase kCases[] = {
    {ModelMutation::kBlockTest, "x=1, lock m0 ‖ lock m0"},
    {ModelMutation::kTryFail, "r2=trylock m0 ‖ r2=trylock m0"},
    {ModelMutation::kCasFail, "x=2 ‖ r0=cas(x,2,3) ‖ r0=cas(x,2,3)"},
    {ModelMutation::kSemFail, "r2=tryP s0 ‖ P s0 [s0=1]"},
    {ModelMutation::kSignalEmpty, "signal c0 ‖ lock m0; wait c0,m0; unlock m0"},
    {ModelMutation::kWaitCv, "signal c0 ‖ lock m0; wait c0,m0; unlock m0"},
    {ModelMutation::kWake, "lock m0; r3=timedwait c0,m0; unlock m0 ‖ signal c0"},
    {ModelMutation::kTimeoutCv, "lock m0; r3=timedwait c0,m0; unlock m0 ‖ signal c0"},
    {ModelMutation::kUnlock, "spin until trylock m0; unlock m0 ‖ spin until trylock m0"},
    {ModelMutation::kJoin, "r0=x ‖ x=1 ‖ join T1"},
    {ModelMutation::kCreate, "create T2, r0=x ‖ x=1 ‖ (T2) y=1"},
    {ModelMutation::kBarrierArrive,
     "barrier b0; barrier b0 ‖ barrier b0; x=1; barrier b0 ‖ barrier b0; r0=x; barrier b0 "
     "[b0 for 3]"},
    {ModelMutation::kBarrierDepart,
     "barrier b0; barrier b0 ‖ barrier b0; x=1; barrier b0 ‖ barrier b0; r0=x; barrier b0 "
     "[b0 for 3]"},
    {ModelMutation::kAlive, "– ‖ exit"},
    {ModelMutation::kHeapOrder, "r0=new, x=1 ‖ r0=new; *r0=2 ‖ x=1"},
};

TEST(EventModelMutants, AreConvictedByTheLawCheck) {
  for (const MutantCase& c : kCases) {
    const Program program = ParseOrDie(c.text);
    EXPECT_EQ(CheckLaws(program, ModelMutation::kNone, 5, 200), "") << c.text;
    EXPECT_NE(CheckLaws(program, c.mutation, 5, 200), "") << NameOf(c.mutation);
  }
}

// The search over a wrong event model: it reports a divergence, or final states are missing.
TEST(EventModelMutants, AreSeenInTheSearch) {
  for (const MutantCase& c : kCases) {
    const Program program = ParseOrDie(c.text);
    const Exploration all = BruteForce(program, 100'000);
    bool seen = false;
    for (const dpor::Policy policy : kPolicies) {
      dpor::OptimalSearchOptions options;
      options.policy = policy;
      dpor::OptimalSearch<false> search(options);
      const Exploration found = Explore(program, search, 1000, c.mutation);
      seen = seen || !search.error().empty() || found.blocked > 0 ||
             found.final_states != all.final_states;
    }
    EXPECT_TRUE(seen) << NameOf(c.mutation);
  }
}

// A failed compare-exchange as a write is sound, but not optimal.
TEST(EventModelMutants, CasWriteCostsAnExecution) {
  const Program program = ParseOrDie("r0=cas(x,1,1) ‖ r0=x");
  EXPECT_EQ(CheckLaws(program, ModelMutation::kCasWrite, 5, 100), "");
  dpor::OptimalSearch<false> search({});
  Explore(program, search, 100, ModelMutation::kCasWrite);
  EXPECT_EQ(search.executions(), 2u);
}

// Commuting arrivals at a barrier for two that three threads use.
TEST(EventModelMutants, BarrierCommuteIsConvicted) {
  const Program program = ParseOrDie("barrier b0; x=1 ‖ barrier b0; r0=x ‖ barrier b0 [b0 for 2]");
  EXPECT_NE(CheckLaws(program, ModelMutation::kNone, 5, 200), "");
  dpor::OptimalSearch<false> search({});
  EXPECT_LT(Explore(program, search, 100).traces.size(), 8u);
}

}  // namespace
}  // namespace mc::toy
