// ReplayStrategy: one execution that follows a recorded schedule.
//
// A step that cannot be followed (its thread is not enabled, a choice is out of range, or it has
// more or fewer choices than the program asks for) ends the execution (kAbandon) and is reported by
// diverged_step() and error(). After the end of the list the execution runs on, staying on the
// current thread while it is enabled, with every choice 0; so do the choices of the last step.
#ifndef MC_DPOR_REPLAY_STRATEGY_H_
#define MC_DPOR_REPLAY_STRATEGY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class ReplayStrategy final : public Search {
 public:
  explicit ReplayStrategy(std::vector<Step> steps)
      : steps_(std::move(steps)), free_run_(Policy::kStay, 0) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t step, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

  // The first step, from 0, that could not be followed.
  std::optional<size_t> diverged_step() const { return diverged_step_; }

 private:
  void Diverge(size_t step, std::string why);

  std::vector<Step> steps_;
  FreeRun free_run_;
  bool done_ = false;
  std::optional<size_t> diverged_step_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_REPLAY_STRATEGY_H_
