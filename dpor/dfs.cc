#include "dpor/dfs.h"

#include <string>

namespace mc::dpor {

using sched::ThreadId;

bool DepthFirstSearch::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  cursor_ = 0;
  if (!error_.empty() || complete_) return false;
  if (!started_) {
    started_ = true;
    return true;
  }
  while (!decisions_.empty() && decisions_.back().chosen + 1 == decisions_.back().count) {
    if (decisions_.back().is_thread) options_.resize(decisions_.back().options);
    decisions_.pop_back();
  }
  if (decisions_.empty()) {
    complete_ = true;
    return false;
  }
  Decision& last = decisions_.back();
  ++last.chosen;
  branch_depth_ = last.event;
  if (resumed_) return true;
  *keep = branch_depth_;
  cursor_ = decisions_.size() - 1;
  while (cursor_ > 0 && decisions_[cursor_ - 1].event == last.event) --cursor_;
  return true;
}

ThreadId DepthFirstSearch::Next(const sched::Trace& trace, const sched::StateView& state) {
  const uint32_t position = static_cast<uint32_t>(trace.size());
  if (cursor_ < decisions_.size()) {
    const Decision& d = decisions_[cursor_++];
    const ThreadId thread = d.is_thread ? options_[d.options + d.chosen] : sched::kNoThread;
    if (d.is_thread && d.event == position && thread < state.ThreadCount() &&
        state.IsEnabled(thread)) {
      return thread;
    }
    SetStepError(position,
                 "thread " + std::to_string(thread) + " ran here before and cannot run now");
    return sched::kAbandon;
  }
  Decision d{position, 0, 0, static_cast<uint32_t>(options_.size()), true};
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    if (!state.IsEnabled(static_cast<ThreadId>(t))) continue;
    options_.push_back(static_cast<ThreadId>(t));
    ++d.count;
  }
  decisions_.push_back(d);
  cursor_ = decisions_.size();
  return options_[d.options];
}

uint32_t DepthFirstSearch::NextChoice(size_t at, uint32_t, uint32_t arity) {
  const uint32_t position = static_cast<uint32_t>(at);
  if (cursor_ < decisions_.size()) {
    const Decision& d = decisions_[cursor_++];
    if (!d.is_thread && d.event == position && d.count == arity) return d.chosen;
    SetStepError(position,
                 "a choice of " + std::to_string(arity) +
                     " alternatives was not there, or had another number of them, before");
    return 0;
  }
  decisions_.push_back({position, arity, 0, 0, false});
  cursor_ = decisions_.size();
  return 0;
}

void DepthFirstSearch::EndExecution(const sched::Trace& trace) {
  Count(trace);
  if (cursor_ < decisions_.size()) {
    SetStepError(trace.size(), "the execution ended, but one that it repeats went on");
  }
  resumed_ = false;
}

double DepthFirstSearch::Estimate() const {
  if (complete_ || runs() == 0) return static_cast<double>(runs());
  double share = 1;  // explored below the decision
  for (size_t k = decisions_.size(); k-- > 0;) {
    share = (decisions_[k].chosen + share) / decisions_[k].count;
  }
  return static_cast<double>(runs()) / share;
}

}  // namespace mc::dpor
