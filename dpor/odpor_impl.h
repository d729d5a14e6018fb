// Definitions of OptimalSearch (odpor.h); included only where the template is instantiated.
#ifndef MC_DPOR_ODPOR_IMPL_H_
#define MC_DPOR_ODPOR_IMPL_H_

#include <algorithm>
#include <cmath>
#include <string>

#include "dpor/odpor.h"

namespace mc::dpor {

using sched::ThreadId;

template <bool kWithMutants>
OptimalSearch<kWithMutants>::OptimalSearch(const OptimalSearchOptions& options)
    : options_(options),
      free_run_(options.policy, options.seed),
      path_(pool_),
      requests_(pool_),
      reversal_(path_) {
  nodes_.emplace_back();
  if constexpr (kWithMutants) {
    reversal_.set_mutation(options.mutation);
    requests_.forget_nothing = Mutated(Mutation::kStaleSame);
  }
}

// -- Going back ----------------------------------------------------------------------------------

template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  if (!error_.empty() || complete_) return false;
  if (!started_) {
    started_ = true;
    return true;
  }
  if (!Backtrack()) {
    complete_ = true;
    return false;
  }
  *keep = resumed_ ? 0 : branch_depth_;
  return true;
}

// Takes the path back to its deepest node that has a request, and makes that request the plan.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::Backtrack() {
  size_t depth = path_.size();
  while (depth > 0 && nodes_[depth - 1].requests == kNoRequest) --depth;
  if (depth == 0) return false;
  --depth;
  Node& node = nodes_[depth];
  sleep_items_.resize(node.sleep_end);
  for (size_t k = nodes_[depth + 1].first_entry; k < sleep_entries_.size(); ++k) {
    pool_.Release(sleep_entries_[k].event);
  }
  sleep_entries_.resize(nodes_[depth + 1].first_entry);
  nodes_.resize(depth + 1);

  // The finished child sleeps from now on at its node and below.
  const EventId finished = path_.event(depth);
  pool_.AddReference(finished);
  sleep_items_.push_back(static_cast<uint32_t>(sleep_entries_.size()));
  sleep_entries_.push_back({finished, kNoPosition});
  node.sleep_end = static_cast<uint32_t>(sleep_items_.size());
  ++node.finished_children;
  path_.CutBack(depth);

  for (const EventId e : plan_) pool_.Release(e);
  plan_.clear();
  RequestId chosen = node.requests;
  if (options_.oldest_request_first) {
    while (requests_[chosen].next != kNoRequest) chosen = requests_[chosen].next;
  }
  for (const EventId e : requests_[chosen].events()) {
    pool_.AddReference(e);
    plan_.push_back(e);
  }
  if constexpr (kWithMutants) requests_.ForgetDeeperThan(static_cast<uint32_t>(depth));
  branch_depth_ = depth;
  return true;
}

// -- While an execution runs ---------------------------------------------------------------------

template <bool kWithMutants>
ThreadId OptimalSearch<kWithMutants>::Next(const sched::Trace& trace,
                                           const sched::StateView& state) {
  const size_t position = trace.size();
  if (position >= branch_depth_ + plan_.size()) {
    running_free_ = true;
    return free_run_.Pick(state);
  }
  running_free_ = false;
  following_ = position < branch_depth_ ? path_.event(position) : plan_[position - branch_depth_];
  const ThreadId thread = pool_[following_].thread;
  if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
  SetError("step " + std::to_string(position) + ": expected " + Describe(pool_[following_]) +
           ", but that thread cannot run");
  return sched::kAbandon;
}

template <bool kWithMutants>
uint32_t OptimalSearch<kWithMutants>::NextChoice(const sched::Trace& trace, uint32_t index,
                                                 uint32_t arity) {
  if (running_free_) return 0;
  const EventRecord& e = pool_[following_];
  const uint32_t value = index < e.choice_count ? e.choices[index] : 0;
  if (value < arity) return value;
  SetError("step " + std::to_string(trace.size()) + ": choice " + std::to_string(index) + " of " +
           Describe(e) + " now has only " + std::to_string(arity) + " alternatives");
  return 0;
}

template <bool kWithMutants>
std::string OptimalSearch<kWithMutants>::Describe(const EventRecord& e) const {
  std::string text = "event " + std::to_string(e.index) + " of thread " + std::to_string(e.thread);
  if (e.choice_count > 0) {
    text += " with choices";
    for (const uint32_t c : e.choice_values()) text += " " + std::to_string(c);
  }
  text += " touching {";
  int shown = 0;
  for (const Range& r : e.footprint()) {
    if (++shown > 8) {
      text += " ...";
      break;
    }
    char buffer[64];
    snprintf(buffer, sizeof(buffer), " %s%s%s 0x%llx+%u", (r.modes & sched::kRead) ? "R" : "",
             (r.modes & sched::kWrite) ? "W" : "", (r.modes & sched::kAdd) ? "A" : "",
             static_cast<unsigned long long>(r.begin), r.size);
    text += buffer;
  }
  return text + " }";
}

