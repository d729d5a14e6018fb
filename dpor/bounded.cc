#include "dpor/bounded.h"

#include <string>

namespace mc::dpor {

using sched::ThreadId;

// -- Going back ----------------------------------------------------------------------------------

bool BoundedSearch::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  if (!error_.empty() || !too_large_.empty() || complete_) return false;
  if (!started_) {
    started_ = true;
    return true;
  }
  if (!SelectNext()) {
    complete_ = true;
    return false;
  }
  *keep = resumed_ ? 0 : branch_depth_;
  return true;
}

// Goes back to the deepest node from which something is left to be run.
bool BoundedSearch::SelectNext() {
  while (path_.size() > 0) {
    const size_t depth = path_.size() - 1;
    path_.CutBack(depth);
    costs_.CutBack(depth);
    Node& node = nodes_[depth];
    while (!node.choices.empty() && node.choices.back().value + 1 == node.choices.back().arity) {
      node.choices.pop_back();
    }
    branch_depth_ = depth;
    prescribed_.clear();
    if (!node.choices.empty()) {
      ++node.choices.back().value;
      for (const sched::Choice& choice : node.choices) prescribed_.push_back(choice.value);
      return true;
    }
    if (++node.current < node.options.size()) return true;
  }
  return false;
}

// -- While an execution runs ---------------------------------------------------------------------

// Enters the events that have happened since the last call; `standings_` tells how the threads
// stand after the last of them.
void BoundedSearch::Sync(const sched::Trace& trace) {
  for (size_t p = path_.size(); p < trace.size(); ++p) {
    path_.Extend(trace, kNoEvent);
    costs_.Extend(trace, standings_);
    const auto choices = trace.ChoicesOf(trace.events[p]);
    nodes_[p].choices.assign(choices.begin(), choices.end());
    if (nodes_.size() < p + 2) nodes_.resize(p + 2);
  }
  if (!costs_.too_large()) return;
  too_large_ = "these executions are too long to be searched with at most " +
               std::to_string(bound_) + (bound_ == 1 ? " preemption" : " preemptions") + ": take " +
               (bound_ == 0 ? "" : "a lower bound (--preemptions), ") +
               "fewer preemption points (--pp=sync) or another strategy";
}

ThreadId BoundedSearch::Next(const sched::Trace& trace, const sched::StateView& state) {
  const size_t position = trace.size();
  if (position <= branch_depth_ && runs() > 0) {
    const ThreadId thread = position < branch_depth_
                                ? path_.thread(position)
                                : nodes_[position].options[nodes_[position].current];
    if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
    SetStepError(position,
                 "thread " + std::to_string(thread) + " ran here before and cannot run now");
    return sched::kAbandon;
  }
  standings_.resize(state.ThreadCount());
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    standings_[t].runnable = state.IsRunnable(thread);
    if (!standings_[t].runnable) continue;
    standings_[t].enabled = state.IsEnabled(thread);
    standings_[t].pending = state.Pending(thread);
    standings_[t].spin_cells = state.PendingSpinCells(thread);
  }
  Sync(trace);
  if (!too_large_.empty()) return sched::kAbandon;
  Node& node = nodes_[position];
  FindOptions(node, state);
  return node.options.empty() ? sched::kAbandon : node.options[0];
}

// The enabled threads whose next step has the path as its canonical predecessor.
void BoundedSearch::FindOptions(Node& node, const sched::StateView& state) {
  node.options.clear();
  node.current = 0;
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    if (!state.IsEnabled(thread)) continue;
    uint32_t least = path_.size() == 0 ? 0 : OrderCosts::kTooMuch;
    ThreadId best = sched::kNoThread;
    for (uint32_t l = 0; l < state.ThreadCount(); ++l) {
      const auto last = static_cast<ThreadId>(l);
      uint32_t cost = path_.size() == 0 ? OrderCosts::kTooMuch : costs_.Least(last);
      if (cost == OrderCosts::kTooMuch) continue;
      if (l != t && costs_.CanBePreempted(last)) ++cost;
      if (cost >= least) continue;
      least = cost;
      best = last;
    }
    if (least > bound_) {
      left_out_ = true;
    } else if (path_.size() == 0 || best == path_.thread(path_.size() - 1)) {
      node.options.push_back(thread);
    }
  }
}

uint32_t BoundedSearch::NextChoice(size_t position, uint32_t index, uint32_t arity) {
  uint32_t value = 0;
  if (position < branch_depth_ && runs() > 0) {
    const EventRecord& e = path_.record(position);
    value = index < e.choice_count ? e.choices[index] : 0;
  } else if (position == branch_depth_ && runs() > 0 && index < prescribed_.size()) {
    value = prescribed_[index];
  }
  if (value < arity) return value;
  SetStepError(position, "choice " + std::to_string(index) + " now has only " +
                             std::to_string(arity) + " alternatives");
  return 0;
}

// -- At the end of an execution ------------------------------------------------------------------

void BoundedSearch::EndExecution(const sched::Trace& trace) {
  if (trace.size() < branch_depth_ && error_.empty()) {
    SetStepError(trace.size(), "the execution ended, but one that it repeats went on");
  }
  if (resumed_ && runs() > 0 && error_.empty()) {
    const size_t step = path_.FirstDifference(trace, branch_depth_);
    if (step < branch_depth_) SetStepError(step, kNotAsBeforeSuspension);
  }
  resumed_ = false;
  if (!error_.empty() || !too_large_.empty()) return Count(trace);
  standings_.resize(trace.ends.size());
  for (size_t t = 0; t < trace.ends.size(); ++t) {
    const sched::ThreadEnd& end = trace.ends[t];
    const auto cells = trace.SpinCellsOf(end);
    standings_[t].runnable = end.status == sched::ThreadStatus::kRunnable;
    standings_[t].enabled = end.enabled;
    standings_[t].pending = end.pending;
    standings_[t].spin_cells.assign(cells.begin(), cells.end());
  }
  Sync(trace);
  const bool gave_up = trace.outcome == sched::ExecutionOutcome::kBlocked;
  if (!too_large_.empty() || gave_up || IsCanonical()) return Count(trace);
  ++sleep_blocked_;
  transitions_ += trace.size();
}

// Is the path, after which nothing can run, the order that stands for its trace?
bool BoundedSearch::IsCanonical() {
  last_cost_ = 0;
  if (path_.size() == 0) return true;
  const ThreadId last = path_.thread(path_.size() - 1);
  const uint32_t cost = costs_.Least(last);
  for (uint32_t t = 0; t < standings_.size(); ++t) {
    const uint32_t other = costs_.Least(static_cast<ThreadId>(t));
    if (other < cost || (other == cost && t < last)) return false;
  }
  last_cost_ = cost;
  return true;
}

double BoundedSearch::Estimate() const {
  if (complete_ || runs() == 0) return static_cast<double>(runs());
  double share = 1;
  for (size_t depth = path_.size(); depth-- > 0;) {
    const Node& node = nodes_[depth];
    share = (static_cast<double>(node.current) + share) / static_cast<double>(node.options.size());
  }
  return static_cast<double>(runs()) / share;
}

}  // namespace mc::dpor
