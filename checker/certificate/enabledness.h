// Enabledness: could a thread run after some events of a trace, told from what is recorded alone
// (spec optimal-dpor 1.5 and 2.5). Written from the specification; the search has its own.
#ifndef MC_CHECKER_CERTIFICATE_ENABLEDNESS_H_
#define MC_CHECKER_CERTIFICATE_ENABLEDNESS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "checker/certificate/causal_order.h"
#include "checker/certificate/recorded_trace.h"

namespace mc::checker {

// A set of events of the current trace that contains all that happens before each of them, taken in
// the order of the trace.
class Cut {
 public:
  explicit Cut(const CausalOrder& order) : order_(order) {}

  // The first `length` events.
  void TakePrefix(size_t length);
  // The next event, after a prefix.
  void Add(size_t position) {
    contains_[position] = 1;
    ++counts_[order_.event(position).thread];
  }
  // prefix(i).D(i): the events before position i, and all later ones that do not happen after it.
  void TakeWithout(size_t i);
  // Takes away the event and all that happen after it.
  void Drop(size_t position);

  size_t size() const { return contains_.size(); }  // positions of the trace
  bool Contains(size_t position) const { return contains_[position] != 0; }
  // How many events of the thread; these are its first.
  uint32_t CountOf(sched::ThreadId thread) const { return counts_[thread]; }

 private:
  const CausalOrder& order_;
  std::vector<uint8_t> contains_;  // by position
  std::vector<uint32_t> counts_;   // by thread
};

// What a thread does next.
struct NextBlock {
  sched::ThreadId thread = 0;
  RecordedOperation operation;  // as recorded, perhaps in another state
  std::span<const RecordedRange> spin_cells;
};

class Enabledness {
 public:
  explicit Enabledness(const CausalOrder& order) : order_(order) {}

  // Notes the current trace's counts of semaphores before their first changes; false if another
  // trace says otherwise.
  bool LearnCounts(const RecordedEnds& ends);

  // What the thread does next after the cut; false if it is not there (any more).
  bool FindNext(const Cut& cut, const RecordedEnds& ends, sched::ThreadId thread,
                NextBlock* next) const;
  // Is the thread created in the cut, and the process alive?
  bool Exists(const Cut& cut, sched::ThreadId thread) const;
  // What the recorded operation is after the cut: a waiter that nobody has woken there still waits.
  RecordedOperation OperationIn(const Cut& cut, const NextBlock& next) const;
  // Can the thread, which exists, run its next block, which begins with `operation` there?
  bool Enabled(const Cut& cut, const NextBlock& next, const RecordedOperation& operation) const;
  // For a write lock: drops the readers that still hold the lock and took it after position i, with
  // all that happens after. False if there are none.
  bool DropReaders(const RecordedOperation& operation, size_t i, Cut* cut) const;

  // What the operation is certain to touch first, and, if `alive`, that the process is alive.
  static std::vector<RecordedAccess> PendingFootprint(const RecordedOperation& operation,
                                                      sched::ThreadId thread, bool alive);

 private:
  const RecordedLedger* LastChange(const Cut& cut, sched::Cell object) const;
  bool Free(const Cut& cut, sched::Cell lock) const;
  bool HeldForReading(const Cut& cut, sched::Cell readers) const;
  int64_t CountOf(const Cut& cut, sched::Cell semaphore) const;
  bool Writes(const Cut& cut, sched::Cell cell, size_t from) const;
  bool WokenSinceLast(const Cut& cut, sched::ThreadId thread) const;
  uint32_t Arrivals(const Cut& cut, sched::Cell generation) const;
  bool SpinnerWoken(const Cut& cut, const NextBlock& next) const;
  size_t AfterLastOf(const Cut& cut, sched::ThreadId thread) const;

  const CausalOrder& order_;
  absl::flat_hash_map<sched::Cell, int64_t> first_counts_;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_ENABLEDNESS_H_
