// What stands for variables of the C library whose place is not known: accesses to them are those
// to the byte here (sched/hidden_state.h).
#ifndef MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
#define MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_

#include <cstdint>

#include "sched/interpose/library_call.h"

namespace mc::sched {

extern char g_strtok_state, g_multibyte_state, g_locale_state, g_search_table, g_drand48_state;
extern char g_zone_state, g_terminate_handler, g_unexpected_handler, g_new_handler;

// What a function touches (library_call.h) that depends on the locale: the global one, unless the
// calling thread has one of its own.
Touch Locale();

// Functions that depend on the time zone. It is kept behind a lock of the C library.
//
// They are one step: a preemption may come before the first of these.
void BeforeZone(uint64_t pc);
// What a function reads that takes the zone as it was last looked up.
Touch KnownZone();
// The same for one that looks it up first: it changes something only if TZ has changed.
Touch LookedUpZone();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
