// PreemptionPoints: the set of PP predicates of one job (DESIGN section 3).
//
// Text form, comma-separated: lock, unlock, cond, thread, yield, atomic, dma, access:FILE:LINE,
// sync (= lock,unlock,cond,thread,yield), all (= every one and every shared access), none.
// Inside the engine an access:FILE:LINE is a set of code address ranges, found by the supervisor in
// the line table of the harness; the engine never reads debug information.
#ifndef MC_SCHED_PREEMPTION_POINTS_H_
#define MC_SCHED_PREEMPTION_POINTS_H_

#include <cstdint>
#include <vector>

namespace mc::sched {

enum PreemptionPointClass : uint32_t {
  kPpLock = 1 << 0,    // before mutex, spin, read and write locks and semaphore waits
  kPpUnlock = 1 << 1,  // after unlocks of all kinds and posts
  kPpCond = 1 << 2,    // after signals and broadcasts, around waits
  kPpThread = 1 << 3,  // after create, barriers, before the end of a thread where others can tell
                       // (Scheduler::SetEndsAreSeen); before a join always is one
  kPpYield = 1 << 4,   // at sched_yield, mc_yield, sleeps
  kPpAtomic = 1 << 5,  // before every atomic operation
  kPpDma = 1 << 6,
  kPpEveryAccess = 1 << 7,  // before every shared access ("all")
  kPpSync = kPpLock | kPpUnlock | kPpCond | kPpThread | kPpYield,
  kPpAll = kPpSync | kPpAtomic | kPpDma | kPpEveryAccess,
};

// Half-open range of code addresses. An access belongs to it if (return address of its hook - 1)
// lies inside.
struct CodeRange {
  uint64_t begin = 0, end = 0;
};

struct PreemptionPoints {
  uint32_t classes = 0;             // PreemptionPointClass
  std::vector<CodeRange> accesses;  // sorted, disjoint
};

}  // namespace mc::sched

#endif  // MC_SCHED_PREEMPTION_POINTS_H_
