// Repetition: the Strategy that makes a finished execution once more, from its beginning.
#ifndef MC_SCHED_REPETITION_H_
#define MC_SCHED_REPETITION_H_

#include <cstdint>

#include "sched/strategy.h"

namespace mc::sched {

class Repetition final : public Strategy {
 public:
  // Copies the trace of the execution.
  void Follow(const Trace& trace) { trace_ = trace; }
  // What is to happen again.
  const Trace& trace() const { return trace_; }

  bool BeginExecution(const Trace&, size_t* keep) override {
    *keep = 0;
    return true;
  }
  // Where it ended although a thread could run, the strategy had given up.
  ThreadId Next(const Trace& trace, const StateView&) override {
    return trace.size() < trace_.size() ? trace_.events[trace.size()].thread : kAbandon;
  }
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override {
    const auto choices = trace_.ChoicesOf(trace_.events[position]);
    return index < choices.size() && choices[index].value < arity ? choices[index].value : 0;
  }
  void EndExecution(const Trace&) override {}

 private:
  Trace trace_;
};

}  // namespace mc::sched

#endif  // MC_SCHED_REPETITION_H_
