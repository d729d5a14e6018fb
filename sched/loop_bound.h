// The bound on loops that wait and change something each time round.
//
// A loop that only looks ends in the spin rule (spin.h): its thread waits for a write to what it
// read. One that counts its rounds, say, is in another state each time. Nothing tells whether it
// would end by itself; as long as it does not, every number of rounds is an execution of its own,
// and a search that lets it go on never lets the thread run that would end it.
//
// So the rounds of each loop are counted, at the places where a loop that waits comes by: yields,
// sleeps, waits with a time-out, attempts that may be refused, system calls, and where the spin
// rule closes it. A loop that comes by too often in one execution (kRoundsBeforeBound) is taken for
// endless, a heuristic, if another thread may want to run; the execution is given up, and the job
// begins again with a bound for it. A loop may also wait without telling (`while (!stop) ++count`).
// Once an execution or a block is long, the job begins again and counts how often the same
// instruction reads the same atomic variable, or takes the same lock, too. If the execution then
// becomes too long all the same, it is given up for the loop that came by most often (more than
// kRoundsBeforeBound times): its rounds consist of several transitions. Threads that keep each
// other going may have other threads run in between: a search that takes long
// (kTransitionsUntilImpatient) begins again, once, and is satisfied with kRoundsOfImpatient rounds.
// A *fair* search (--fair) does not wait for any of this: each loop that tells that it waits, and
// changes something, is bounded as soon as it goes on after the rounds that a bounded loop has.
// A bounded loop:
//
//  * Of its rounds, each thread makes the first kRoundsOfBoundedLoop whenever it likes.
//  * After these it waits before each further round (OperationKind::kBoundedLoop) until a thread
//    writes what the last round read; a thread that is itself *past the bound* (has ever waited so)
//    does not count. So threads in such loops do not keep each other going.
//  * When nothing else can run, the thread that has waited longest makes a round all the same
//    (OperationKind::kForcedRound), rather one that anybody has written something for: it may be
//    what others wait for, or the loop may end by itself. That event depends on all before it and
//    is never reversed, as the begin of the exit handlers is. Fairness is that of Musuvathi and
//    Qadeer, "Fair Stateless Model Checking" (PLDI 2008): a thread that yields lets the others go
//    first. Here it is not by priorities of the moment but by what the thread itself has done and
//    read, so that equivalent executions stay equivalent.
//  * If there are very many forced rounds (kRoundsAlone) without anything new, it is a livelock.
//    Loops that do not tell that they wait may go on until the execution is too long.
//
// Executions in which a bounded loop makes more rounds than that are left out: a search that bounds
// a loop verifies nothing, and says why.
//
// A loop that looks at the clock is as in the spin rule: before it waits, its clock is put on by a
// month, once for each time that it waits.
#ifndef MC_SCHED_LOOP_BOUND_H_
#define MC_SCHED_LOOP_BOUND_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

inline constexpr uint32_t kRoundsOfBoundedLoop = 3;
inline constexpr uint32_t kRoundsBeforeBound = 1000;
// While all others wait for the end of a thread.
inline constexpr uint32_t kRoundsAlone = 50000;
// The same for a loop around a system call: a program may well read a file in as many pieces.
inline constexpr uint32_t kSystemCallsBeforeBound = 10000;
// And for one that does not tell that it waits.
inline constexpr uint32_t kReadsBeforeBound = 80000;
inline constexpr uint64_t kTransitionsUntilImpatient = 20'000'000;
inline constexpr uint32_t kRoundsOfImpatient = 50, kReadsOfImpatient = 200;
inline constexpr uint64_t kEventsOfImpatient = 2000;  // of an execution, that let it become so
// When such loops are looked for: events of an execution, hook calls of a block.
inline constexpr uint64_t kLongExecution = 100000;
inline constexpr uint64_t kLongBlock = uint64_t{1} << 20;

// Where a loop comes by. Two loops of one thread can come by in one function that they call; mostly
// not equally deep.
struct LoopPlace {
  uint64_t pc = 0;      // return address of the hook; 0: none
  uint64_t depth = 0;   // bytes of stack in use there; 0: not looked at
  uint64_t object = 0;  // that is read or locked there, if the loop does not tell that it waits

  bool operator==(const LoopPlace&) const = default;
};

// What a thread has done at one of them in this execution.
struct LoopRounds {
  LoopPlace place;
  uint32_t count = 0;
  uint32_t with_change = 0;  // of these, rounds that did not only repeat the one before (--fair)
  size_t last_position = 0;  // of the event in which it last came by
  uint64_t clock_reads = 0;  // until then
  bool clock_put_on = false;
};

}  // namespace mc::sched

#endif  // MC_SCHED_LOOP_BOUND_H_
