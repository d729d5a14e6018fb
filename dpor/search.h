// Search: a Strategy that goes through a whole state space and can say how far it is.
//
// A search is an object without static state: any number of them live side by side, each with its
// own path. The engine repeats a prefix of the *last* execution, so a search whose turn comes after
// another's must be told with Resume(): it then asks for nothing to be kept and replays its path
// through Next and NextChoice, checking that the same happens again.
#ifndef MC_DPOR_SEARCH_H_
#define MC_DPOR_SEARCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sched/strategy.h"

namespace mc::dpor {

class SharedSearch;
class SpillStore;
struct SpillBudget;

// Which enabled thread a free run takes. All give the same set of traces.
enum class Policy : uint8_t { kStay, kLowest, kHighest, kRandom };
// "stay", "lowest", "highest", "random".
std::optional<Policy> PolicyFromName(std::string_view name);

// One scheduling decision of a recorded schedule.
struct Step {
  sched::ThreadId thread = 0;
  std::vector<uint32_t> choices;
};

class Search : public sched::Strategy {
 public:
  // Executions that ran to their end and count (deadlocks, failures and exits included).
  uint64_t executions() const { return executions_; }
  // Executions given up (all enabled threads asleep), and those with a failed assumption.
  uint64_t blocked() const { return sleep_blocked_ + assumption_failed_; }
  // Of these, the executions given up. Zero for ever in an optimal search.
  uint64_t sleep_blocked() const { return sleep_blocked_; }
  uint64_t assumption_failed() const { return assumption_failed_; }
  // Events of all executions, repeated prefixes included.
  uint64_t transitions() const { return transitions_; }
  // All executions begun and ended.
  uint64_t runs() const { return executions_ + sleep_blocked_ + assumption_failed_; }

  // True once the state space is exhausted.
  bool complete() const { return complete_ && error_.empty(); }
  // Has a bound of this search left out executions?
  virtual bool left_out() const { return false; }
  // All executions with up to so many preemptions have been run. Only of searches that go by that.
  virtual std::optional<uint32_t> preemptions_covered() const { return std::nullopt; }
  // A sample: the least probability with which one execution shows a bug of the kind that the
  // search looks for, as far as it knows the program; 0 if there is no such promise.
  virtual double chance() const { return 0; }
  // Of a search made of several: the one that ran the last execution, as on the command line.
  virtual std::string_view part_that_ran() const { return {}; }
  // Estimate of runs() at the end. Equal to it once complete. At first mostly much too low; from the
  // half of the search on good to a factor of 3 on the programs of tests/bench/estimate_table.sh,
  // which measures it.
  virtual double Estimate() const { return static_cast<double>(runs()); }
  // A hard lower bound of runs() at the end.
  virtual uint64_t LowerBound() const { return runs(); }
  // How many events the last execution shared with the one of this search before it: where it
  // branches off in a drawing of the tree of executions.
  size_t branch_depth() const { return branch_depth_; }

  // What several workers need to run this search together; nullptr if they cannot.
  virtual SharedSearch* shared() { return nullptr; }
  // From now on, before the first execution: what is too much for the budget goes to the store.
  // Both outlive the search. Searches whose memory is bounded anyway have no use for it.
  virtual void LimitMemory(SpillStore*, SpillBudget*) {}

  // The engine has run something else since this search's last execution.
  void Resume() { resumed_ = true; }
  // Not empty: the search cannot go on (the program is not a function of the schedule, or a fault
  // of the event model or of the search); says at which step, what was expected and what was found.
  const std::string& error() const { return error_; }
  // Not empty: the search cannot go on, since it would need too much; says what to do.
  const std::string& too_large() const { return too_large_; }
  // The step at which the search found that, if it is about one.
  std::optional<size_t> error_step() const { return error_step_; }

 protected:
  static constexpr const char* kNotAsBeforeSuspension =
      "not what was executed before the suspension";

  // Counts a finished execution.
  void Count(const sched::Trace& trace) {
    transitions_ += trace.size();
    switch (trace.outcome) {
      case sched::ExecutionOutcome::kBlocked:
        ++sleep_blocked_;
        break;
      case sched::ExecutionOutcome::kAssumptionFailed:
      case sched::ExecutionOutcome::kRepeats:
        ++assumption_failed_;
        break;
      default:
        ++executions_;
    }
  }
  void SetError(std::string text) {
    if (error_.empty()) error_ = std::move(text);
  }
  void SetStepError(size_t step, const std::string& text) {
    if (!error_.empty()) return;
    error_ = "step " + std::to_string(step) + ": " + text;
    error_step_ = step;
  }

  uint64_t executions_ = 0, sleep_blocked_ = 0, assumption_failed_ = 0;
  uint64_t transitions_ = 0;
  size_t branch_depth_ = 0;
  bool complete_ = false;
  bool resumed_ = false;
  std::string error_;
  std::optional<size_t> error_step_;
  std::string too_large_;
};

// Picks the thread of a free run.
class FreeRun {
 public:
  FreeRun(Policy policy, uint64_t seed) : policy_(policy), state_(seed) {}

  // Among the enabled threads for which allowed(thread) holds; kAbandon if there is none.
  template <typename Allowed>
  sched::ThreadId Pick(const sched::StateView& state, const Allowed& allowed);
  sched::ThreadId Pick(const sched::StateView& state) {
    return Pick(state, [](sched::ThreadId) { return true; });
  }
  uint64_t NextRandom();

 private:
  Policy policy_;
  uint64_t state_;
};

template <typename Allowed>
sched::ThreadId FreeRun::Pick(const sched::StateView& state, const Allowed& allowed) {
  using sched::ThreadId;
  const uint32_t count = state.ThreadCount();
  auto can = [&](uint32_t t) {
    return state.IsEnabled(static_cast<ThreadId>(t)) && allowed(static_cast<ThreadId>(t));
  };
  if (policy_ == Policy::kStay) {
    const ThreadId current = state.Current();
    if (current < count && can(current)) return current;
  } else if (policy_ == Policy::kHighest) {
    for (uint32_t t = count; t-- > 0;) {
      if (can(t)) return static_cast<ThreadId>(t);
    }
  } else if (policy_ == Policy::kRandom) {
    uint32_t candidates = 0;
    for (uint32_t t = 0; t < count; ++t) candidates += can(t) ? 1 : 0;
    if (candidates == 0) return sched::kAbandon;
    uint64_t chosen = NextRandom() % candidates;
    for (uint32_t t = 0; t < count; ++t) {
      if (can(t) && chosen-- == 0) return static_cast<ThreadId>(t);
    }
  }
  for (uint32_t t = 0; t < count; ++t) {
    if (can(t)) return static_cast<ThreadId>(t);
  }
  return sched::kAbandon;
}

}  // namespace mc::dpor

#endif  // MC_DPOR_SEARCH_H_
