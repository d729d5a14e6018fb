// Schedules as text: the STEP lists of checker/protocol.h.
#ifndef MC_CHECKER_AGENT_SCHEDULE_TEXT_H_
#define MC_CHECKER_AGENT_SCHEDULE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "dpor/search.h"
#include "sched/trace.h"

namespace mc::checker {

// What an event begins with, in a word or two: "lock", "atomic write", "start", ...
std::string DescribeFirstOperation(const sched::Trace& trace, const sched::Event& event);
// Where: a return address in the program, or 0.
uint64_t FirstCodeAddress(const sched::Trace& trace, const sched::Event& event);

// All events of the trace, as STEP;STEP;...
std::string EncodeSteps(const sched::Trace& trace);
uint64_t CountPreemptions(const sched::Trace& trace);

// False if `text` is no list of STEPs.
bool DecodeSteps(std::string_view text, std::vector<dpor::Step>* steps);

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_SCHEDULE_TEXT_H_
