// ProbabilisticConcurrencyTesting: a given number of executions by random priorities (Burckhardt,
// Kothari, Musuvathi, Nagarakatte, *A Randomized Scheduler with Probabilistic Guarantees of Finding
// Bugs*, ASPLOS 2010).
//
// Every thread gets a random priority when it is first seen, and always the enabled thread of
// highest priority runs. At depth - 1 randomly chosen steps the thread that would run gets a
// priority below all of these. A bug of depth d (d orderings between events are enough for it) in a
// program with n threads and k steps shows in each execution with probability at least
// 1 / (n * k^(d-1)). k is not known before: it is the length of the longest execution so far.
//
// Never complete. The same seed gives the same executions.
#ifndef MC_DPOR_PCT_H_
#define MC_DPOR_PCT_H_

#include <cstdint>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class ProbabilisticConcurrencyTesting final : public Search {
 public:
  ProbabilisticConcurrencyTesting(uint32_t depth, uint64_t seed, uint64_t limit)
      : depth_(depth), limit_(limit), random_(Policy::kRandom, seed) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;
  double Estimate() const override { return static_cast<double>(limit_); }
  double chance() const override;

 private:
  static constexpr uint64_t kFirstLength = 64;  // a guess, for the first execution

  const uint32_t depth_;
  const uint64_t limit_;
  FreeRun random_;
  uint64_t longest_ = 0;
  uint32_t most_threads_ = 0;
  std::vector<uint64_t> change_points_;  // steps, ascending; those that are past are gone
  std::vector<uint64_t> priorities_;     // by thread; 0: not seen yet
};

}  // namespace mc::dpor

#endif  // MC_DPOR_PCT_H_
