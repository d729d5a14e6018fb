// Libraries that are loaded while the program runs: shared_library.cc.
#ifndef MC_SCHED_INTERPOSE_SHARED_LIBRARY_H_
#define MC_SCHED_INTERPOSE_SHARED_LIBRARY_H_

namespace mc::sched {

// Around what has the loader load libraries. What the loader allocates in between is there for
// good; what others do is part of the snapshot once it takes what is new (Snapshot::TakeNew).
void BeginLibraryLoad();
void EndLibraryLoad();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_SHARED_LIBRARY_H_
