// What the program and its libraries refer to, as the loader resolved it before main.
#ifndef MC_SCHED_INTERPOSE_PROGRAM_IMPORTS_H_
#define MC_SCHED_INTERPOSE_PROGRAM_IMPORTS_H_

namespace mc::sched {

// Can the program tell, without waiting for it, whether a thread has ended? True if any module but
// this library refers to one of the functions that tell (pthread_tryjoin_np and its timed forms,
// those that signal a thread), or to dlopen or dlsym, by which it can get at them unseen. A
// property of the files that were loaded: every process that runs the program finds the same.
bool ProgramCanSeeThreadEnds();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_PROGRAM_IMPORTS_H_
