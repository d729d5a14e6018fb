// Observer: sees every execution. Detectors are observers; they also run on a recorded Trace with
// no scheduler at all (ReplayTrace).
#ifndef MC_SCHED_OBSERVER_H_
#define MC_SCHED_OBSERVER_H_

#include <cstddef>

#include "sched/trace.h"

namespace mc::sched {

class Observer {
 public:
  virtual ~Observer() = default;
  // An execution begins whose first `kept` events are those of the last one: state that belongs to
  // later events must be undone, state of the kept ones stays valid.
  virtual void OnExecutionBegin(const Trace& trace, size_t kept) = 0;
  // The trace is complete: its events from `kept` on are new.
  virtual void OnExecutionEnd(const Trace& trace) = 0;
};

// Shows a recorded trace to an observer as one execution.
inline void ReplayTrace(const Trace& trace, Observer& observer) {
  observer.OnExecutionBegin(trace, 0);
  observer.OnExecutionEnd(trace);
}

}  // namespace mc::sched

#endif  // MC_SCHED_OBSERVER_H_
