// BoundedSearch: the traces that have an order with at most so many preemptions (Musuvathi and
// Qadeer, PLDI 2007), each once, by reverse search over prefixes (spec optimal-dpor 6.2).
//
// A search that gives up an order as soon as it has too many preemptions misses traces that a
// reducing search would have reached only through that order. So this one neither races nor sleeps:
// it gives every (prefix up to equivalence, thread of its last event) one canonical predecessor and
// walks that tree. Costs never fall along an edge, so what exceeds the bound is cut off for good.
//
// Invariants: costs_ and path_ agree; nodes_[p] tells what is run after the first p events of the
// path, and its options are exactly the threads of which nodes_[p] is the canonical predecessor.
// An execution that completes counts only if the path is the canonical order of its trace; the
// others count as blocked, as do those that end where every next step belongs to another order.
#ifndef MC_DPOR_BOUNDED_H_
#define MC_DPOR_BOUNDED_H_

#include <cstdint>
#include <vector>

#include "dpor/order_costs.h"
#include "dpor/path.h"
#include "dpor/search.h"

namespace mc::dpor {

class BoundedSearch final : public Search {
 public:
  // `preemptions` is at most OrderCosts::kMostPreemptions.
  explicit BoundedSearch(uint32_t preemptions)
      : path_(pool_), bound_(preemptions), costs_(path_, preemptions), nodes_(1) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

  double Estimate() const override;
  bool left_out() const override { return left_out_; }
  std::optional<uint32_t> preemptions_covered() const override {
    return complete() ? std::optional<uint32_t>(bound_) : std::nullopt;
  }
  // How many preemptions the trace of the last execution needs, if that was counted.
  uint32_t last_cost() const { return last_cost_; }

 private:
  struct Node {
    std::vector<sched::ThreadId> options;  // threads to run from here ...
    size_t current = 0;                    // ... which of them the path takes ...
    std::vector<sched::Choice> choices;    // ... and the choices it made in that block
  };

  bool SelectNext();
  void Sync(const sched::Trace& trace);
  void FindOptions(Node& node, const sched::StateView& state);
  bool IsCanonical();

  EventPool pool_;
  Path path_;
  const uint32_t bound_;
  OrderCosts costs_;
  std::vector<Node> nodes_;  // some behind the path are spare
  bool started_ = false;
  bool left_out_ = false;
  uint32_t last_cost_ = 0;
  std::vector<uint32_t> prescribed_;  // choices of the block at branch_depth_
  std::vector<Standing> standings_;   // scratch
};

}  // namespace mc::dpor

#endif  // MC_DPOR_BOUNDED_H_
