// What stands for variables of the C library whose place is not known: accesses to them are those
// to the byte here (sched/hidden_state.h).
#ifndef MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
#define MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_

namespace mc::sched {

extern char g_strtok_state, g_multibyte_state, g_locale_state, g_search_table, g_drand48_state;

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_HIDDEN_VARIABLES_H_