// -- At the end of an execution ------------------------------------------------------------------

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::EndExecution(const sched::Trace& trace) {
  Count(trace, resumed_ ? 0 : branch_depth_);
  if (!error_.empty()) return;
  if (resumed_) CheckReplayed(trace);
  resumed_ = false;
  const size_t plan_end = branch_depth_ + plan_.size();
  if (error_.empty() && trace.size() < plan_end) {
    SetError("step " + std::to_string(trace.size()) +
             ": the execution ended, but one that it repeats went on");
  }
  if (!error_.empty()) return;
  for (size_t p = branch_depth_; p < trace.size(); ++p) {
    const EventId planned = p < plan_end ? plan_[p - branch_depth_] : kNoEvent;
    path_.Extend(trace, planned);
    if (planned != kNoEvent && !CheckPlanned(trace, p)) return;
    nodes_.emplace_back();
    nodes_[p + 1].first_entry = static_cast<uint32_t>(sleep_entries_.size());
    nodes_[p + 1].runs_before = runs() - 1;
    PassSleepers(p);
    if (!error_.empty()) return;
    if (p < plan_end) HandDown(p);
    if (p + 1 >= plan_end) {
      // A request ended here: the free run below explores all that the others would.
      DiscardRequests(nodes_[p + 1]);
      if (p + 1 == plan_end && p + 1 < trace.size() &&
          nodes_[p + 1].sleep_begin != nodes_[p + 1].sleep_end) {
        SetError("step " + std::to_string(p + 1) + ": still asleep at the end of a request: " +
                 Describe(pool_[sleep_entries_[sleep_items_[nodes_[p + 1].sleep_begin]].event]));
        return;
      }
    }
  }
  Analyse(trace);
}

// After a suspension the whole path was executed again: is it what it was?
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::CheckReplayed(const sched::Trace& trace) {
  std::vector<Range> ranges;
  bool universal;
  for (size_t p = 0; p < branch_depth_; ++p) {
    if (p >= trace.size()) {
      SetError("step " + std::to_string(p) + ": expected " + Describe(path_.record(p)) +
               ", but the execution ended");
      return;
    }
    const EventRecord& expected = path_.record(p);
    const sched::Event& e = trace.events[p];
    path_.BuildRanges(trace, p, &ranges, &universal);
    if (e.thread == expected.thread && e.index == expected.index &&
        e.choice_count == expected.choice_count &&
        std::ranges::equal(ranges, expected.footprint())) {
      continue;
    }
    EventRecord found = expected;
    found.thread = e.thread;
    found.index = e.index;
    found.choice_count = 0;
    found.ranges = ranges.data();
    found.range_count = static_cast<uint32_t>(ranges.size());
    SetError("step " + std::to_string(p) + ": expected " + Describe(expected) + ", found " +
             Describe(found));
    return;
  }
}

// The checks of run() in 2.2, for the event that was just added to the path.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::CheckPlanned(const sched::Trace&, size_t position) {
  const EventRecord& planned = pool_[plan_[position - branch_depth_]];
  const EventRecord& found = path_.record(position);
  bool fits = found.thread == planned.thread && found.index == planned.index &&
              EventPool::SameChoices(found, planned);
  if (planned.exact) {
    fits = fits && std::ranges::equal(found.footprint(), planned.footprint());
  } else {
    fits = fits && RangesInclude(found.footprint(), planned.footprint());
  }
  if (!fits) {
    SetError("step " + std::to_string(position) + ": expected " +
             (planned.exact ? "" : "at least ") + Describe(planned) + ", found " +
             Describe(found));
  }
  return fits;
}

template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::SleeperWakes(const EventRecord& sleeper,
                                               const EventRecord& event) const {
  if (sleeper.thread == event.thread) return !Mutated(Mutation::kKeepSame);
  if (Mutated(Mutation::kInnerWake) && sleeper.range_count > 0) {
    // Where exit is modelled every event reads alive first.
    const Range& last = sleeper.ranges[sleeper.range_count - 1];
    Range first = sleeper.ranges[0];
    if (sched::KindOf(last.begin) == sched::CellKind::kAlive) {
      first = {last.begin, 1, sched::kRead};
    }
    return RangesConflict({&first, 1}, event.footprint());
  }
  return pool_.Conflict(sleeper, event);
}

