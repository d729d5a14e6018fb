// RecordedSchedules: executions that follow the schedules of a certificate, each from its beginning
// and to its end.
//
// A schedule that cannot be followed (its thread cannot run, a choice is out of range, a step is
// left over, or the execution goes on after the last one) ends it all with an error.
#ifndef MC_CHECKER_AGENT_RECORDED_SCHEDULES_H_
#define MC_CHECKER_AGENT_RECORDED_SCHEDULES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dpor/search.h"

namespace mc::checker {

class RecordedSchedules final : public dpor::Search {
 public:
  // `text`: schedules as in protocol.h. False if it is malformed.
  bool Parse(std::string_view text);

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t step, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

 private:
  const std::vector<dpor::Step>& steps() const { return schedules_[next_ - 1]; }

  std::vector<std::vector<dpor::Step>> schedules_;
  size_t next_ = 0;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_RECORDED_SCHEDULES_H_
