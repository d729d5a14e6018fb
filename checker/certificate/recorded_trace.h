// What a certificate records of executions (spec optimal-dpor 11).
//
// Plain data, shared by the writer, which is part of the harness runtime, and the checker. Events
// that are the same are stored once: a trace is a list of their numbers.
//
// Left out are code addresses, accesses that the search does not look at (kOrderedBySync), and what
// depends on the order of independent events: which switch was a preemption, whom a release
// enabled. Counts of semaphores are kept as changes, since posts commute.
#ifndef MC_CHECKER_CERTIFICATE_RECORDED_TRACE_H_
#define MC_CHECKER_CERTIFICATE_RECORDED_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/event.h"
#include "sched/trace.h"

namespace mc::checker {

// Of the flags of accesses and events, those that are recorded.
inline constexpr uint16_t kRecordedAccessFlags =
    sched::kValueRelevant | sched::kRelative | sched::kTentative;
inline constexpr uint16_t kRecordedEventFlags = sched::kFailed | sched::kAssumptionFailed |
                                                sched::kExited | sched::kTimedOut |
                                                sched::kPastBound;

struct RecordedAccess {
  sched::Cell begin = 0;
  uint32_t size = 0;
  uint8_t mode = 0;    // sched::AccessMode
  uint16_t flags = 0;  // of kRecordedAccessFlags

  sched::Cell end() const { return begin + size; }
  bool operator==(const RecordedAccess&) const = default;
};

struct RecordedOperation {
  sched::OperationKind kind = sched::OperationKind::kNone;
  sched::Cell object = 0;
  uint32_t needed = 0;
  sched::Cell timeout_object = 0;
  bool wait_is_over = false;

  bool operator==(const RecordedOperation&) const = default;
};

struct RecordedChoice {
  uint32_t value = 0;
  uint32_t arity = 0;
  uint32_t position = 0;  // number of the event's recorded accesses before it

  bool operator==(const RecordedChoice&) const = default;
};

// Of a semaphore, `before` is 0 and `after` the change; or, if the event overwrites the count
// (OverwritesCount), the count it leaves.
struct RecordedLedger {
  sched::Cell object = 0;
  int64_t before = 0;
  int64_t after = 0;

  bool operator==(const RecordedLedger&) const = default;
};

struct RecordedRange {
  sched::Cell begin = 0;
  uint64_t size = 0;
  uint32_t reader = 0;  // as in sched::CellRange

  bool operator==(const RecordedRange&) const = default;
};

struct RecordedEvent {
  sched::ThreadId thread = 0;
  uint32_t index = 0;
  uint16_t flags = 0;  // of kRecordedEventFlags
  RecordedOperation operation;
  std::vector<RecordedAccess> accesses;
  std::vector<RecordedChoice> choices;
  std::vector<RecordedLedger> ledger;
  std::vector<RecordedRange> spin_cells;

  bool operator==(const RecordedEvent&) const = default;
};

struct RecordedEnd {
  sched::ThreadStatus status = sched::ThreadStatus::kRunnable;
  bool enabled = false;
  uint32_t events = 0;
  RecordedOperation pending;
  std::vector<RecordedRange> spin_cells;

  bool operator==(const RecordedEnd&) const = default;
};

// The count of a semaphore before the trace's first change of it.
struct FirstCount {
  sched::Cell semaphore = 0;
  int64_t count = 0;

  bool operator==(const FirstCount&) const = default;
};

// How the threads of an execution ended.
struct RecordedEnds {
  sched::ExecutionOutcome outcome = sched::ExecutionOutcome::kCompleted;
  std::vector<RecordedEnd> threads;  // by id
  std::vector<FirstCount> first_counts;

  bool operator==(const RecordedEnds&) const = default;
};

struct RecordedTrace {
  std::vector<uint32_t> events;  // numbers of RecordedTraces::events, in order
  uint32_t ends = 0;             // number of RecordedTraces::ends
};

struct RecordedTraces {
  std::vector<RecordedEvent> events;
  std::vector<RecordedEnds> ends;
  std::vector<RecordedTrace> traces;
};

// Does the event write the count of a semaphore without regard to what it was?
inline bool OverwritesCount(const RecordedEvent& event, sched::Cell semaphore) {
  for (const RecordedAccess& a : event.accesses) {
    if (a.begin <= semaphore && semaphore < a.end() && (a.mode & sched::kWrite) != 0 &&
        (a.flags & sched::kRelative) == 0) {
      return true;
    }
  }
  return false;
}

// What is recorded of the event at `position`, and of the end.
void Record(const sched::Trace& trace, size_t position, RecordedEvent* out);
void RecordEnds(const sched::Trace& trace, RecordedEnds* out);

}  // namespace mc::checker

#endif  // MC_CHECKER_CERTIFICATE_RECORDED_TRACE_H_
