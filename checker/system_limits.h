// What the system allows mc and the processes it starts: open files, processes, stack.
#ifndef MC_CHECKER_SYSTEM_LIMITS_H_
#define MC_CHECKER_SYSTEM_LIMITS_H_

#include <functional>
#include <string>

namespace mc::checker {

// Why mc cannot work under the limits of this process, and what to do; "" if it can.
std::string ProblemWithLimits();

// What went wrong with a call that takes something of the system, by its errno, and which limit to
// raise if one is the reason.
std::string ExplainSystemError(int error);

// Calls the function where it has as much stack as it needs, whatever the limit (ulimit -s): the
// debug information of some programs takes deep recursion to read.
int RunWithEnoughStack(const std::function<int()>& function);

}  // namespace mc::checker

#endif  // MC_CHECKER_SYSTEM_LIMITS_H_