// The sleep set of node position + 1: whoever the event at `position` does not wake.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::PassSleepers(size_t position) {
  const Node& from = nodes_[position];
  Node& to = nodes_[position + 1];
  const EventRecord& event = path_.record(position);
  to.sleep_begin = static_cast<uint32_t>(sleep_items_.size());
  for (uint32_t k = from.sleep_begin; k < from.sleep_end; ++k) {
    const uint32_t number = sleep_items_[k];
    SleepEntry& entry = sleep_entries_[number];
    const EventRecord& sleeper = pool_[entry.event];
    if (sleeper.thread == event.thread && EventPool::SameChoices(sleeper, event) &&
        (!kWithMutants || options_.mutation == Mutation::kNone)) {
      SetError("step " + std::to_string(position) + ": a sleeping event was taken again: " +
               Describe(event));
    }
    if (SleeperWakes(sleeper, event)) {
      entry.first_waker = static_cast<uint32_t>(position);
    } else {
      entry.first_waker = kNoPosition;
      sleep_items_.push_back(number);
    }
  }
  to.sleep_end = static_cast<uint32_t>(sleep_items_.size());
}

// The sifting of 2.2: node `position` hands its new child every request that can begin with it.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::HandDown(size_t position) {
  const EventRecord& event = path_.record(position);
  RequestId* at = &nodes_[position].requests;
  RequestId* target = &nodes_[position + 1].requests;
  while (*at != kNoRequest) {
    const RequestId id = *at;
    int answer = WeakInitial(event, requests_[id]);
    if (Mutated(Mutation::kNoWiInsert) && answer == kAtNone) answer = kNo;
    if (answer == kNo) {
      at = &requests_[id].next;
      continue;
    }
    *at = requests_[id].next;
    requests_.Unlist(id);
    if (answer == kAtNone || requests_[id].length() == 1) {
      requests_.Destroy(id);
      continue;
    }
    requests_.RemoveEvent(id, static_cast<uint32_t>(answer));
    requests_.Insert(id, static_cast<uint32_t>(position + 1), target);
  }
  if (Mutated(Mutation::kPrefixAbsorbs)) AbsorbLonger(nodes_[position + 1]);
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::DiscardRequests(Node& node) {
  while (node.requests != kNoRequest) {
    const RequestId id = node.requests;
    node.requests = requests_[id].next;
    requests_.Unlist(id);
    requests_.Destroy(id);
  }
}

// -- Weak initials (2.3) -------------------------------------------------------------------------

template <bool kWithMutants>
int OptimalSearch<kWithMutants>::WeakInitial(const EventRecord& s, std::span<const EventId> v,
                                             bool skip_last) const {
  const size_t length = v.size() - (skip_last ? 1 : 0);
  size_t k = 0;
  while (k < length && pool_[v[k]].thread != s.thread) ++k;
  if (k < length) {
    const EventRecord& own = pool_[v[k]];
    if (!SameChoices(s, own)) return kNo;
    const EventRecord& f = own.exact ? own : s;
    for (size_t m = 0; m < k; ++m) {
      if (pool_.Conflict(f, pool_[v[m]])) return kNo;
    }
    return static_cast<int>(k);
  }
  for (size_t m = 0; m < length; ++m) {
    if (pool_.Conflict(s, pool_[v[m]])) return kNo;
  }
  return kAtNone;
}

// The same, with the request's summaries asked first.
template <bool kWithMutants>
int OptimalSearch<kWithMutants>::WeakInitial(const EventRecord& s, const Request& request) const {
  const std::span<const EventId> v = request.events();
  const EventRecord& first = pool_[v[0]];
  if (first.thread == s.thread) return SameChoices(s, first) ? 0 : kNo;
  const bool may_conflict = s.universal || request.summary.MayConflict(s.summary);
  if ((request.threads & ThreadBit(s.thread)) == 0 && !may_conflict) return kAtNone;
  return WeakInitial(s, v, false);
}

// -- The analysis (2.4) --------------------------------------------------------------------------

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::Analyse(const sched::Trace& trace) {
  size_t begin = Mutated(Mutation::kOnlyNew) && branch_depth_ < path_.size()
                     ? path_.first_pair(branch_depth_)
                     : 0;
  std::vector<Pair>& pairs = path_.pairs();
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
  const uint32_t last = std::max(pair.second, path_.LastNotAfter(pair.first));
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
    const ThreadId q = static_cast<ThreadId>(t);
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
    const uint32_t choices = std::max<uint32_t>(sleeper.choice_count,
                                                static_cast<uint32_t>(q.choices.size()));
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
  return q_is_own ||
         !(q.summary.MayConflict(summary) && RangesConflict(q.ranges, footprint));
}

