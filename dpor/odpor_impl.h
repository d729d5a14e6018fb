// Definitions of OptimalSearch (odpor.h), but for the analysis (odpor_analysis_impl.h) and for what
// it says to other workers (odpor_sharing_impl.h); included only where the template is
// instantiated.
#ifndef MC_DPOR_ODPOR_IMPL_H_
#define MC_DPOR_ODPOR_IMPL_H_

#include <algorithm>
#include <cmath>
#include <string>

#include "dpor/odpor.h"
#include "dpor/odpor_analysis_impl.h"
#include "dpor/odpor_sharing_impl.h"

namespace mc::dpor {

using sched::ThreadId;

template <bool kWithMutants>
OptimalSearch<kWithMutants>::OptimalSearch(const OptimalSearchOptions& options)
    : options_(options),
      free_run_(options.policy, options.seed),
      path_(pool_),
      requests_(pool_),
      queues_(pool_, requests_),
      spilled_(pool_, requests_),
      reversal_(path_) {
  nodes_.emplace_back();
  if constexpr (kWithMutants) {
    reversal_.set_mutation(options.mutation);
    requests_.forget_nothing = Mutated(Mutation::kStaleSame);
    queues_.lead_inexact = Mutated(Mutation::kLeadInexact);
    queues_.absorb_inexact = Mutated(Mutation::kAbsorbInexact);
  }
}

template <bool kWithMutants>
OptimalSearch<kWithMutants>::~OptimalSearch() {
  if (budget_ != nullptr) budget_->used -= counted_bytes_;
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
  if (!has_item_ || !Backtrack()) {
    if (link_ != nullptr) return TakeItem();
    complete_ = true;
    return false;
  }
  *keep = resumed_ ? 0 : branch_depth_;
  return error_.empty();
}

// Takes the path back to its deepest node that has a request, and makes that request the plan.
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::Backtrack() {
  size_t depth = EndOfRequests();
  if (depth == own_from_) return false;
  --depth;
  for (size_t d = depth; d < path_.size(); ++d) {  // the plans that are finished with this
    if (nodes_[d].plan_end == 0) continue;
    length_table_.Add(TypicalLength() - nodes_[d].plan_end, nodes_[d].plans,
                      OwnRuns() - nodes_[d + 1].runs_before);
  }
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
  branch_depth_ = depth;
  FollowRequest(static_cast<uint32_t>(depth));
  return true;
}

// Adds a request of the node at `depth` to the plan.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::FollowRequest(uint32_t depth) {
  Node& node = nodes_[depth];
  while (node.requests.empty() && node.spilled != SpilledRequests::kNone) {
    spilled_.LoadChunk(&node.spilled, depth, &node.requests.others);
  }
  if (spilled_.failed()) {
    SetError(kSpillFailed);
    return;
  }
  RequestId chosen = node.requests.front();
  if (Mutated(Mutation::kOthersFirst) && node.requests.others != kNoRequest) {
    chosen = node.requests.others;
  }
  if (options_.oldest_request_first && node.requests.leading == kNoRequest) {
    while (requests_[chosen].next != kNoRequest) chosen = requests_[chosen].next;
  }
  for (const EventId e : requests_[chosen].events()) {
    pool_.AddReference(e);
    plan_.push_back(e);
  }
  if constexpr (kWithMutants) requests_.ForgetDeeperThan(depth);
  node.plan_end = static_cast<uint32_t>(branch_depth_ + plan_.size());
  node.plans = 0;
}

// -- While an execution runs ---------------------------------------------------------------------

template <bool kWithMutants>
ThreadId OptimalSearch<kWithMutants>::Next(const sched::Trace& trace,
                                           const sched::StateView& state) {
  const size_t position = trace.size();
  if (position >= branch_depth_ + plan_.size()) return free_run_.Pick(state);
  following_ = position < branch_depth_ ? path_.event(position) : plan_[position - branch_depth_];
  const ThreadId thread = pool_[following_].thread;
  if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
  SetStepError(position,
               "expected " + Describe(pool_[following_]) + ", but that thread cannot run");
  return sched::kAbandon;
}

