#include "checker/agent/recorded_schedules.h"

#include <stdlib.h>

#include "checker/agent/schedule_text.h"
#include "checker/message.h"

namespace mc::checker {

bool RecordedSchedules::Parse(std::string_view text) {
  std::vector<dpor::Step> steps, rest;
  for (const std::string_view schedule : Split(text, '|')) {
    const size_t slash = schedule.find('/');
    if (slash == std::string_view::npos) return false;
    const size_t kept = strtoull(std::string(schedule.substr(0, slash)).c_str(), nullptr, 10);
    if (kept > steps.size() || !DecodeSteps(schedule.substr(slash + 1), &rest)) return false;
    steps.resize(kept);
    steps.insert(steps.end(), rest.begin(), rest.end());
    schedules_.push_back(steps);
  }
  return true;
}

bool RecordedSchedules::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  complete_ = next_ == schedules_.size();
  if (complete_ || !error_.empty()) return false;
  ++next_;
  return true;
}

sched::ThreadId RecordedSchedules::Next(const sched::Trace& trace, const sched::StateView& state) {
  const size_t step = trace.size();
  if (step >= steps().size()) {
    SetStepError(step, "the execution goes on, but the trace is over");
    return sched::kAbandon;
  }
  const sched::ThreadId thread = steps()[step].thread;
  if (thread < state.ThreadCount() && state.IsEnabled(thread)) return thread;
  SetStepError(step, "T" + std::to_string(thread) + " is to run, but it cannot");
  return sched::kAbandon;
}

uint32_t RecordedSchedules::NextChoice(size_t step, uint32_t index, uint32_t arity) {
  const std::vector<uint32_t>& choices = steps()[step].choices;
  if (index < choices.size() && choices[index] < arity) return choices[index];
  SetStepError(step, "the program makes another choice: number " + std::to_string(index) + ", of " +
                         std::to_string(arity));
  return 0;
}

void RecordedSchedules::EndExecution(const sched::Trace& trace) {
  Count(trace);
  if (trace.size() < steps().size()) {
    SetStepError(trace.size(), "the execution is over, but the trace goes on");
  }
  for (size_t step = 0; step < trace.size() && error_.empty(); ++step) {
    if (step < steps().size() && steps()[step].choices.size() == trace.events[step].choice_count) {
      continue;
    }
    SetStepError(step, "the trace has other choices");
  }
}

}  // namespace mc::checker
