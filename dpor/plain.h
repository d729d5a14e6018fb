// PlainSearch: dynamic partial-order reduction with persistent sets and sleep sets (Flanagan and
// Godefroid, *Dynamic Partial-Order Reduction for Model Checking Software*, POPL 2005; spec
// optimal-dpor 9).
//
// A race of e_i with a later event of thread q adds q to the list of the node before e_i if q can
// run there; otherwise some thread that can, and has an event after e_i, but not dependent on it,
// that happens before the later one; otherwise all that can. A thread whose next block sleeps there
// is not enough: what that block races with is found only by running it, and its event after e_i
// may be another block, by what it reads (in the paper, which has no sleep sets, it is run). Then
// the next of these is added as well. Every trace is run once, and some executions end asleep.
#ifndef MC_DPOR_PLAIN_H_
#define MC_DPOR_PLAIN_H_

#include "dpor/backtracking.h"

namespace mc::dpor {

class PlainSearch final : public BacktrackingSearch {
 public:
  using BacktrackingSearch::BacktrackingSearch;

 private:
  void AddPoint(const Race& race) override;
  void EnterState(Node& node, const sched::StateView& state) override;
  bool TryToAdd(Node& node, sched::ThreadId thread);
  bool LeadsTo(uint32_t position, const Race& race) const;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_PLAIN_H_
