// EventModel: whether a thread could run after another order of recorded events, and what it would
// do first, decided by rules over the records (spec optimal-dpor 2.5, *Enabledness without
// re-execution*). Nothing is executed.
//
// The other order is of the events S = (the path before i) followed by D, where D are the events
// after i that do not happen after it, less those dropped; or of any events S that contain all that
// happens before each of them. An EventModel answers questions about one S at a time.
#ifndef MC_DPOR_EVENT_MODEL_H_
#define MC_DPOR_EVENT_MODEL_H_

#include <cstdint>
#include <vector>

#include "dpor/path.h"

namespace mc::dpor {

class EventModel {
 public:
  explicit EventModel(Path& path) : path_(path) {}

  // Chooses S = prefix(i).D(i), nothing dropped.
  void Begin(uint32_t i);
  uint32_t first() const { return i_; }
  // Chooses S = the first counts[t] events of each thread t, which must be closed in that sense.
  // `counts` must stay valid while questions are asked; After and Drop* are not for such an S.
  void BeginSubset(std::span<const uint32_t> counts);

  // Is the event at `position` in S?
  bool Contains(uint32_t position) const {
    if (position < i_) return true;
    if (position >= end_) return InSubset(position);
    if (path_.HappensBefore(i_, position)) return false;
    return !any_dropped_ || !Dropped(position);
  }
  // D in order; valid until the next Begin or Drop.
  const std::vector<uint32_t>& After();
  size_t after_count() {
    After();
    return after_count_;
  }
  bool any_dropped() const { return any_dropped_; }
  // For the test-only truncation of D at j.
  void Truncate(uint32_t end) {
    end_ = end;
    after_valid_ = false;
  }

  // What `thread`, whose recorded next operation (at position j, or at the end) is `operation`,
  // does first in S: a waiter that nobody has woken there has only its time-out.
  sched::Operation OperationIn(const sched::Operation& operation, sched::ThreadId thread,
                               uint32_t previous, uint32_t j);
  // Is it enabled in S? `spin_cells` are the cells that a spinning thread waits for.
  bool Enabled(const sched::Operation& operation_in_s, sched::ThreadId thread, uint32_t previous,
               std::span<const sched::CellRange> spin_cells, const sched::Trace& trace);
  // Has the thread's previous event happened, is the thread created, is the process alive in S?
  bool Exists(sched::ThreadId thread, uint32_t previous);
  // Does any event of the path change the state of `object` (by its ledger)?
  bool EverChanged(sched::Cell object);
  // For a write lock: drops every reader that still holds and whose acquisition is in D, with all
  // that happens after it. False if there was nothing to drop.
  bool DropReaders(const sched::Operation& operation);

 private:
  bool InSubset(uint32_t position) const {
    const size_t thread = path_.thread(position);
    return thread < subset_.size() && path_.index(position) < subset_[thread];
  }
  bool Dropped(uint32_t position) const {
    return position < dropped_.size() && dropped_[position] == drop_stamp_;
  }
  void Drop(uint32_t position);
  // Calls visit(entry), latest first, for the changes in D of the log's object until it returns
  // false; then returns false.
  template <typename Visit>
  bool VisitChangesInD(const ObjectLog& log, const Visit& visit);
  // The last change before i; nullptr if there is none.
  const ObjectEntry* LastInPrefix(const ObjectLog& log) const;
  size_t FirstAfter(const ObjectLog& log) const;
  const ObjectEntry* LastLedger(sched::Cell object);
  bool MutexFree(sched::Cell mutex);
  bool SemaphorePositive(sched::Cell semaphore);
  bool ReadHeld(sched::Cell readers);
  bool BarrierFull(const sched::Operation& operation);
  bool SpinWoken(sched::ThreadId thread, uint32_t previous, std::span<const sched::CellRange> cells,
                 uint16_t but_flags, const sched::Trace& trace);

  Path& path_;
  uint32_t i_ = 0, end_ = 0;          // 0 and 0 where S is a subset
  std::span<const uint32_t> subset_;  // events of each thread; empty where S is given by i
  std::vector<uint32_t> after_;
  size_t after_count_ = 0;
  bool after_valid_ = false;
  bool any_dropped_ = false;
  std::vector<uint32_t> dropped_;  // by position; dropped if equal to drop_stamp_
  uint32_t drop_stamp_ = 0;
  std::vector<sched::ThreadId> seen_;
};

// The pending footprint (1.5) of `operation` as ranges, with R alive where exit is modelled.
void PendingRanges(const sched::Operation& operation, sched::ThreadId thread, bool alive_modelled,
                   std::vector<Range>* out);

}  // namespace mc::dpor

#endif  // MC_DPOR_EVENT_MODEL_H_