// Inserts the sequence that `reversal_` has built at node i (2.2).
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::InsertSequence(uint32_t i) {
  if constexpr (!kWithMutants) {
    if (Covered(i)) {
      ++counters_.covered;
      return;
    }
  }
  EventModel& model = reversal_.model();
  const PlannedEvent& q = reversal_.q_prime();
  const std::vector<uint32_t>& after = model.After();
  const size_t count = model.after_count();
  const RequestId id = requests_.Create(static_cast<uint32_t>(count) + 1);
  for (size_t k = 0; k < count; ++k) {
    pool_.AddReference(path_.event(after[k]));
    requests_.Append(id, path_.event(after[k]));
  }
  if (q.same_as != kNoEvent) {
    pool_.AddReference(q.same_as);
    requests_.Append(id, q.same_as);
  } else {
    requests_.Append(id, pool_.Create(q.thread, q.index, q.exact, false, q.ranges, q.choices));
  }
  Node& node = nodes_[i];
  if constexpr (kWithMutants) {
    // The test as printed, and the mistakes in it.
    bool covered = false;
    for (uint32_t k = node.sleep_begin; k < node.sleep_end && !covered; ++k) {
      const EventRecord& s = pool_[sleep_entries_[sleep_items_[k]].event];
      const int answer =
          WeakInitial(s, requests_[id].events(), Mutated(Mutation::kIgnoreLast));
      covered = answer != kNo && !(Mutated(Mutation::kNoWiSleep) && answer == kAtNone);
    }
    if (options_.mutation == Mutation::kNone && covered != Covered(i)) {
      SetError("the fast insertion test says " + std::string(covered ? "no" : "yes"));
    }
    const bool is_alternative = q.thread == path_.thread(i);
    if (Mutated(Mutation::kNoSleepTest) ||
        (Mutated(Mutation::kChoiceUntested) && is_alternative)) {
      covered = false;
    }
    if (covered) {
      ++counters_.covered;
      requests_.Destroy(id);
      return;
    }
  }
  if (requests_.Insert(id, i, &node.requests)) {
    ++counters_.inserted;
  } else {
    ++counters_.same;
  }
  if (Mutated(Mutation::kPrefixAbsorbs)) AbsorbLonger(node);
}

// For the mutant `prefix-absorbs`: drops every request of the node that begins with another one.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::AbsorbLonger(Node& node) {
  auto begins_with = [&](RequestId longer, RequestId shorter) {
    const auto v = requests_[longer].events(), w = requests_[shorter].events();
    bool prefix = longer != shorter && w.size() <= v.size();
    for (size_t k = 0; prefix && k < w.size(); ++k) {
      const EventRecord &a = pool_[w[k]], &b = pool_[v[k]];
      prefix = a.thread == b.thread && a.index == b.index && EventPool::SameChoices(a, b);
    }
    return prefix;
  };
  for (RequestId* at = &node.requests; *at != kNoRequest;) {
    const RequestId longer = *at;
    bool absorbed = false;
    for (RequestId r = node.requests; r != kNoRequest; r = requests_[r].next) {
      absorbed = absorbed || begins_with(longer, r);
    }
    if (!absorbed) {
      at = &requests_[longer].next;
      continue;
    }
    *at = requests_[longer].next;
    requests_.Unlist(longer);
    requests_.Destroy(longer);
  }
}

// -- Estimates (10) ------------------------------------------------------------------------------

template <bool kWithMutants>
uint64_t OptimalSearch<kWithMutants>::LowerBound() const {
  uint64_t bound = runs();
  for (const Node& node : nodes_) bound += node.requests != kNoRequest ? 1 : 0;
  return bound;
}

// Goes up from the leaf: to the total below a node belong its finished children, the current child,
// and for each request the mean of the children's totals.
template <bool kWithMutants>
double OptimalSearch<kWithMutants>::Estimate() const {
  if (complete_ || runs() == 0) return static_cast<double>(runs());
  double total = 1;
  for (size_t depth = path_.size(); depth-- > 0;) {
    const Node& node = nodes_[depth];
    const double below = static_cast<double>(runs() - node.runs_before);
    const double below_child = static_cast<double>(runs() - nodes_[depth + 1].runs_before);
    const double finished = below - below_child;
    double planned = 0;
    for (RequestId r = node.requests; r != kNoRequest; r = requests_[r].next) ++planned;
    const double mean = (finished + total) / (node.finished_children + 1);
    total += finished + planned * std::max(1.0, mean);
  }
  return total;
}

}  // namespace mc::dpor

#endif  // MC_DPOR_ODPOR_IMPL_H_
