// LawCheck: tests the event model on the program itself (spec optimal-dpor 1.3, *Law check*).
//
// A search is only as right as the footprints it is given. In a state reached at random this
// strategy runs thread t, then u. If the two events do not conflict, it runs u first, then t, from
// the same state: both must be possible, with the same accesses and choices, and end in the same
// state. If t enabled or disabled u's next block, t's event must conflict with what u will do
// first; and if it enabled it, with the block itself. A violation is reported by error(), with the
// schedule that shows it.
//
// An engine that passes may still be wrong elsewhere; one that fails is wrong. executions() counts
// the pairs of independent events whose two orders were compared, blocked() all other executions.
#ifndef MC_DPOR_LAW_CHECK_H_
#define MC_DPOR_LAW_CHECK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dpor/search.h"

namespace mc::dpor {

class LawCheck final : public Search {
 public:
  // `state_hash` tells the state of the program at the moment of the call: its memory and how its
  // threads stand. `pairs`: how many pairs of events to look at.
  LawCheck(uint64_t seed, uint64_t pairs, std::function<uint64_t()> state_hash);

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t at, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

 private:
  enum class Phase : uint8_t { kFirstOrder, kOtherOrder };

  // An event as far as the laws speak of it.
  struct Record {
    sched::ThreadId thread = 0;
    sched::OperationKind kind = sched::OperationKind::kNone;
    std::vector<sched::MicroAccess> accesses;
    std::vector<sched::Choice> choices;
  };
  struct Standing {  // of a thread before or after t's event
    bool enabled;
    bool stopped;  // for good
    sched::Operation pending;
  };

  static Record RecordOf(const sched::Trace& trace, size_t position);
  static bool Conflict(const Record& a, const Record& b);
  static bool ConflictsWithPending(const Record& event, const sched::Operation& pending,
                                   sched::ThreadId thread);
  static std::string Difference(const Record& a, const Record& b);

  sched::ThreadId PickRandom(const sched::StateView& state, sched::ThreadId except);
  sched::ThreadId NextInFirstOrder(const sched::Trace& trace, const sched::StateView& state);
  sched::ThreadId NextInOtherOrder(const sched::Trace& trace, const sched::StateView& state);
  static std::vector<Standing> StandingIn(const sched::StateView& state);
  bool PickEnabledBy(const Record& event, const std::vector<Standing>& after);
  void CheckEnabling(const Record& event, const std::vector<Standing>& after);
  void Violation(const std::string& what);
  uint64_t Random(uint64_t bound);

  uint64_t state_;
  uint64_t pairs_left_;
  std::function<uint64_t()> state_hash_;
  Phase phase_ = Phase::kFirstOrder;
  std::vector<Step> steps_;  // decisions of the first order
  size_t stop_ = 0;          // the pair begins after this many events
  size_t longest_ = 8;       // events of the longest execution seen
  std::vector<Standing> before_;
  bool enabling_due_ = false;  // t has run, and what it enabled has not been looked at
  bool second_is_enabled_by_first_ = false;
  sched::ThreadId second_ = sched::kNoThread;
  bool other_order_due_ = false;
  bool pair_compared_ = false;  // by the running execution
  Record first_t_, first_u_;
  uint64_t first_hash_ = 0;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_LAW_CHECK_H_
