// DelaySearch: the schedules that differ from a fixed one by a bounded number of delays (Emmi,
// Qadeer, Rakamaric, *Delay-bounded Scheduling*, POPL 2011; spec optimal-dpor 6.2).
//
// The fixed scheduler runs a thread until it is blocked, has ended or gives way, and then the next
// enabled one in round-robin order. A delay passes over the thread that it would run next. All
// schedules with at most so many delays are run, in depth-first order; they are schedules, not
// traces: some are equivalent. No sleep sets, which could put to sleep the only cheap order.
#ifndef MC_DPOR_DELAY_H_
#define MC_DPOR_DELAY_H_

#include <cstdint>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class DelaySearch final : public Search {
 public:
  explicit DelaySearch(uint32_t delays) : bound_(delays) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;
  double Estimate() const override;
  bool left_out() const override { return left_out_; }

 private:
  // A point of the current execution where there was something to decide: how many threads are
  // passed over, or the value of a choice.
  struct Decision {
    size_t event = 0;    // position of the event that it belongs to
    uint32_t count = 0;  // alternatives
    uint32_t taken = 0;
    bool is_thread = false;
    sched::ThreadId thread = sched::kNoThread;  // that was taken
  };

  static sched::ThreadId PassOver(uint32_t delays, const sched::StateView& state);

  const uint32_t bound_;
  uint32_t delays_ = 0;  // in the execution so far
  std::vector<Decision> decisions_;
  size_t cursor_ = 0;  // the next decision to repeat
  bool started_ = false;
  bool left_out_ = false;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_DELAY_H_
