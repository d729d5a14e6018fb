// The leak check: blocks allocated in this execution that nothing refers to at its end.
//
// Conservative, as in LeakSanitizer: a block is reachable if a word of a root (writable globals of
// the program and its libraries, and what it has mapped) or of a reachable block holds an address
// inside it.
#ifndef MC_SCHED_LEAK_CHECK_H_
#define MC_SCHED_LEAK_CHECK_H_

#include <vector>

#include "sched/heap.h"
#include "sched/snapshot.h"

namespace mc::sched {

// The thread-local storage of a thread. Main's is a root. That of a thread that has ended is gone;
// what the C library refers to there (a text that strerror has made) it would have freed.
struct ThreadStorage {
  uintptr_t begin, end;
  bool only_of_c_library;  // only blocks that the C library has allocated
};

// In order of address. The blocks belong to the heap.
std::vector<const HeapBlock*> FindLostBlocks(const ProgramHeap& heap, const Snapshot& snapshot,
                                             const std::vector<ThreadStorage>& storage);

}  // namespace mc::sched

#endif  // MC_SCHED_LEAK_CHECK_H_
