#include "dpor/replay_strategy.h"

#include <string>

namespace mc::dpor {

bool ReplayStrategy::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  if (done_) return false;
  done_ = true;
  return true;
}

void ReplayStrategy::Diverge(size_t step, std::string why) {
  if (diverged_step_.has_value()) return;
  diverged_step_ = step;
  SetError("step " + std::to_string(step) + ": " + why);
}

sched::ThreadId ReplayStrategy::Next(const sched::Trace& trace, const sched::StateView& state) {
  if (diverged_step_.has_value()) return sched::kAbandon;
  const size_t step = step_ = trace.size();
  if (step >= steps_.size()) return free_run_.Pick(state);
  const sched::ThreadId thread = steps_[step].thread;
  if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
  Diverge(step, "thread " + std::to_string(thread) + " is not enabled");
  return sched::kAbandon;
}

uint32_t ReplayStrategy::NextChoice(const sched::Trace&, uint32_t index, uint32_t arity) {
  const size_t step = step_;
  if (step >= steps_.size() || index >= steps_[step].choices.size()) return 0;
  const uint32_t value = steps_[step].choices[index];
  if (value < arity) return value;
  Diverge(step, "choice " + std::to_string(index) + " is to be " + std::to_string(value) +
                    ", but there are only " + std::to_string(arity) + " alternatives");
  return 0;
}

void ReplayStrategy::EndExecution(const sched::Trace& trace) {
  Count(trace, 0);
  if (!diverged_step_.has_value() && trace.size() < steps_.size()) {
    Diverge(trace.size(), "the execution is over, but the schedule goes on");
  }
  complete_ = !diverged_step_.has_value();
}

}  // namespace mc::dpor
