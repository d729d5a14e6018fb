// HangWatch: whether the worker's program code runs on without end, told from outside.
//
// A program that loops without ever calling the runtime cannot be stopped from inside, so the
// supervisor looks at the worker's process a few times a second. What it concludes is a heuristic
// (DESIGN section 5), and must not depend on how fast the machine is:
//  * a worker that hangs has had half of the time limit of a processor, or did not want one;
//  * the time in which the worker or the supervisor was stopped does not count;
//  * while the worker's memory grows by more than a small part of what it may have, it does not
//    hang: it comes to an end, or to the limit of its memory, which is what is wrong with it then.
#ifndef MC_CHECKER_WORKER_WATCH_H_
#define MC_CHECKER_WORKER_WATCH_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/time/time.h"

namespace mc::checker {

// What the kernel says of a process.
struct WorkerStanding {
  char state = '?';  // R runs or wants to, T and t are stopped; '?': unknown
  absl::Duration processor_time;
  uint64_t resident = 0;  // bytes
};

// Default values where the process is not there (any more).
WorkerStanding ReadWorkerStanding(pid_t process);

class HangWatch {
 public:
  // `memory_limit` in bytes; 0: none.
  HangWatch(absl::Duration hang_timeout, uint64_t memory_limit);

  // A new worker starts.
  void Start(absl::Time now) {
    last_life_ = now;
    looked_ = false;
  }

  // Notes that the worker has made so many transitions and is in code of the program, or not.
  // True if Hangs needs to be asked. It costs nothing, and is to be called at least every second.
  bool IsQuiet(absl::Time now, uint64_t transitions, bool in_program);

  // After IsQuiet at the same time.
  bool Hangs(absl::Time now, const WorkerStanding& standing);

 private:
  absl::Duration hang_timeout_;
  uint64_t noted_growth_;  // bytes
  uint64_t seen_transitions_ = 0;
  absl::Time last_life_;   // when it last did something
  absl::Time last_check_;  // of IsQuiet
  // Of the worker, when it was first looked at after last_life_.
  bool looked_ = false;
  absl::Duration processor_time_before_;
  uint64_t resident_before_ = 0;
};

}  // namespace mc::checker

#endif  // MC_CHECKER_WORKER_WATCH_H_
