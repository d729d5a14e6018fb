// What one execution is asked for, and what it ended with besides its trace.
#ifndef MC_SCHED_EXECUTION_H_
#define MC_SCHED_EXECUTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sched/bug_kind.h"
#include "sched/event.h"
#include "sched/heap.h"
#include "sched/loop_bound.h"
#include "sched/preemption_points.h"
#include "sched/trace.h"

namespace mc::sched {

enum class ExitMode : uint8_t { kWait, kImmediate };

// Test-only mistakes of the event model (spec optimal-dpor 4, rows block-test to barrier-commute).
enum class EventModelMutation : uint8_t {
  kNone,
  kBlockTest,
  kTryFail,
  kCasFail,
  kSemFail,
  kSignalEmpty,
  kWaitCv,
  kWake,
  kTimeoutCv,
  kUnlock,
  kJoin,
  kCreate,
  kBarrierArrive,
  kBarrierDepart,
  kAlive,
  kHeapOrder,
  kBarrierCommute,
};

struct ExecutionOptions {
  PreemptionPoints preemption_points;
  ExitMode exit_mode = ExitMode::kWait;
  HeapPolicy heap_policy = HeapPolicy::kThread;
  bool heap_overruns = false;
  bool spurious_wakeups = false;
  bool barrier_full_model = false;  // arrivals do not commute (more users than the count)
  bool full_footprints = false;     // under `all`, accesses ordered by synchronisation count too
  bool narrate = false;             // keep mc_log texts
  bool full_record = false;         // nothing may be left out: people read it (owned_memory.h)
  bool checkpoints = true;          // may executions go on from the middle of a kept prefix?
  bool bounds_loops = true;         // is an execution given up for a loop that seems endless?
  bool looks_for_loops = false;     // also for one that does not tell that it waits
  bool impatient = false;           // after few rounds (loop_bound.h)
  bool fair = false;                // after hardly any, if it changes something (--fair)
  uint64_t max_events = 1 << 18;    // a longer execution is reported as livelock (heuristic)
  uint64_t memory_limit = 0;        // bytes the process may take in an execution; 0: any
  uint64_t seed = 0;
  uint32_t disabled_refinements = 0;  // Refinement bits
  EventModelMutation mutation = EventModelMutation::kNone;
};

// Refinements of the dependence relation that can be switched off (--no-NAME).
enum Refinement : uint32_t {
  kRefineReadLocks = 1 << 0,    // read-locks: read locks and unlocks commute
  kRefinePosts = 1 << 1,        // posts: semaphore posts commute
  kRefineBarriers = 1 << 2,     // barriers: arrivals commute until a further thread arrives
  kRefineEmptySignal = 1 << 3,  // empty-signal: a signal without waiter is a read
  kRefineSilentRmw = 1 << 4,    // silent-rmw: an exchange that changes nothing is a read
  kRefineSharedSites = 1 << 5,  // shared-sites: `all` preempts only at accesses seen to be shared
};

struct BugReport {
  BugKind kind = BugKind::kCustom;
  std::string message;
  std::string details;  // further lines
  ThreadId thread = kNoThread;
  uint64_t pc = 0;
  std::vector<uint64_t> stack;  // return addresses, innermost first
  size_t event = 0;             // position in the trace
  bool heuristic = false;
};

struct LogLine {
  ThreadId thread;
  size_t event;
  std::string text;
};

// What the program ended with.
struct ExecutionResult {
  bool diverged = false;
  size_t diverged_step = 0;
  // The event that was to happen there again, alone in a trace with its accesses; and what is
  // different this time, "" if its thread cannot run.
  Trace diverged_event;
  std::string diverged_found;
  bool barrier_overcrowded = false;  // restart the job with barrier_full_model
  // Restart with them: a thread waited in a loop, or asked; two threads joined the same one.
  bool needs_full_footprints = false;
  bool seems_endless = false;  // given up: restart, with a bound for this loop or, if its pc is 0,
  LoopPlace endless_loop;      // looking for loops
  std::vector<uint64_t> endless_loop_stack;  // return addresses there, innermost first
  int exit_status = 0;
  std::string harness_error;     // not empty: the harness cannot be checked
  bool accesses_failed = false;  // some were recorded that were not made (kNotMade)
  std::vector<BugReport> bugs;
  std::vector<LogLine> log;
};

}  // namespace mc::sched

#endif  // MC_SCHED_EXECUTION_H_
