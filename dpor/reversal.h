// Reversal: builds the reversal sequence D(i).q' of a pair (spec optimal-dpor 2.5).
//
// Start() fixes i, the thread q and, if it is not blocked at the end, its event j. It says whether
// q can run after prefix(i).D at all, and if so leaves in `q_prime()` the certain prefix of q's
// block in its new place: the accesses and choices of e_j up to the first value that may be another
// one, or q's pending footprint.
//
// kWithMutants adds the deliberate mistakes of mutation.h; the product uses Reversal<false>.
#ifndef MC_DPOR_REVERSAL_H_
#define MC_DPOR_REVERSAL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "dpor/event_model.h"
#include "dpor/mutation.h"
#include "dpor/path.h"

namespace mc::dpor {

// An event that may not have happened yet: the last one of a sequence.
struct PlannedEvent {
  sched::ThreadId thread = sched::kNoThread;
  uint32_t index = 0;
  bool exact = false;
  std::vector<uint32_t> choices;
  std::vector<Range> ranges;  // normalised
  Summary summary;
  // The event of the path that it equals, if it does.
  EventId same_as = kNoEvent;

  void SummariseRanges() {
    summary = Summary();
    for (const Range& r : ranges) summary.Add(r);
  }
};

template <bool kWithMutants>
class Reversal {
 public:
  explicit Reversal(Path& path) : path_(path), model_(path) {}

  void set_mutation(Mutation mutation) { mutation_ = mutation; }
  EventModel& model() { return model_; }
  const PlannedEvent& q_prime() const { return q_prime_; }

  // q = the thread of the event at j.
  bool StartPair(const Pair& pair, const sched::Trace& trace) {
    const uint32_t j = pair.second;
    const sched::Event& e = trace.events[j];
    model_.Begin(pair.first);
    if (Mutated(Mutation::kNotDepTruncated)) model_.Truncate(j);
    const uint32_t previous = path_.Previous(e.thread, e.index);
    sched::Operation now;
    if (!Settle(e.operation, e.thread, previous, j, trace.SpinCellsOf(e), trace, &now)) {
      return false;
    }
    PendingRanges(now, e.thread, path_.alive_modelled(), &pending_);
    if (pair.kind == PairKind::kWait && !ConflictsWithFirst(pending_)) return false;
    CopyCertainPrefix(trace, j, pair.kind == PairKind::kWait);
    return true;
  }

  // q = `thread`, blocked at the end.
  bool StartBlocked(uint32_t i, sched::ThreadId thread, const sched::Trace& trace) {
    const sched::ThreadEnd& end = trace.ends[thread];
    model_.Begin(i);
    const uint32_t previous = path_.Previous(thread, end.events);
    sched::Operation now;
    const uint32_t length = static_cast<uint32_t>(path_.size());
    // The count of a semaphore that nobody has changed is known only by this thread's waiting.
    if (end.pending.kind == sched::OperationKind::kSemaphoreWait && !end.enabled &&
        !model_.EverChanged(end.pending.object)) {
      return false;
    }
    if (!Settle(end.pending, thread, previous, length, trace.SpinCellsOf(end), trace, &now)) {
      return false;
    }
    PendingRanges(now, thread, path_.alive_modelled(), &q_prime_.ranges);
    if (!ConflictsWithFirst(q_prime_.ranges)) return false;
    q_prime_.thread = thread;
    q_prime_.index = end.events;
    q_prime_.exact = false;
    q_prime_.choices.clear();
    q_prime_.same_as = kNoEvent;
    q_prime_.SummariseRanges();
    return true;
  }

