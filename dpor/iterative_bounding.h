// IterativeBounding: the search with a bound of 0 preemptions, then of 1, of 2, ... until a bound
// leaves nothing out (Musuvathi and Qadeer, PLDI 2007; spec optimal-dpor 6.2). Bugs that need few
// preemptions, which most do, are found before the many executions with more of them.
//
// A trace counts as an execution in the round in which it is new, that is whose bound is its cost;
// the executions of later rounds that repeat it count as blocked.
#ifndef MC_DPOR_ITERATIVE_BOUNDING_H_
#define MC_DPOR_ITERATIVE_BOUNDING_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "dpor/bounded.h"
#include "dpor/search.h"

namespace mc::dpor {

class IterativeBounding final : public Search {
 public:
  IterativeBounding() : round_(std::make_unique<BoundedSearch>(0)) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override {
    if (resumed_) round_->Resume();
    resumed_ = false;
    while (!round_->BeginExecution(trace, keep)) {
      if (!round_->error().empty()) SetError(round_->error());
      if (!error_.empty()) return false;
      if (!round_->too_large().empty()) {
        gave_up_ = complete_ = bound_ > 0;
        if (bound_ == 0) too_large_ = round_->too_large();
        return false;
      }
      rounds_done_ = bound_;
      if (!round_->left_out() || bound_ == OrderCosts::kMostPreemptions) {
        complete_ = true;
        return false;
      }
      round_ = std::make_unique<BoundedSearch>(++bound_);
    }
    branch_depth_ = round_->branch_depth();
    return true;
  }
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override {
    return round_->Next(trace, state);
  }
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override {
    return round_->NextChoice(position, index, arity);
  }
  void EndExecution(const sched::Trace& trace) override {
    const uint64_t counted = round_->runs() - round_->sleep_blocked();
    round_->EndExecution(trace);
    if (!round_->error().empty()) {
      SetError(round_->error());
      error_step_ = round_->error_step();
    }
    if (round_->runs() - round_->sleep_blocked() != counted && round_->last_cost() == bound_) {
      Count(trace);
      return;
    }
    ++sleep_blocked_;
    transitions_ += trace.size();
  }

  double Estimate() const override {
    return static_cast<double>(runs()) - static_cast<double>(round_->runs()) + round_->Estimate();
  }
  bool left_out() const override { return gave_up_ || round_->left_out(); }
  std::optional<uint32_t> preemptions_covered() const override { return rounds_done_; }

 private:
  uint32_t bound_ = 0;
  std::unique_ptr<BoundedSearch> round_;
  std::optional<uint32_t> rounds_done_;
  bool gave_up_ = false;  // the last round was too much; those before it are complete
};

}  // namespace mc::dpor

#endif  // MC_DPOR_ITERATIVE_BOUNDING_H_
