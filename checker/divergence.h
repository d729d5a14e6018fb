// Divergence: an execution that repeats an earlier one, or a recorded schedule, and does not do the
// same. What is told of it: at which step, which thread, what was expected and what was seen.
#ifndef MC_CHECKER_DIVERGENCE_H_
#define MC_CHECKER_DIVERGENCE_H_

#include <string>
#include <string_view>

#include "checker/message.h"
#include "checker/picture.h"
#include "checker/schedule.h"
#include "checker/symbolizer.h"

namespace mc::checker {

// Both take a `diverged` message. The first line of the text says what happened, the others how the
// threads stand there, what to look for and what to do.

// An execution of a search.
std::string ExplainDivergedSearch(const Message& message, Symbolizer* symbolizer);
// The replay of a schedule; `done` is what it did until then.
std::string ExplainDivergedReplay(const Message& message, const Schedule& schedule,
                                  const PictureExecution& done, Symbolizer* symbolizer);

// What to say of an execution that was not as an earlier one, if the program made the system calls
// named there (sched/kernel_state.h); "" if it made none. One line.
std::string ExplainLastingCalls(std::string_view calls);

}  // namespace mc::checker

#endif  // MC_CHECKER_DIVERGENCE_H_