  // The event at i with value `value` at its choice number `choice`, instead of e_i.
  void StartChoice(const sched::Trace& trace, uint32_t i, uint32_t choice, uint32_t value) {
    const sched::Event& e = trace.events[i];
    const auto choices = trace.ChoicesOf(e);
    model_.Begin(i);
    q_prime_.thread = e.thread;
    q_prime_.index = e.index;
    q_prime_.exact = false;  // what follows the choice is not known
    q_prime_.same_as = kNoEvent;
    q_prime_.choices.clear();
    for (uint32_t k = 0; k < choice; ++k) q_prime_.choices.push_back(choices[k].value);
    q_prime_.choices.push_back(value);
    q_prime_.ranges.clear();
    const auto accesses = trace.AccessesOf(e);
    for (uint32_t k = 0; k < choices[choice].position; ++k) AppendAccess(accesses[k], 0xff);
    Normalise(&q_prime_.ranges);
    q_prime_.SummariseRanges();
  }

 private:
  bool Mutated(Mutation m) const {
    if constexpr (kWithMutants) return mutation_ == m;
    return false;
  }

  // Finds an S in which q is enabled, dropping readers if need be; *now is what q does first there.
  bool Settle(const sched::Operation& operation, sched::ThreadId q, uint32_t previous, uint32_t j,
              std::span<const sched::CellRange> spin_cells, const sched::Trace& trace,
              sched::Operation* now) {
    while (true) {
      if (!model_.Exists(q, previous)) return false;
      *now = model_.OperationIn(operation, q, previous, j);
      if (Mutated(Mutation::kCoEnabled)) return true;
      if (model_.Enabled(*now, q, previous, spin_cells, trace)) return true;
      if (Mutated(Mutation::kCoDisabler) || !model_.DropReaders(*now)) return false;
    }
  }

  bool ConflictsWithFirst(const std::vector<Range>& ranges) const {
    if (Mutated(Mutation::kPendingCertain)) return true;
    return RangesConflict(path_.record(model_.first()).footprint(), ranges);
  }

  void AppendAccess(const sched::MicroAccess& a, uint32_t modes) {
    if (IsLookedAt(a)) q_prime_.ranges.push_back({a.begin, a.size, a.mode & modes});
  }

  // What is certain of the first access that may turn out otherwise.
  void AppendAffected(const sched::MicroAccess& a) {
    const bool finds_value = (a.flags & sched::kValueRelevant) != 0;
    AppendAccess(a, finds_value ? uint32_t{sched::kRead} : 0xffu);
    // Where another block is, or was, at that address, a free goes as far as that one.
    if ((a.flags & sched::kFree) != 0 && IsLookedAt(a)) q_prime_.ranges.back().size = 1;
  }

  // Is [begin, end) wholly overwritten by the block's first `count` accesses?
  static bool Overwritten(std::span<const sched::MicroAccess> accesses, size_t count,
                          sched::Cell begin, sched::Cell end) {
    while (begin < end) {
      bool found = false;
      for (size_t k = 0; k < count && !found; ++k) {
        const sched::MicroAccess& a = accesses[k];
        found = (a.mode & sched::kWrite) != 0 && (a.flags & sched::kRelative) == 0 &&
                a.begin <= begin && begin < a.end();
        if (found) begin = a.end();
      }
      if (!found) return false;
    }
    return true;
  }

  // Can the value that access `k` of the block finds be another one if the event at `missing` has
  // not happened? Of one that finds no value: can it fail, or not fail, for the life of its memory,
  // or for what may be done there (mprotect)?
  bool Affected(const sched::Trace& trace, std::span<const sched::MicroAccess> accesses, size_t k,
                uint32_t missing) const {
    const sched::MicroAccess& a = accesses[k];
    constexpr uint16_t kLifetime = sched::kAllocation | sched::kFree | sched::kObjectBytes;
    const bool finds_value = (a.flags & sched::kValueRelevant) != 0;
    for (const sched::MicroAccess& w : trace.AccessesOf(trace.events[missing])) {
      if ((w.mode & (sched::kWrite | sched::kAdd)) == 0) continue;
      if (!finds_value && (w.flags & kLifetime) == 0) continue;
      const sched::Cell begin = std::max(w.begin, a.begin), end = std::min(w.end(), a.end());
      if (begin < end && !Overwritten(accesses, k, begin, end)) return true;
    }
    return false;
  }

