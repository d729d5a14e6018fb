// What stands for variables of the C library whose place is not known: accesses to them are those
// to the byte here (sched/hidden_state.h).
#ifndef MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
#define MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_

#include <cstdint>

#include "sched/interpose/library_call.h"

namespace mc::sched {

extern char g_strtok_state, g_multibyte_state, g_locale_state, g_search_table, g_drand48_state;
extern char g_zone_state, g_terminate_handler, g_unexpected_handler, g_new_handler;
extern char g_global_locale, g_stream_indices, g_thread_defaults, g_system_log, g_text_domain;
// Where functions that give back one entry after the other go on.
extern char g_next_user, g_next_group, g_next_host, g_next_network, g_next_protocol;
extern char g_next_service, g_next_session, g_next_file_system;
extern char g_loaded_locales;

// What a function touches (library_call.h) that depends on the locale: the global one, unless the
// calling thread has one of its own.
Touch Locale();

// A variable that is kept behind a lock of the library: functions that touch it are one step. A
// preemption may come before the first of these.
void BeforeHidden(const char* variable, uint64_t pc);
inline Touch Hidden(const char* variable, uint8_t mode) { return {variable, 1, mode, kAtomic}; }

// The time zone. What a function touches that takes it as it was last looked up;
inline Touch KnownZone() { return Hidden(&g_zone_state, kRead); }
// and one that looks it up first: it changes something only if TZ has changed. The variables that
// the program sees of it (timezone, daylight, tzname) are then recorded at once.
Touch LookedUpZone(uint64_t pc);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
