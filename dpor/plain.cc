#include "dpor/plain.h"

#include <algorithm>

namespace mc::dpor {

using sched::ThreadId;

void PlainSearch::EnterState(Node& node, const sched::StateView& state) {
  node.enabled.clear();
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    if (state.IsEnabled(static_cast<ThreadId>(t))) node.enabled.push_back(static_cast<ThreadId>(t));
  }
}

void PlainSearch::AddPoint(const Race& race) {
  Node& node = nodes_[race.first];
  if (TryToAdd(node, race.thread)) return;
  EventModel& model = reversal_.model();
  const std::vector<uint32_t>& after = model.After();
  for (size_t k = 0; k < model.after_count(); ++k) {
    if (LeadsTo(after[k], race) && TryToAdd(node, path_.thread(after[k]))) return;
  }
  for (const ThreadId t : node.enabled) AddEntry(node, t, {});
}

// Adds the thread if it can run at the node. Returns whether its block will be run there.
bool PlainSearch::TryToAdd(Node& node, ThreadId thread) {
  if (std::ranges::count(node.enabled, thread) == 0) return false;
  AddEntry(node, thread, {});
  return std::ranges::none_of(node.sleep,
                              [&](const Sleeper& s) { return pool_[s.event].thread == thread; });
}

// Does the event come before what races with the first one? Before a block that did not run come
// those before its thread's last one, and those that conflict with what it is certain to do.
bool PlainSearch::LeadsTo(uint32_t position, const Race& race) const {
  if (race.second != kNoPosition) return path_.HappensBefore(position, race.second);
  const PlannedEvent& q = reversal_.q_prime();
  const uint32_t previous = path_.Previous(q.thread, q.index);
  if (previous != kNoPosition && path_.HappensBefore(position, previous)) return true;
  return RangesConflict(path_.record(position).footprint(), q.ranges);
}

}  // namespace mc::dpor
