// PartialOrderSampling: a given number of executions, each by random priorities of events (Yuan,
// Yang, Gu, *Partial Order Aware Concurrency Sampling*, CAV 2018).
//
// Every thread's next event has a random priority, and the enabled one of the highest runs. Then
// the thread's next event gets a fresh priority, and so does each event that was enabled together
// with the one that ran and races with it: which of two racing events comes first is decided anew
// each time, while events that nothing depends on keep theirs. A random walk decides at every step
// instead, so that what has to wait for a long run of events of others hardly ever does; here it
// does with a probability that falls with the length only linearly.
//
// What differs from the paper: an event is a block, and what a block will touch is not known before
// it ran. Taken instead is what is certain of its first operation if that can block, and what the
// thread's block touched when it last came after the same blocks of that thread - or, if there was
// none, after the same last block. A block that was never met races, as far as is known, with
// nothing; it then keeps its priority. So the paper's bounds hold only for programs whose blocks
// touch the same whatever they read, and only once all have been met; no chance() is promised.
//
// Never complete. The same seed gives the same executions.
#ifndef MC_DPOR_POS_H_
#define MC_DPOR_POS_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "dpor/event_pool.h"
#include "dpor/search.h"

namespace mc::dpor {

class PartialOrderSampling final : public Search {
 public:
  PartialOrderSampling(uint64_t seed, uint64_t limit)
      : random_(Policy::kRandom, seed), limit_(limit) {}

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;
  double Estimate() const override { return static_cast<double>(limit_); }

 private:
  // How a thread stands in the current execution.
  struct Standing {
    bool enabled = false;
    uint64_t priority = 0;       // of its next event; 0: not drawn yet
    sched::Operation pending{};  // what that begins with
    uint64_t past = 0;           // hash of all its blocks
    uint64_t last = 0;           // hash of its last block
  };
  // Footprints of blocks, by what came before them.
  using Footprints = std::unordered_map<uint64_t, EventId>;

  void Observe(const sched::Trace& trace, const sched::Event& event);
  bool IsExpectedToRace(const EventRecord& event, sched::ThreadId thread);
  EventId Expected(const Standing& standing, sched::OperationKind kind) const;
  void Remember(Footprints* footprints, uint64_t key, EventId id);
  void ForgetAll(Footprints* footprints);
  Standing& StandingOf(sched::ThreadId thread);

  FreeRun random_;
  const uint64_t limit_;
  size_t observed_ = 0;  // events of the current execution
  std::vector<Standing> standings_;
  EventPool pool_;
  Footprints after_past_, after_last_;
  std::vector<Range> ranges_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_POS_H_
