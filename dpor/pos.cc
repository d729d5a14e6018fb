#include "dpor/pos.h"

#include <algorithm>

#include "dpor/event_model.h"

namespace mc::dpor {

using sched::ThreadId;

namespace {

// How many footprints are kept; then all are forgotten.
constexpr size_t kMostFootprints = size_t{1} << 16;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

uint64_t HashOfBlock(const sched::Trace& trace, const sched::Event& event) {
  uint64_t hash = Mix(event.thread + uint64_t{1}, static_cast<uint64_t>(event.operation.kind));
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    hash = Mix(Mix(Mix(hash, a.begin), a.pc), uint64_t{a.size} << 8 | a.mode);
  }
  for (const sched::Choice& c : trace.ChoicesOf(event)) hash = Mix(hash, c.value);
  return hash;
}

}  // namespace

bool PartialOrderSampling::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  resumed_ = false;
  standings_.clear();
  observed_ = 0;
  return runs() < limit_;
}

PartialOrderSampling::Standing& PartialOrderSampling::StandingOf(ThreadId thread) {
  while (standings_.size() <= thread) {
    const uint64_t name = Mix(standings_.size() + 1, 0);
    standings_.push_back({.past = name, .last = name});
  }
  return standings_[thread];
}

ThreadId PartialOrderSampling::Next(const sched::Trace& trace, const sched::StateView& state) {
  for (; observed_ < trace.size(); ++observed_) Observe(trace, trace.events[observed_]);
  ThreadId best = sched::kAbandon;
  for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
    const auto thread = static_cast<ThreadId>(t);
    Standing& standing = StandingOf(thread);
    standing.enabled = state.IsEnabled(thread);
    if (!standing.enabled) continue;
    standing.pending = state.Pending(thread);
    while (standing.priority == 0) standing.priority = random_.NextRandom();
    if (best == sched::kAbandon || standing.priority > standings_[best].priority) best = thread;
  }
  return best;
}

uint32_t PartialOrderSampling::NextChoice(size_t, uint32_t, uint32_t arity) {
  return static_cast<uint32_t>(random_.NextRandom() % arity);
}

void PartialOrderSampling::EndExecution(const sched::Trace& trace) {
  for (; observed_ < trace.size(); ++observed_) Observe(trace, trace.events[observed_]);
  Count(trace);
}

// Takes away the priorities that the event, which has just run, decided about.
void PartialOrderSampling::Observe(const sched::Trace& trace, const sched::Event& event) {
  ranges_.clear();
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    if (IsLookedAt(a)) ranges_.push_back({a.begin, a.size, a.mode});
  }
  Normalise(&ranges_);
  const EventId id =
      pool_.Create(event.thread, 0, true, sched::DependsOnAll(event.operation.kind), ranges_, {});
  Standing& self = StandingOf(event.thread);
  for (size_t t = 0; t < standings_.size(); ++t) {
    Standing& other = standings_[t];
    if (other.enabled && &other != &self && IsExpectedToRace(pool_[id], static_cast<ThreadId>(t))) {
      other.priority = 0;
    }
  }
  self.priority = 0;
  const auto kind = static_cast<uint64_t>(event.operation.kind);
  if (after_past_.size() >= kMostFootprints) ForgetAll(&after_past_);
  if (after_last_.size() >= kMostFootprints) ForgetAll(&after_last_);
  Remember(&after_past_, Mix(self.past, kind), id);
  Remember(&after_last_, Mix(self.last, kind), id);
  pool_.Release(id);
  self.last = HashOfBlock(trace, event);
  self.past = Mix(self.past, self.last);
}

bool PartialOrderSampling::IsExpectedToRace(const EventRecord& event, ThreadId thread) {
  const Standing& standing = standings_[thread];
  const EventId expected = Expected(standing, standing.pending.kind);
  if (expected != kNoEvent && pool_.Conflict(event, pool_[expected])) return true;
  PendingRanges(standing.pending, thread, false, &ranges_);
  return RangesConflict(event.footprint(), ranges_);
}

EventId PartialOrderSampling::Expected(const Standing& standing, sched::OperationKind kind) const {
  auto found = after_past_.find(Mix(standing.past, static_cast<uint64_t>(kind)));
  if (found != after_past_.end()) return found->second;
  found = after_last_.find(Mix(standing.last, static_cast<uint64_t>(kind)));
  return found != after_last_.end() ? found->second : kNoEvent;
}

void PartialOrderSampling::Remember(Footprints* footprints, uint64_t key, EventId id) {
  const auto [entry, is_new] = footprints->try_emplace(key, id);
  pool_.AddReference(id);
  if (is_new) return;
  pool_.Release(entry->second);
  entry->second = id;
}

void PartialOrderSampling::ForgetAll(Footprints* footprints) {
  for (const auto& [key, id] : *footprints) pool_.Release(id);
  footprints->clear();
}

}  // namespace mc::dpor