  // Is an event from i to j that can change what access `k` finds missing from S?
  bool AnyMissing(const sched::Trace& trace, std::span<const sched::MicroAccess> accesses, size_t k,
                  uint32_t j, bool only_first) {
    const uint32_t i = model_.first();
    const uint64_t read = BitsOf({accesses[k].begin, accesses[k].size, sched::kRead});
    if ((path_.Written(trace, i) & read) != 0 && Affected(trace, accesses, k, i)) return true;
    if (only_first) return false;
    for (uint32_t m = i + 1; m < j; ++m) {
      if ((path_.Written(trace, m) & read) == 0 || model_.Contains(m)) continue;
      if (Affected(trace, accesses, k, m)) return true;
    }
    return false;
  }

  // May what access `a` finds be another thing if events before it are missing?
  static bool MayBeAffected(const sched::MicroAccess& a) {
    return (a.flags & sched::kValueRelevant) != 0 || sched::IsMemory(a.begin);
  }

  // The first access of e_j that finds something else because of what is missing from S (but for i
  // nothing, if `only_first`); the number of accesses if there is none.
  size_t FirstAffected(const sched::Trace& trace, std::span<const sched::MicroAccess> accesses,
                       uint32_t j, bool only_first) {
    for (size_t k = 0; k < accesses.size(); ++k) {
      if (MayBeAffected(accesses[k]) && AnyMissing(trace, accesses, k, j, only_first)) return k;
    }
    return accesses.size();
  }

  // The same if only e_i is missing; for events of few accesses.
  size_t FirstAffectedByFirst(const sched::Trace& trace,
                              std::span<const sched::MicroAccess> accesses) const {
    const uint32_t i = model_.first();
    size_t stop = accesses.size();
    for (const sched::MicroAccess& w : trace.AccessesOf(trace.events[i])) {
      if ((w.mode & (sched::kWrite | sched::kAdd)) == 0) continue;
      for (size_t k = 0; k < stop; ++k) {
        const sched::MicroAccess& a = accesses[k];
        if (a.Overlaps(w) && MayBeAffected(a) && Affected(trace, accesses, k, i)) stop = k;
      }
    }
    return stop;
  }

  void CopyCertainPrefix(const sched::Trace& trace, uint32_t j, bool is_wait) {
    const sched::Event& e = trace.events[j];
    const auto accesses = trace.AccessesOf(e);
    const auto choices = trace.ChoicesOf(e);
    q_prime_.thread = e.thread;
    q_prime_.index = e.index;
    // Of a race, nothing between i and j is missing that e_j depends on, but for what was dropped.
    const bool only_first = !is_wait && !model_.any_dropped();
    // Of many accesses, most are told apart by a hash (AnyMissing).
    constexpr size_t kFew = 256;
    const bool few = trace.events[model_.first()].access_count * accesses.size() <= kFew;
    const size_t stop = Mutated(Mutation::kStaleFull) ? accesses.size()
                        : only_first && few           ? FirstAffectedByFirst(trace, accesses)
                                            : FirstAffected(trace, accesses, j, only_first);
    q_prime_.choices.clear();
    if (stop == accesses.size()) {
      q_prime_.exact = true;
      q_prime_.same_as = path_.event(j);
      const EventRecord& record = path_.record(j);
      q_prime_.summary = record.summary;
      q_prime_.ranges.assign(record.ranges, record.ranges + record.range_count);
      for (const sched::Choice& c : choices) q_prime_.choices.push_back(c.value);
      return;
    }
    q_prime_.exact = false;
    q_prime_.same_as = kNoEvent;
    q_prime_.ranges = pending_;
    for (size_t k = 0; k < stop; ++k) AppendAccess(accesses[k], 0xff);
    AppendAffected(accesses[stop]);
    for (const sched::Choice& c : choices) {
      if (c.position <= stop) q_prime_.choices.push_back(c.value);
    }
    Normalise(&q_prime_.ranges);
    q_prime_.SummariseRanges();
  }

  Path& path_;
  EventModel model_;
  Mutation mutation_ = Mutation::kNone;
  PlannedEvent q_prime_;
  std::vector<Range> pending_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_REVERSAL_H_
