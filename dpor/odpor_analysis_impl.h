// Definitions of OptimalSearch (odpor.h): the analysis at the end of an execution. Which pairs are
// reversed (spec optimal-dpor 2.4), which sequences are covered already (2.3), which go in.
#ifndef MC_DPOR_ODPOR_ANALYSIS_IMPL_H_
#define MC_DPOR_ODPOR_ANALYSIS_IMPL_H_

#include <algorithm>
#include <string>

#include "dpor/odpor.h"

namespace mc::dpor {

// -- Weak initials (2.3) -------------------------------------------------------------------------

template <bool kWithMutants>
int OptimalSearch<kWithMutants>::IsInitial(const EventRecord& s, std::span<const EventId> v) const {
  return WeakInitial(pool_, s, v, [this](const EventRecord& a, const EventRecord& b) {
    return SameChoices(a, b);
  });
}

template <bool kWithMutants>
int OptimalSearch<kWithMutants>::IsInitial(const EventRecord& s, const Request& request) const {
  return WeakInitial(pool_, s, request, [this](const EventRecord& a, const EventRecord& b) {
    return SameChoices(a, b);
  });
}

// -- The analysis (2.4) --------------------------------------------------------------------------

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::Analyse(const sched::Trace& trace) {
  size_t begin = Mutated(Mutation::kOnlyNew) && branch_depth_ < path_.size()
                     ? path_.first_pair(branch_depth_)
                     : 0;
  std::vector<Pair>& pairs = path_.pairs();
  path_.LookFrom(branch_depth_);
  for (size_t k = begin; k < pairs.size(); ++k) {
    ++counters_.pairs;
    if (Unchanged(pairs[k])) {
      ++counters_.pairs_cached;
      continue;
    }
    if (pairs[k].kind == PairKind::kChoice) {
      ReverseChoices(pairs[k].first, trace);
    } else {
      ReversePair(pairs[k], trace);
    }
  }
  if (!Mutated(Mutation::kEndBlocked)) ReverseBlocked(trace);
}

// The same-sequence cache (3.3). Notes the present state of the pair if it is another one.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::Unchanged(Pair& pair) const {
  // The events that are left of those at the last reversal are in D(i) or not as they were then.
  const bool was_kept = pair.cached_last < branch_depth_;
  if (was_kept && pair.second < branch_depth_ && path_.IsBeforeAll(pair.first)) return true;
  const uint32_t last =
      std::max(pair.second, path_.LastNotAfter(pair.first, was_kept ? pair.cached_last : 0));
  const uint64_t serial = path_.serial(last);
  if (pair.cached_last == last && pair.cached_serial == serial) return true;
  pair.cached_last = last;
  pair.cached_serial = serial;
  return false;
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::ReversePair(const Pair& pair, const sched::Trace& trace) {
  if (pair.kind == PairKind::kWait && Mutated(Mutation::kLockPair)) return;
  // Most sequences are covered by a sleeper that is an initial of D(i) alone. Ask that first,
  // unless D may lose events (readers dropped before a write lock).
  if (trace.events[pair.second].operation.kind != sched::OperationKind::kWriteLock &&
      CoveredByInitial(pair.first)) {
    ++counters_.covered;
    return;
  }
  if (!reversal_.StartPair(pair, trace)) {
    ++counters_.not_enabled;
    return;
  }
  InsertSequence(pair.first);
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::ReverseBlocked(const sched::Trace& trace) {
  const uint32_t exit = path_.exit_position();
  for (size_t t = 0; t < trace.ends.size(); ++t) {
    const sched::ThreadEnd& end = trace.ends[t];
    if (end.status != sched::ThreadStatus::kRunnable) continue;
    if (end.enabled && exit == kNoPosition) continue;
    const sched::ThreadId q = static_cast<sched::ThreadId>(t);
    const uint32_t previous = path_.Previous(q, end.events);
    scratch_.clear();
    path_.ForEachDisabler(end.pending, q, previous, [&](uint32_t i) {
      if (std::ranges::find(scratch_, i) == scratch_.end()) scratch_.push_back(i);
    });
    if (exit != kNoPosition && path_.thread(exit) != q &&
        std::ranges::find(scratch_, exit) == scratch_.end()) {
      scratch_.push_back(exit);
    }
    for (const uint32_t i : scratch_) {
      ++counters_.pairs;
      if (reversal_.StartBlocked(i, q, trace)) {
        InsertSequence(i);
      } else {
        ++counters_.not_enabled;
      }
    }
  }
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::ReverseChoices(uint32_t i, const sched::Trace& trace) {
  if (Mutated(Mutation::kNoChoice)) return;
  const auto choices = trace.ChoicesOf(trace.events[i]);
  for (uint32_t k = 0; k < choices.size(); ++k) {
    for (uint32_t value = 0; value < choices[k].arity; ++value) {
      if (value == choices[k].value) continue;
      reversal_.StartChoice(trace, i, k, value);
      if (Mutated(Mutation::kChoiceAtNode)) reversal_.model().Truncate(i);
      InsertSequence(i);
    }
  }
}

// Is a sleeper at node i the event of D(i) that can be moved to its front? Needs neither D nor q'.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::CoveredByInitial(uint32_t i) {
  if constexpr (kWithMutants) return false;  // the long way gives the same answer
  const Node& node = nodes_[i];
  for (uint32_t k = node.sleep_begin; k < node.sleep_end; ++k) {
    const SleepEntry& entry = sleep_entries_[sleep_items_[k]];
    const uint32_t waker = entry.first_waker;
    if (waker != kNoPosition && waker > i && !path_.HappensBefore(i, waker)) continue;
    const EventRecord& sleeper = pool_[entry.event];
    const uint32_t own = path_.Find(sleeper.thread, sleeper.index);
    if (own == kNoPosition || own <= i || path_.HappensBefore(i, own)) continue;
    const uint32_t before = path_.last_predecessor(own);
    if (before != kNoPosition && before > i) continue;
    if (EventPool::SameChoices(sleeper, path_.record(own))) return true;
  }
  return false;
}

// Is a sleeper at node i a weak initial of D(i).q'?
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::Covered(uint32_t i) {
  const Node& node = nodes_[i];
  EventModel& model = reversal_.model();
  for (uint32_t k = node.sleep_begin; k < node.sleep_end; ++k) {
    const SleepEntry& entry = sleep_entries_[sleep_items_[k]];
    // First waker (3.1): if it is in D, it stands in the sleeper's way.
    const uint32_t waker = entry.first_waker;
    if (waker != kNoPosition && waker > i && model.Contains(waker)) continue;
    if (CoversSequence(pool_[entry.event], waker, i)) return true;
  }
  return false;
}

template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::CoversSequence(const EventRecord& sleeper, uint32_t first_waker,
                                                 uint32_t i) {
  EventModel& model = reversal_.model();
  const PlannedEvent& q = reversal_.q_prime();
  const uint32_t own = path_.Find(sleeper.thread, sleeper.index);
  if (own != kNoPosition && own > i && model.Contains(own)) {
    if (!EventPool::SameChoices(sleeper, path_.record(own))) return false;
    const uint32_t before = path_.last_predecessor(own);
    return before == kNoPosition || before <= i;
  }
  // Before its first waker nothing conflicts with the sleeper; what does is in D behind it.
  const std::vector<uint32_t>& after = model.After();
  const size_t count = model.after_count();
  const bool q_is_own = q.thread == sleeper.thread;
  if (q_is_own) {
    const uint32_t choices =
        std::max<uint32_t>(sleeper.choice_count, static_cast<uint32_t>(q.choices.size()));
    for (uint32_t c = 0; c < choices; ++c) {
      const uint32_t x = c < sleeper.choice_count ? sleeper.choices[c] : 0;
      const uint32_t y = c < q.choices.size() ? q.choices[c] : 0;
      if (x != y) return false;
    }
  }
  const bool use_q = q_is_own && q.exact;
  const Summary& summary = use_q ? q.summary : sleeper.summary;
  const std::span<const Range> footprint =
      use_q ? std::span<const Range>(q.ranges) : sleeper.footprint();
  size_t m = 0;
  if (!use_q && first_waker != kNoPosition) {
    while (m < count && after[m] < first_waker) ++m;
  }
  for (; m < count; ++m) {
    const uint32_t p = after[m];
    if (path_.summary(p).MayConflict(summary) || sleeper.universal) {
      if (path_.record(p).universal || sleeper.universal ||
          RangesConflict(path_.record(p).footprint(), footprint)) {
        return false;
      }
    }
  }
  return q_is_own || !(q.summary.MayConflict(summary) && RangesConflict(q.ranges, footprint));
}

// Inserts the sequence that `reversal_` has built at node i (2.2).
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::InsertSequence(uint32_t i) {
  if (!kWithMutants && Covered(i)) {
    ++counters_.covered;
    return;
  }
  BuildSequence();
  if (kWithMutants && CoveredPlainly(i)) {
    ++counters_.covered;
    pool_.Release(sequence_.back());
    return;
  }
  const QueuePlace place = PlaceOf(sequence_, i);
  if (place == QueuePlace::kAbsorbed) {
    ++counters_.absorbed;
    pool_.Release(sequence_.back());
    return;
  }
  const RequestId id = requests_.Create(static_cast<uint32_t>(sequence_.size()));
  for (size_t k = 0; k + 1 < sequence_.size(); ++k) {
    pool_.AddReference(sequence_[k]);
    requests_.Append(id, sequence_[k]);
  }
  requests_.Append(id, sequence_.back());
  if (queues_.Put(id, place, i, &nodes_[i].requests)) {
    ++counters_.inserted;
    has_requests_to_tell_ |= i < own_from_;
  } else {
    ++counters_.same;
  }
}

// D(i).q', with one reference: to q'.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::BuildSequence() {
  EventModel& model = reversal_.model();
  const PlannedEvent& q = reversal_.q_prime();
  const size_t count = model.after_count();
  path_.NormalForm(std::span(model.After()).first(count), &sequence_);
  for (uint32_t& p : sequence_) p = path_.event(p);
  if (q.same_as != kNoEvent) {
    pool_.AddReference(q.same_as);
    sequence_.push_back(q.same_as);
  } else {
    sequence_.push_back(pool_.Create(q.thread, q.index, q.exact, false, q.ranges, q.choices));
  }
}

// The insertion test as printed, and the mistakes in it.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::CoveredPlainly(uint32_t i) {
  const Node& node = nodes_[i];
  const PlannedEvent& q = reversal_.q_prime();
  std::span<const EventId> v = sequence_;
  if (Mutated(Mutation::kIgnoreLast)) v = v.first(v.size() - 1);
  bool covered = false;
  for (uint32_t k = node.sleep_begin; k < node.sleep_end && !covered; ++k) {
    const int answer = IsInitial(pool_[sleep_entries_[sleep_items_[k]].event], v);
    covered = answer != kNotInitial && !(Mutated(Mutation::kNoWiSleep) && answer == kInitialAtNone);
  }
  if (options_.mutation == Mutation::kNone && covered != Covered(i)) {
    SetError("the fast insertion test says " + std::string(covered ? "no" : "yes"));
  }
  const bool is_alternative = q.thread == path_.thread(i);
  if (Mutated(Mutation::kNoSleepTest) || (Mutated(Mutation::kChoiceUntested) && is_alternative)) {
    return false;
  }
  return covered;
}

// Where a request for `v` belongs at the node. Above the worker's own nothing is started: what
// other requests wait there, and in which order they are followed, the frontier knows.
template <bool kWithMutants>
QueuePlace OptimalSearch<kWithMutants>::PlaceOf(std::span<const EventId> v, uint32_t depth) {
  if (depth < own_from_) return QueuePlace::kOthers;
  return queues_.PlaceOf(
      nodes_[depth].requests, v,
      [this](const EventRecord& a, const EventRecord& b) { return SameChoices(a, b); });
}

}  // namespace mc::dpor

#endif  // MC_DPOR_ODPOR_ANALYSIS_IMPL_H_
