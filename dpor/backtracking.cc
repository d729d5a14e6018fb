#include "dpor/backtracking.h"

#include <algorithm>
#include <string>

namespace mc::dpor {

using sched::ThreadId;

BacktrackingSearch::BacktrackingSearch(Policy policy, uint64_t seed)
    : path_(pool_), reversal_(path_), nodes_(1), free_run_(policy, seed) {}

bool BacktrackingSearch::SameChoices(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  for (size_t k = 0; k < a.size() || k < b.size(); ++k) {
    if ((k < a.size() ? a[k] : 0) != (k < b.size() ? b[k] : 0)) return false;
  }
  return true;
}

void BacktrackingSearch::EnterNode(Node& node) {
  node.backtrack.clear();
  node.sleep.clear();
  node.finished.clear();
  node.arities.clear();
  node.enabled.clear();
}

void BacktrackingSearch::LeaveNode(Node& node) {
  for (const Sleeper& s : node.sleep) pool_.Release(s.event);
  for (const Sleeper& s : node.finished) pool_.Release(s.event);
  EnterNode(node);
}

// -- Sleep sets ----------------------------------------------------------------------------------

// Calls visit for the sleepers of the node until one returns true.
template <typename Visit>
bool BacktrackingSearch::AnySleeper(const Node& node, const Visit& visit) const {
  return std::ranges::any_of(node.sleep, visit) || std::ranges::any_of(node.finished, visit);
}

// Does every way for `thread` to run its next block, once it has made the choices `prefix`, sleep?
bool BacktrackingSearch::Asleep(const Node& node, ThreadId thread, Choices& prefix) const {
  uint32_t arity = 0;
  const bool ends_here = AnySleeper(node, [&](const Sleeper& s) {
    const EventRecord& e = pool_[s.event];
    if (e.thread != thread || e.choice_count < prefix.size()) return false;
    if (!std::equal(prefix.begin(), prefix.end(), e.choices)) return false;
    if (e.choice_count == prefix.size()) return true;
    arity = s.arities[prefix.size()];
    return false;
  });
  if (ends_here) return true;
  if (arity == 0) return false;
  bool all = true;
  for (uint32_t value = 0; value < arity && all; ++value) {
    prefix.push_back(value);
    all = Asleep(node, thread, prefix);
    prefix.pop_back();
  }
  return all;
}

const BacktrackingSearch::Sleeper* BacktrackingSearch::FindSleeper(const Node& node,
                                                                   ThreadId thread,
                                                                   const Choices& choices) const {
  const Sleeper* found = nullptr;
  AnySleeper(node, [&](const Sleeper& s) {
    const EventRecord& e = pool_[s.event];
    if (e.thread != thread || !SameChoices(e.choice_values(), choices)) return false;
    found = &s;
    return true;
  });
  return found;
}

// -- Going back ----------------------------------------------------------------------------------

bool BacktrackingSearch::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  if (!error_.empty() || complete_) return false;
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

// Goes back to the deepest node with an entry that is to be taken.
bool BacktrackingSearch::SelectNext() {
  LeaveNode(nodes_[path_.size()]);
  while (path_.size() > 0) {
    const size_t depth = path_.size() - 1;
    Node& node = nodes_[depth];
    pool_.AddReference(path_.event(depth));
    node.finished.push_back({path_.event(depth), node.arities});
    path_.CutBack(depth);
    if (TakeEntry(node, &entry_)) {
      branch_depth_ = depth;
      return true;
    }
    LeaveNode(node);
  }
  return false;
}

bool BacktrackingSearch::TakeEntry(Node& node, Backtrack* taken) {
  for (size_t k = 0; k < node.backtrack.size(); ++k) {
    if (node.backtrack[k].settled) continue;
    node.backtrack[k].settled = true;
    *taken = node.backtrack[k];
    const Sleeper* sleeper = FindSleeper(node, taken->thread, taken->choices);
    Choices prefix = taken->choices;
    if (sleeper == nullptr && !Asleep(node, taken->thread, prefix)) return true;
    if (sleeper != nullptr) {
      AddOtherValues(node, pool_[sleeper->event], Choices(sleeper->arities));
    }
  }
  return false;
}

void BacktrackingSearch::AddEntry(Node& node, ThreadId thread, const Choices& choices) {
  for (const Backtrack& b : node.backtrack) {
    if (b.thread == thread && SameChoices(b.choices, choices)) return;
  }
  node.backtrack.push_back({thread, false, choices});
}

void BacktrackingSearch::AddOtherValues(Node& node, const EventRecord& event,
                                        const Choices& arities) {
  Choices alternative;
  for (uint32_t k = 0; k < event.choice_count; ++k) {
    for (uint32_t value = 0; value < arities[k]; ++value) {
      if (value == event.choices[k]) continue;
      alternative.assign(event.choices, event.choices + k);
      alternative.push_back(value);
      AddEntry(node, event.thread, alternative);
    }
  }
}

// -- While an execution runs ---------------------------------------------------------------------

// Enters the events that have happened since the last call.
void BacktrackingSearch::Sync(const sched::Trace& trace) {
  for (size_t p = path_.size(); p < trace.size(); ++p) {
    path_.Extend(trace, kNoEvent);
    if (nodes_.size() < p + 2) nodes_.resize(p + 2);
    Node& node = nodes_[p];
    Node& child = nodes_[p + 1];
    EnterNode(child);
    const EventRecord& event = path_.record(p);
    node.arities.clear();
    for (const sched::Choice& c : trace.ChoicesOf(trace.events[p])) {
      node.arities.push_back(c.arity);
    }
    const Choices made(event.choices, event.choices + event.choice_count);
    AddEntry(node, event.thread, made);
    for (Backtrack& b : node.backtrack) {
      if (b.thread == event.thread && SameChoices(b.choices, made)) b.settled = true;
    }
    AnySleeper(node, [&](const Sleeper& s) {
      const EventRecord& sleeper = pool_[s.event];
      if (sleeper.thread != event.thread && !pool_.Conflict(sleeper, event)) {
        pool_.AddReference(s.event);
        child.sleep.push_back(s);
      }
      return false;
    });
  }
}

ThreadId BacktrackingSearch::Next(const sched::Trace& trace, const sched::StateView& state) {
  const size_t position = trace.size();
  block_choices_.clear();
  if (position <= branch_depth_ && runs() > 0) {
    const ThreadId thread = position < branch_depth_ ? path_.thread(position) : entry_.thread;
    if (thread < state.ThreadCount() && state.IsEnabled(thread)) return running_ = thread;
    SetStepError(position,
                 "thread " + std::to_string(thread) + " ran here before and cannot run now");
    return sched::kAbandon;
  }
  Sync(trace);
  Node& node = nodes_[position];
  EnterState(node, state);
  Choices none;
  return running_ = free_run_.Pick(state, [&](ThreadId t) { return !Asleep(node, t, none); });
}

uint32_t BacktrackingSearch::NextChoice(size_t position, uint32_t index, uint32_t arity) {
  uint32_t value = 0;
  if (position < branch_depth_ && runs() > 0) {
    const EventRecord& e = path_.record(position);
    value = index < e.choice_count ? e.choices[index] : 0;
  } else if (position == branch_depth_ && runs() > 0 && index < entry_.choices.size()) {
    value = entry_.choices[index];
  } else {
    while (value < arity) {
      block_choices_.push_back(value);
      const bool asleep = Asleep(nodes_[position], running_, block_choices_);
      block_choices_.pop_back();
      if (!asleep) break;
      ++value;
    }
  }
  if (value >= arity) {
    SetStepError(position, "choice " + std::to_string(index) + " now has only " +
                               std::to_string(arity) + " alternatives");
    value = 0;
  }
  block_choices_.push_back(value);
  return value;
}

// -- At the end of an execution ------------------------------------------------------------------

void BacktrackingSearch::EndExecution(const sched::Trace& trace) {
  const bool first = runs() == 0;
  Count(trace);
  if (!error_.empty()) return;
  if (resumed_ && !first) {
    const size_t step = path_.FirstDifference(trace, branch_depth_);
    if (step < branch_depth_) return SetStepError(step, kNotAsBeforeSuspension);
  }
  resumed_ = false;
  if (trace.size() < branch_depth_) {
    SetStepError(trace.size(), "the execution ended, but one that it repeats went on");
    return;
  }
  Sync(trace);
  Analyse(trace);
}

void BacktrackingSearch::Analyse(const sched::Trace& trace) {
  for (Pair& pair : path_.pairs()) {
    const uint32_t last = std::max(pair.second, path_.LastNotAfter(pair.first));
    const uint64_t serial = path_.serial(last);
    if (pair.cached_last == last && pair.cached_serial == serial) continue;
    pair.cached_last = last;
    pair.cached_serial = serial;
    if (pair.kind == PairKind::kChoice) {
      AnalyseChoices(pair.first, trace);
    } else if (reversal_.StartPair(pair, trace)) {
      AddPoint({pair.first, pair.second, path_.thread(pair.second)});
    }
  }
  const uint32_t exit = path_.exit_position();
  for (size_t t = 0; t < trace.ends.size(); ++t) {
    const sched::ThreadEnd& end = trace.ends[t];
    if (end.status != sched::ThreadStatus::kRunnable) continue;
    if (end.enabled && exit == kNoPosition) continue;
    const ThreadId q = static_cast<ThreadId>(t);
    scratch_.clear();
    path_.ForEachDisabler(end.pending, q, path_.Previous(q, end.events),
                          [&](uint32_t i) { scratch_.push_back(i); });
    if (exit != kNoPosition && path_.thread(exit) != q) scratch_.push_back(exit);
    for (const uint32_t i : scratch_) {
      if (reversal_.StartBlocked(i, q, trace)) AddPoint({i, kNoPosition, q});
    }
  }
}

// The alternatives of event i go to its node's list. One that sleeps there, and conflicts with
// D(i), is also treated as a race.
void BacktrackingSearch::AnalyseChoices(uint32_t i, const sched::Trace& trace) {
  Node& node = nodes_[i];
  AddOtherValues(node, path_.record(i), node.arities);
  const auto choices = trace.ChoicesOf(trace.events[i]);
  for (uint32_t k = 0; k < choices.size(); ++k) {
    for (uint32_t value = 0; value < choices[k].arity; ++value) {
      if (value == choices[k].value) continue;
      reversal_.StartChoice(trace, i, k, value);
      const PlannedEvent& q = reversal_.q_prime();
      const Sleeper* sleeper = FindSleeper(node, q.thread, q.choices);
      if (sleeper != nullptr && ConflictsWithAfter(pool_[sleeper->event])) AddSource(i);
    }
  }
}

bool BacktrackingSearch::ConflictsWithAfter(const EventRecord& e) {
  const std::vector<uint32_t>& after = reversal_.model().After();
  const size_t count = reversal_.model().after_count();
  for (size_t k = 0; k < count; ++k) {
    if (pool_.Conflict(e, path_.record(after[k]))) return true;
  }
  return false;
}

// u = D(i).
void BacktrackingSearch::AddSource(uint32_t i) {
  Node& node = nodes_[i];
  EventModel& model = reversal_.model();
  const PlannedEvent& q = reversal_.q_prime();
  const std::vector<uint32_t>& after = model.After();
  const size_t count = model.after_count();
  for (const Backtrack& b : node.backtrack) {
    // An initial of u is the first event in D of its thread, with nothing before it in D.
    for (size_t k = 0; k < count; ++k) {
      const uint32_t p = after[k];
      if (path_.thread(p) != b.thread) continue;
      const uint32_t before = path_.last_predecessor(p);
      if ((before == kNoPosition || before <= i) &&
          SameChoices(path_.record(p).choice_values(), b.choices)) {
        return;
      }
      break;
    }
  }
  auto is_q_apart = [&](const EventRecord& e) {
    return e.thread == q.thread && SameChoices(e.choice_values(), q.choices) &&
           !ConflictsWithAfter(e);
  };
  if (is_q_apart(path_.record(i))) return;
  for (const Sleeper& s : node.finished) {
    if (is_q_apart(pool_[s.event])) return;
  }
  if (count == 0) {
    AddEntry(node, q.thread, {});
    return;
  }
  const EventRecord& first = path_.record(after[0]);
  AddEntry(node, first.thread, Choices(first.choices, first.choices + first.choice_count));
}

double BacktrackingSearch::Estimate() const {
  if (complete_ || runs() == 0) return static_cast<double>(runs());
  double share = 1;
  for (size_t depth = path_.size(); depth-- > 0;) {
    const Node& node = nodes_[depth];
    size_t planned = 0;
    for (const Backtrack& b : node.backtrack) planned += b.settled ? 0 : 1;
    const double finished = static_cast<double>(node.finished.size());
    share = (finished + share) / (finished + 1 + static_cast<double>(planned));
  }
  return static_cast<double>(runs()) / share;
}

}  // namespace mc::dpor
