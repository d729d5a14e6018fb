#include "dpor/delay.h"

#include <algorithm>
#include <string>

namespace mc::dpor {

using sched::ThreadId;

bool DelaySearch::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  cursor_ = 0;
  delays_ = 0;
  if (!error_.empty() || complete_) return false;
  if (!started_) {
    started_ = true;
    return true;
  }
  while (!decisions_.empty() && decisions_.back().taken + 1 == decisions_.back().count) {
    decisions_.pop_back();
  }
  if (decisions_.empty()) {
    complete_ = true;
    return false;
  }
  Decision& last = decisions_.back();
  ++last.taken;
  last.thread = sched::kNoThread;
  branch_depth_ = last.event;
  if (resumed_) return true;
  *keep = branch_depth_;
  while (cursor_ < decisions_.size() && decisions_[cursor_].event < branch_depth_) {
    delays_ += decisions_[cursor_].is_thread ? decisions_[cursor_].taken : 0;
    ++cursor_;
  }
  return true;
}

// The thread that the fixed scheduler would run after passing over so many.
ThreadId DelaySearch::PassOver(uint32_t delays, const sched::StateView& state) {
  const uint32_t count = state.ThreadCount();
  const ThreadId current = state.Current();
  uint32_t t = 0;
  if (current != sched::kNoThread) t = current + (state.CurrentYielded() ? 1u : 0u);
  while (true) {
    t %= count;
    if (state.IsEnabled(static_cast<ThreadId>(t)) && delays-- == 0) return static_cast<ThreadId>(t);
    ++t;
  }
}

ThreadId DelaySearch::Next(const sched::Trace& trace, const sched::StateView& state) {
  const size_t position = trace.size();
  uint32_t enabled = 0;
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    enabled += state.IsEnabled(static_cast<ThreadId>(t)) ? 1 : 0;
  }
  const uint32_t left = bound_ - delays_;
  if (cursor_ == decisions_.size()) {
    decisions_.push_back({position, std::min(enabled, left + 1), 0, true, sched::kNoThread});
    if (enabled > left + 1) left_out_ = true;
  }
  Decision& d = decisions_[cursor_++];
  if (!d.is_thread || d.event != position || d.taken >= enabled) {
    SetStepError(position, "other threads could run here before");
    return sched::kAbandon;
  }
  const ThreadId thread = PassOver(d.taken, state);
  if (d.thread != sched::kNoThread && d.thread != thread) {
    SetStepError(position,
                 "thread " + std::to_string(d.thread) + " ran here before and cannot run now");
    return sched::kAbandon;
  }
  d.thread = thread;
  delays_ += d.taken;
  return thread;
}

uint32_t DelaySearch::NextChoice(size_t position, uint32_t, uint32_t arity) {
  if (cursor_ == decisions_.size()) {
    decisions_.push_back({position, arity, 0, false, sched::kNoThread});
  }
  const Decision& d = decisions_[cursor_++];
  if (!d.is_thread && d.event == position && d.count == arity) return d.taken;
  SetStepError(position, "a choice of " + std::to_string(arity) +
                             " alternatives was not there, or had another number of them, before");
  return 0;
}

void DelaySearch::EndExecution(const sched::Trace& trace) {
  Count(trace);
  if (cursor_ < decisions_.size()) {
    SetStepError(trace.size(), "the execution ended, but one that it repeats went on");
  }
  resumed_ = false;
}

double DelaySearch::Estimate() const {
  if (complete_ || runs() == 0) return static_cast<double>(runs());
  double share = 1;  // explored below the decision
  for (size_t k = decisions_.size(); k-- > 0;) {
    share = (decisions_[k].taken + share) / decisions_[k].count;
  }
  return static_cast<double>(runs()) / share;
}

}  // namespace mc::dpor
