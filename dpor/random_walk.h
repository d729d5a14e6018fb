// RandomWalk: a given number of executions, each with a uniformly chosen enabled thread at every
// point and uniform choices. Never complete. The same seed gives the same executions.
#ifndef MC_DPOR_RANDOM_WALK_H_
#define MC_DPOR_RANDOM_WALK_H_

#include <cstdint>

#include "dpor/search.h"

namespace mc::dpor {

class RandomWalk final : public Search {
 public:
  RandomWalk(uint64_t seed, uint64_t limit) : free_run_(Policy::kRandom, seed), limit_(limit) {}

  bool BeginExecution(const sched::Trace&, size_t* keep) override {
    *keep = 0;
    resumed_ = false;
    return runs() < limit_;
  }
  sched::ThreadId Next(const sched::Trace&, const sched::StateView& state) override {
    return free_run_.Pick(state);
  }
  uint32_t NextChoice(size_t, uint32_t, uint32_t arity) override {
    return static_cast<uint32_t>(free_run_.NextRandom() % arity);
  }
  void EndExecution(const sched::Trace& trace) override { Count(trace); }
  double Estimate() const override { return static_cast<double>(limit_); }

 private:
  FreeRun free_run_;
  uint64_t limit_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_RANDOM_WALK_H_
