// The type of the exception the current thread is handling or failed to handle.
#ifndef MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_
#define MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_

#include <string>

namespace mc::sched {

// Demangled, with what() for standard exceptions; "" if there is none.
std::string CurrentExceptionType();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_EXCEPTION_TYPE_H_
