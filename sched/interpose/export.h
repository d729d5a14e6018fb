// How an interposed function is declared.
#ifndef MC_SCHED_INTERPOSE_EXPORT_H_
#define MC_SCHED_INTERPOSE_EXPORT_H_

#include "sched/interpose/caller.h"

#define MC_EXPORT extern "C" __attribute__((visibility("default")))
#define MC_HIDDEN extern "C" __attribute__((visibility("hidden"), used))

#endif  // MC_SCHED_INTERPOSE_EXPORT_H_
