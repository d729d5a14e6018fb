// TraceHash: a number for the Mazurkiewicz trace that an execution belongs to: the same for every
// order of its events in which dependent ones come in the same order. For tests: it looks at every
// pair of events, and shares no code with the searches.
#ifndef MC_CHECKER_AGENT_TRACE_HASH_H_
#define MC_CHECKER_AGENT_TRACE_HASH_H_

#include <cstdint>

#include "sched/trace.h"

namespace mc::checker {

// Different traces have different numbers, but for the chance of 64 bits.
uint64_t HashOfTrace(const sched::Trace& trace);

}  // namespace mc::checker

#endif  // MC_CHECKER_AGENT_TRACE_HASH_H_
