// BacktrackingSearch: what the searches with backtrack lists and sleep sets have in common (spec
// optimal-dpor 9): dynamic partial-order reduction over blocks, with the races of whole executions.
//
// A node of the path holds a backtrack list of (thread, choices) still to be taken or taken, the
// events done, and the sleep set. What a race adds to a list is the search's rule (AddPoint).
// Unlike the optimal search they can run into states in which all enabled threads sleep; such
// executions are given up, and analysed like any other.
//
// Sleep sets are needed while an execution runs (it must not take a sleeping thread with a sleeping
// combination of choices), so events enter the path as they happen.
#ifndef MC_DPOR_BACKTRACKING_H_
#define MC_DPOR_BACKTRACKING_H_

#include <cstdint>
#include <vector>

#include "dpor/path.h"
#include "dpor/reversal.h"
#include "dpor/search.h"

namespace mc::dpor {

class BacktrackingSearch : public Search {
 public:
  BacktrackingSearch(Policy policy, uint64_t seed);

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

  double Estimate() const override;

 protected:
  using Choices = std::vector<uint32_t>;

  struct Backtrack {
    sched::ThreadId thread;
    bool settled;  // taken, or passed over because it sleeps
    Choices choices;
  };
  // An event that sleeps, with the arities of its choices.
  struct Sleeper {
    EventId event;
    Choices arities;
  };
  struct Node {
    std::vector<Backtrack> backtrack;
    std::vector<Sleeper> sleep;            // inherited
    std::vector<Sleeper> finished;         // executed from here before the current child
    Choices arities;                       // of the current child
    std::vector<sched::ThreadId> enabled;  // if the rule of the search asks for it
  };
  // An event of the path, and a thread whose later event races with it: that at `second`, or the
  // one before which the thread is blocked at the end (kNoPosition).
  struct Race {
    uint32_t first = 0;
    uint32_t second = kNoPosition;
    sched::ThreadId thread = 0;
  };

  // The rule: adds to the list of the race's first event what leads to its reversal, which
  // reversal_ has been started with.
  virtual void AddPoint(const Race& race) = 0;
  // A node was reached for the first time.
  virtual void EnterState(Node&, const sched::StateView&) {}

  static void AddEntry(Node& node, sched::ThreadId thread, const Choices& choices);
  // The rule of source sets: the list must contain an initial of D(i), or q.
  void AddSource(uint32_t i);

  EventPool pool_;
  Path path_;
  Reversal<false> reversal_;
  std::vector<Node> nodes_;  // some behind the path are spare

 private:
  bool SelectNext();
  void Sync(const sched::Trace& trace);
  void EnterNode(Node& node);
  void LeaveNode(Node& node);
  bool TakeEntry(Node& node, Backtrack* taken);

  template <typename Visit>
  bool AnySleeper(const Node& node, const Visit& visit) const;
  bool Asleep(const Node& node, sched::ThreadId thread, Choices& prefix) const;
  const Sleeper* FindSleeper(const Node& node, sched::ThreadId thread,
                             const Choices& choices) const;
  static bool SameChoices(std::span<const uint32_t> a, std::span<const uint32_t> b);
  static void AddOtherValues(Node& node, const EventRecord& event, const Choices& arities);

  void Analyse(const sched::Trace& trace);
  void AnalyseChoices(uint32_t i, const sched::Trace& trace);
  bool ConflictsWithAfter(const EventRecord& e);

  FreeRun free_run_;
  bool started_ = false;
  Backtrack entry_{};  // what the execution takes at node branch_depth_
  sched::ThreadId running_ = 0;
  Choices block_choices_;  // made so far by `running_` in its block
  std::vector<uint32_t> scratch_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_BACKTRACKING_H_
