#include "dpor/replay_strategy.h"

#include <algorithm>
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
  SetStepError(step, why);
}

sched::ThreadId ReplayStrategy::Next(const sched::Trace& trace, const sched::StateView& state) {
  if (diverged_step_.has_value()) return sched::kAbandon;
  const size_t step = trace.size();
  if (step >= steps_.size()) return free_run_.Pick(state);
  const sched::ThreadId thread = steps_[step].thread;
  if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
  Diverge(step, "T" + std::to_string(thread) + " is to run, but it cannot");
  return sched::kAbandon;
}

uint32_t ReplayStrategy::NextChoice(size_t step, uint32_t index, uint32_t arity) {
  if (step >= steps_.size()) return 0;
  if (index >= steps_[step].choices.size()) {
    // A process that died in its last step may have made more choices than it could tell.
    if (step + 1 < steps_.size()) {
      Diverge(step, "the program asks for " + std::to_string(index + 1) +
                        " choices or more, but the schedule has only " +
                        std::to_string(steps_[step].choices.size()));
    }
    return 0;
  }
  const uint32_t value = steps_[step].choices[index];
  if (value < arity) return value;
  Diverge(step, "choice " + std::to_string(index) + " is to be " + std::to_string(value) +
                    ", but there are only " + std::to_string(arity) + " alternatives");
  return 0;
}

void ReplayStrategy::EndExecution(const sched::Trace& trace) {
  Count(trace);
  for (size_t i = 0; i < std::min(trace.size(), steps_.size()); ++i) {
    if (steps_[i].choices.size() <= trace.events[i].choice_count) continue;
    // Earlier than what it led to, if that was noticed first.
    if (diverged_step_.has_value() && *diverged_step_ <= i) break;
    diverged_step_.reset();
    error_.clear();
    Diverge(i, "the schedule has " + std::to_string(steps_[i].choices.size()) +
                   " choices, but the program asks only for " +
                   std::to_string(trace.events[i].choice_count));
    break;
  }
  if (!diverged_step_.has_value() && trace.size() < steps_.size()) {
    Diverge(trace.size(), "the execution is over, but the schedule goes on");
  }
  complete_ = !diverged_step_.has_value();
}

}  // namespace mc::dpor
