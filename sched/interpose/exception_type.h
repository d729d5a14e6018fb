// The exception the current thread is handling or failed to handle.
#ifndef MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_
#define MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_

#include <string>

namespace mc::sched {

// Demangled, with what() for standard exceptions; "" if there is none.
std::string CurrentExceptionType();

// Is this called because of an exception that nobody handles? Not if a handler aborts.
bool NoHandlerWasFound();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_
