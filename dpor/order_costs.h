// OrderCosts: how few preemptions an order of the events of a path needs (spec optimal-dpor 6.2).
//
// An order of a set of events goes from thread to thread; a switch costs 1 if the thread that is
// left could have gone on there (6.1). For the events S of the path, Least(l) is the least cost of
// an order of S whose last event is of thread l. It is found from the same number of the subsets of
// S that are causally closed (with an event they contain all that happens before it): such a subset
// is told by how many events of each thread it has.
//
// Invariants: the table holds exactly the closed subsets of S that have an order within the bound,
// each once; subsets that contain event p of the path but none after it lie behind those of the
// path up to p, so that taking events off the path takes a tail off the table.
#ifndef MC_DPOR_ORDER_COSTS_H_
#define MC_DPOR_ORDER_COSTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dpor/event_model.h"
#include "dpor/path.h"
#include "sched/trace.h"

namespace mc::dpor {

// How a thread stands after the last event of the path.
struct Standing {
  bool runnable = false;                     // has a next block ...
  bool enabled = false;                      // ... which could run now
  sched::Operation pending;                  // its next operation
  std::vector<sched::CellRange> spin_cells;  // what it waits for, if it waits in a loop
};

class OrderCosts {
 public:
  static constexpr uint8_t kTooMuch = 0xff;
  static constexpr uint32_t kMostPreemptions = 0xfe;

  // `bound` is at most kMostPreemptions.
  OrderCosts(Path& path, uint32_t bound) : path_(path), model_(path), bound_(bound) {}

  // The path has grown by trace.events[path.size() - 1]. `standings` is indexed by thread.
  void Extend(const sched::Trace& trace, std::span<const Standing> standings);
  // Only the first `length` events of the path are left.
  void CutBack(size_t length);

  // The least cost of an order of all events of the path that ends with an event of `last`;
  // kTooMuch if it exceeds the bound or there is none.
  uint8_t Least(sched::ThreadId last) const;
  // Would leaving `thread` after all events of the path be a preemption? Valid where Least(thread)
  // is not kTooMuch.
  bool CanBePreempted(sched::ThreadId thread) const;
  // The table has grown past its limit, and is no longer right. It grows with the length of the
  // path to the power of the number of threads, but for what the bound cuts off.
  bool too_large() const { return size() * stride_ > kMostEntries; }

 private:
  // Of the rows below together: so that neither memory nor the time of one Extend run away.
  static constexpr size_t kMostEntries = size_t{8} << 20;

  using SubsetId = uint32_t;
  static constexpr SubsetId kNoSubset = ~SubsetId{0};

  size_t size() const { return sizes_.size(); }
  uint32_t* Counts(SubsetId id) { return counts_.data() + size_t{id} * stride_; }
  uint8_t* Costs(SubsetId id) { return costs_.data() + size_t{id} * stride_; }
  uint8_t* Preemptible(SubsetId id) { return preemptible_.data() + size_t{id} * stride_; }

  void MakeRoomForThread(sched::ThreadId thread);
  void FindPredecessors(uint32_t position);
  // A range of subsets of one size.
  struct Level {
    SubsetId begin = 0, end = 0;
    bool empty() const { return begin == end; }
  };
  Level AddLevel(uint32_t size, Level smaller);
  SubsetId Whole() const;
  void Reach(SubsetId from, sched::ThreadId by, uint32_t size);
  SubsetId FindOrAdd(SubsetId from, sched::ThreadId by, uint32_t size);
  void Enlist(SubsetId id);
  void GrowIndex();
  bool Contains(SubsetId id, uint32_t position, sched::ThreadId but);
  void LookForPreemptions(SubsetId id, const sched::Trace& trace,
                          std::span<const Standing> standings);
  bool CouldGoOn(SubsetId id, sched::ThreadId thread, const sched::Trace& trace,
                 std::span<const Standing> standings);

  Path& path_;
  EventModel model_;
  const uint32_t bound_;
  size_t stride_ = 0;                 // threads in a row
  std::vector<uint32_t> counts_;      // rows: events of each thread
  std::vector<uint8_t> costs_;        // rows: least cost by the last event's thread
  std::vector<uint8_t> preemptible_;  // rows: would leaving that thread cost 1?
  std::vector<SubsetId> links_;       // rows: the subset added before with as many of that thread
  std::vector<std::vector<SubsetId>> last_with_;  // by thread, by number of its events
  std::vector<uint32_t> sizes_;
  std::vector<SubsetId> begins_;  // by position of the path: the first subset with that event
  // The subsets of the size that is being added, by hash of their counts.
  std::vector<SubsetId> index_;
  size_t indexed_ = 0;
  // Scratch: subsets that the last event of the path can follow, the largest first; counts.
  std::vector<SubsetId> predecessors_;
  std::vector<uint32_t> wanted_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_ORDER_COSTS_H_