template <bool kWithMutants>
uint32_t OptimalSearch<kWithMutants>::NextChoice(size_t position, uint32_t index, uint32_t arity) {
  if (position >= branch_depth_ + plan_.size()) return 0;
  const EventRecord& e = pool_[following_];
  const uint32_t value = index < e.choice_count ? e.choices[index] : 0;
  if (value < arity) return value;
  SetStepError(position, "choice " + std::to_string(index) + " of " + Describe(e) +
                             " now has only " + std::to_string(arity) + " alternatives");
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
  Count(trace);
  if (!error_.empty()) return;
  if (resumed_) CheckReplayed(trace);
  resumed_ = false;
  const size_t plan_end = branch_depth_ + plan_.size();
  if (error_.empty() && trace.size() < plan_end) {
    SetStepError(trace.size(), "the execution ended, but one that it repeats went on");
  }
  if (!error_.empty()) return;
  for (size_t p = branch_depth_; p < trace.size(); ++p) {
    const EventId planned = p < plan_end ? plan_[p - branch_depth_] : kNoEvent;
    path_.Extend(trace, planned);
    if (planned != kNoEvent && !CheckPlanned(trace, p)) return;
    if (takes_over_) EnterSleepersOf(p);
    nodes_.emplace_back();
    nodes_[p + 1].first_entry = static_cast<uint32_t>(sleep_entries_.size());
    nodes_[p + 1].runs_before = OwnRuns() - 1;
    PassSleepers(p);
    if (!error_.empty()) return;
    if (p + 1 != plan_end) continue;
    if (takes_over_) {
      TakeOver(plan_end);
    } else {
      HandDown(branch_depth_, plan_end);
    }
    if (plan_end < trace.size() && !CheckAllAwake(plan_end)) return;
  }
  Analyse(trace);
  if (has_requests_to_tell_) TellRequests();
  if (budget_ != nullptr) KeepToBudget();
}

// After a suspension the whole path was executed again: is it what it was?
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::CheckReplayed(const sched::Trace& trace) {
  std::vector<Range> ranges;
  bool universal;
  for (size_t p = 0; p < branch_depth_; ++p) {
    if (p >= trace.size()) {
      SetStepError(p, "expected " + Describe(path_.record(p)) + ", but the execution ended");
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
    SetStepError(p, "expected " + Describe(expected) + ", found " + Describe(found));
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
    SetStepError(position, std::string("expected ") + (planned.exact ? "" : "at least ") +
                               Describe(planned) + ", found " + Describe(found));
  }
  return fits;
}

// Where a request ends nobody sleeps (2.6).
template <bool kWithMutants>
bool OptimalSearch<kWithMutants>::CheckAllAwake(size_t position) {
  const Node& node = nodes_[position];
  if (node.sleep_begin == node.sleep_end) return true;
  const EventId sleeper = sleep_entries_[sleep_items_[node.sleep_begin]].event;
  SetStepError(position, "still asleep at the end of a request: " + Describe(pool_[sleeper]));
  return false;
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
      SetStepError(position, "a sleeping event was taken again: " + Describe(event));
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

// The sifting of 2.2, for the nodes from `first` on, the only one of them with requests, to `end`:
// each request goes down as far as it can begin with what the path takes.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::HandDown(size_t first, size_t end) {
  RequestQueue& queue = nodes_[first].requests;
  for (RequestId* at : {&queue.leading, &queue.others}) {
    while (*at != kNoRequest) {
      const int answer = BeginsWith(first, *at);
      if (answer == kNotInitial) {
        // Nothing begins with an event that an earlier one begins with, if both lead.
        if (!kWithMutants && at == &queue.leading) break;
        at = &requests_[*at].next;
      } else {
        HandOver(queues_.Take(at), answer, first, end);
      }
    }
  }
  if (nodes_[first].spilled != SpilledRequests::kNone) HandDownSpilled(first, end);
}

// The same for those of the node that are in chunks.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::HandDownSpilled(size_t first, size_t end) {
  auto too_much = [this] {
    CountMemory();
    return budget_->used > budget_->limit;
  };
  Node& node = nodes_[first];
  const auto take = [&](RequestId id) {
    const int answer = BeginsWith(first, id);
    if (answer == kNotInitial) return false;
    Node& below = nodes_[HandOver(id, answer, first, end)];
    if (too_much()) {
      budget_->spilled_requests += spilled_.Spill(&below.requests.others, &below.spilled, too_much);
    }
    return true;
  };
  spilled_.Sift(&node.spilled, static_cast<uint32_t>(first), &node.requests.others, take);
}

// Can a request of node `position` begin with the event that the path takes there? As WeakInitial.
template <bool kWithMutants>
int OptimalSearch<kWithMutants>::BeginsWith(size_t position, RequestId id) const {
  const int answer = IsInitial(path_.record(position), requests_[id]);
  return Mutated(Mutation::kNoWiInsert) && answer == kInitialAtNone ? kNotInitial : answer;
}

// `answer`: how the request, which is in no list, can begin with what the path takes at `position`.
// What is left of it goes to the node from which it cannot go on, and is dropped if that is `end`:
// a request ended there, and the free run below it explores all that this one would. Returns that
// node.
template <bool kWithMutants>
size_t OptimalSearch<kWithMutants>::HandOver(RequestId id, int answer, size_t position,
                                             size_t end) {
  for (; answer != kNotInitial; answer = BeginsWith(position, id)) {
    ++nodes_[position].plans;
    const bool is_over = answer == kInitialAtNone || requests_[id].length() == 1;
    if (is_over || ++position == end) {
      requests_.Destroy(id);
      return end;
    }
    requests_.RemoveEvent(id, static_cast<uint32_t>(answer));
  }
  const auto depth = static_cast<uint32_t>(position);
  queues_.Put(id, PlaceOf(requests_[id].events(), depth), depth, &nodes_[position].requests);
  return position;
}

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::DiscardRequests(Node& node) {
  spilled_.Discard(&node.spilled);
  queues_.Clear(&node.requests);
}

