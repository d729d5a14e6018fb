// Divergence: an execution that repeats an earlier one, or a recorded schedule, and does not do the
// same. What is told of it: at which step, which thread, what was expected and what was seen, how
// the threads stand there, and what to look for.
#ifndef MC_CHECKER_DIVERGENCE_H_
#define MC_CHECKER_DIVERGENCE_H_

#include <string>

#include "checker/message.h"
#include "checker/symbolizer.h"

namespace mc::checker {

// From a `diverged` message: "T1 (0.0) was to lock at a.cc:12, ...", one line, without the step.
std::string DescribeDivergence(const Message& message, Symbolizer* symbolizer);
// The threads at that moment, a line for each, indented; "" if the message does not say.
std::string DescribeThreadsAt(const Message& message, Symbolizer* symbolizer);

// The whole text for a search: the first line says what happened.
std::string ExplainDivergedSearch(const Message& message, Symbolizer* symbolizer);

}  // namespace mc::checker

#endif  // MC_CHECKER_DIVERGENCE_H_
