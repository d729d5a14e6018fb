// DepthFirstSearch: every enabled thread and every choice at every point, in depth-first order. No
// reduction and no sleep sets: the oracle of the tests. Shares no code with the reducing searches.
#ifndef MC_DPOR_DFS_H_
#define MC_DPOR_DFS_H_

#include <cstdint>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class DepthFirstSearch final : public Search {
 public:
  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(const sched::Trace& trace, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

  // Executions so far divided by the explored share of the tree (weighted backtracking).
  double Estimate() const override;

 private:
  // One point of the current execution where there was something to decide.
  struct Decision {
    uint32_t event;    // position of the event that it belongs to
    uint32_t count;    // alternatives
    uint32_t chosen;   // number of the current one
    uint32_t options;  // of a thread: options_[options, options + count) are the enabled threads
    bool is_thread;
  };

  std::vector<Decision> decisions_;
  std::vector<sched::ThreadId> options_;
  size_t cursor_ = 0;  // the next decision to repeat
  uint32_t position_ = 0;  // of the running event, which may or may not be in the trace yet
  bool started_ = false;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_DFS_H_
