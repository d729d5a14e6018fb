// The end of a thread.
#ifndef MC_SCHED_INTERPOSE_THREAD_EXIT_H_
#define MC_SCHED_INTERPOSE_THREAD_EXIT_H_

namespace mc::sched {

// Runs what the calling thread leaves behind, as program code (without an EngineScope): the
// destructors of its thread_local objects, last constructed first; then those of its pthread keys,
// in up to 4 rounds; then its robust mutexes go to whoever waits.
void RunThreadExitHandlers();

// The first part alone: what exit() does for the thread that calls it.
void RunThreadLocalDestructors();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_THREAD_EXIT_H_