// -- Memory (3.5) --------------------------------------------------------------------------------

template <bool kWithMutants>
void OptimalSearch<kWithMutants>::LimitMemory(SpillStore* store, SpillBudget* budget) {
  spilled_.set_store(store);
  budget_ = budget;
}

// Brings what this search takes in the budget up to date. The events of the path are not counted:
// they are needed, and are as many as an execution is long.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::CountMemory() {
  const size_t live = pool_.live();
  const size_t others = live - std::min(live, path_.size());
  const size_t mean = live == 0 ? 0 : pool_.used_bytes() / live;
  const uint64_t bytes = requests_.used_bytes() + others * mean;
  budget_->used += bytes - counted_bytes_;
  counted_bytes_ = bytes;
}

// Spills, if the budget is exceeded, until half of it is free again: of the shallowest nodes first,
// which are needed last.
template <bool kWithMutants>
void OptimalSearch<kWithMutants>::KeepToBudget() {
  CountMemory();
  if (spilled_.failed()) SetError(kSpillFailed);
  if (budget_->used <= budget_->limit || budget_->used < spill_again_at_) return;
  auto go_on = [this] {
    CountMemory();
    return budget_->used > budget_->limit / 2;
  };
  uint64_t moved = 0;
  for (size_t d = own_from_; d < nodes_.size() && go_on(); ++d) {
    moved += spilled_.Spill(&nodes_[d].requests.others, &nodes_[d].spilled, go_on);
  }
  budget_->spilled_requests += moved;
  // Nothing can be done, or the store has no room: not tried again after every execution.
  spill_again_at_ = moved == 0 ? budget_->used + budget_->used / 8 : 0;
}

// -- Estimates (10) ------------------------------------------------------------------------------

template <bool kWithMutants>
uint64_t OptimalSearch<kWithMutants>::LowerBound() const {
  uint64_t bound = runs();
  for (size_t d = own_from_; d < nodes_.size(); ++d) {
    bound += nodes_[d].HasRequests() ? 1 : 0;
  }
  return bound;
}

// Goes up from the leaf: to the total below a node belong its finished children, the current child,
// and a prediction for each planned child. Requests with the same first event make one child. Its
// prediction is the geometric mean of two: what finished plans of the remaining lengths had; and
// the mean of the node's children so far, but at least one execution for each request.
template <bool kWithMutants>
double OptimalSearch<kWithMutants>::Estimate() const {
  if (complete_ || runs() == 0 || own_from_ >= nodes_.size()) return static_cast<double>(runs());
  struct Planned {
    uint64_t identity;
    double requests, by_length;
  };
  std::vector<Planned> children;
  const double typical_length = TypicalLength();
  const uint64_t in_item = OwnRuns() - nodes_[own_from_].runs_before;
  const double elsewhere = static_cast<double>(runs() - in_item);
  double total = 1;
  for (size_t depth = path_.size(); depth-- > own_from_;) {
    const Node& node = nodes_[depth];
    const double below = static_cast<double>(OwnRuns() - node.runs_before);
    const double below_child = static_cast<double>(OwnRuns() - nodes_[depth + 1].runs_before);
    const double finished = below - below_child;
    const double mean = (finished + total) / (node.finished_children + 1);
    children.clear();
    auto add = [&](uint64_t identity, double requests, double length) {
      const double end = static_cast<double>(depth) + length;
      const double by_length = requests * length_table_.Predict(typical_length - end);
      auto child = std::ranges::find(children, identity, &Planned::identity);
      if (child == children.end()) {
        children.push_back({identity, requests, by_length});
      } else {
        child->requests += requests;
        child->by_length += by_length;
      }
    };
    queues_.ForEach(node.requests, [&](RequestId r) {
      add(pool_[requests_[r].events()[0]].identity, 1, requests_[r].length());
    });
    spilled_.ForEachBeginning(node.spilled, [&](const SpilledRequests::Beginning& b) {
      const auto requests = static_cast<double>(b.requests);
      add(b.identity, requests, static_cast<double>(b.events) / requests);
    });
    total += finished;
    for (const Planned& c : children) {
      total += std::sqrt(c.by_length * std::max(c.requests, mean));
    }
  }
  return elsewhere + total;
}

}  // namespace mc::dpor

#endif  // MC_DPOR_ODPOR_IMPL_H_
