// CandidateDetector: finds the data-race candidates of one execution after another.
//
// A candidate is a pair of accesses of different threads to overlapping bytes, not both reads (nor
// both commuting additions), that
//   limited-hb   have no protecting lock in common and whose transitions are not related by
//                must-happen-before (Blum 2016, definition 11), or
//   hb           are unordered by happens-before.
// Accesses of all kinds take part: plain, atomic, of an object's bytes by an operation on it, and
// allocation and free, which write all bytes of a block. What tells them apart is only whether an
// unordered instance is a data race (undefined behaviour):
//   plain with plain, plain with atomic, free with plain or atomic   yes
//   all others (atomic with atomic, an object's bytes, allocations)  never: they are points of
//                                                                    communication
// `unordered` is happens-before's verdict under either rule. Between two atomics the edge of the
// later one's own acquire does not count: it says only which came first, and would hide every pair
// of sequentially consistent operations from the rule hb.
//
// A pair whose accesses lie in different lifetimes of their heap block is malloc-recycle
// (definition 13; the block was freed at or after the earlier access, and allocated again by the
// later one or before it).
//
// The detector sees events only, so it serves a search and a recorded trace (sched::ReplayTrace)
// alike. What it finds goes to a CandidateTable, which may be shared with other detectors of the
// process. State of a kept prefix is kept: OnExecutionBegin costs what is undone.
//
// It works at the end of an execution, on all its new events. What only one thread has touched so
// far (SharedLines) is left out, and made up for in the execution in which another thread touches
// it: that one is looked at from its beginning. And events whose accesses can tell nothing new
// (SettledAccesses) are only looked at once another, behind them, has an access that can.
#ifndef MC_RACEDET_CANDIDATE_DETECTOR_H_
#define MC_RACEDET_CANDIDATE_DETECTOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "racedet/access_history.h"
#include "racedet/candidate_table.h"
#include "racedet/clock_arena.h"
#include "racedet/happens_before.h"
#include "racedet/held_locks.h"
#include "racedet/must_happen_before.h"
#include "racedet/settled_accesses.h"
#include "racedet/shared_lines.h"
#include "racedet/undo_log.h"
#include "sched/observer.h"

namespace mc::racedet {

enum class CandidateRule : uint8_t {
  kLimitedHappensBefore,  // --race=limited-hb
  kHappensBefore,         // --race=hb
};

class CandidateDetector : public sched::Observer {
 public:
  // `table` must outlive the detector.
  // `blocks_are_long`: blocks go on behind operations that enable others, so that an order of whole
  // blocks is not one of their accesses. What happens-before leaves unordered is then a candidate
  // even where must-happen-before orders the blocks.
  CandidateDetector(CandidateRule rule, CandidateTable& table, bool blocks_are_long = false);
  CandidateDetector(const CandidateDetector&) = delete;
  CandidateDetector& operator=(const CandidateDetector&) = delete;

  // A detector may join a running search, with `kept` events that it has not seen.
  void OnExecutionBegin(const sched::Trace& trace, size_t kept) override;
  void OnExecutionEnd(const sched::Trace& trace) override;

  CandidateRule rule() const { return rule_; }

 private:
  // Where the state stood before an event.
  struct Mark {
    size_t log, clocks;
    AccessHistory::Size history;
  };

  void Reset();
  // Enters the new events: which of their accesses can be left out, and whether all others are
  // settled. Returns false if some that were left out before cannot.
  bool Enter(const sched::Trace& trace, bool* all_settled);
  // The same for an access that is not one to memory; false if it may add to the table.
  bool EnterSynchronisation(const sched::Event& event, const sched::MicroAccess& access,
                            uint32_t position);
  // Looks at the event at `position`, the next one. What a thread learns from the ends of others
  // that it joins, and hands on by its own end, matters only to later accesses, and stays to be
  // learned: events that do nothing else are put off until the thread does more, or is joined by
  // one that does, which often is never.
  void Look(const sched::Trace& trace, size_t position);
  bool MayWait(const sched::Trace& trace, const sched::Event& event);
  void LookAtWaiting(const sched::Trace& trace, sched::ThreadId thread, size_t position);
  void LookNow(const sched::Trace& trace, const sched::Event& event);
  void Synchronise(const sched::Trace& trace, const sched::Event& event,
                   const sched::MicroAccess& access, uint32_t position);
  void AccessMemory(const sched::Trace& trace, const sched::Event& event,
                    const sched::MicroAccess& access, uint32_t position);
  class Comparison;  // of one access with all earlier ones

  const CandidateRule rule_;
  const bool blocks_are_long_;
  CandidateTable& table_;
  UndoLog log_;
  ClockArena clocks_;
  MustHappenBefore must_happen_before_;
  HappensBefore happens_before_;
  HeldLocks held_locks_;
  AccessHistory history_;
  struct Waiting {
    uint32_t from = 0;  // position + 1 of the thread's first event that was put off, or 0
  };
  StableArray<Waiting> waiting_;
  SharedLines lines_;
  SettledAccesses settled_;
  size_t entered_ = 0;                  // events entered in both of these
  std::vector<Mark> marks_;             // one per event looked at
  std::vector<uint8_t> of_one_thread_;  // by access of the trace: it can be left out
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_CANDIDATE_DETECTOR_H_
