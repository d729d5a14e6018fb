// OptimalSearch: optimal dynamic partial-order reduction over blocks, in the form of request lists
// (Abdulla, Aronis, Jonsson, Sagonas, "Source Sets", J. ACM 64(4), 2017; spec optimal-dpor 2).
//
// One execution per Mazurkiewicz trace, none twice, none given up. The search stands on one path.
// Node d is the state before event d of the path; it holds the sleeping events (inherited, and its
// own finished children) and the requests: sequences still to be followed from it.
//
// An execution follows one request to its end and then runs freely, so while it runs there is
// nothing to decide but "the next event of the request" or "the policy's choice"; all bookkeeping
// is done at its end, for its new events only: handing requests down, sleep sets, races. Then every
// pair of the path is reversed again, as far as its sequence can have changed.
//
// Invariants (between executions)
//  * nodes_ has path_.size() + 1 entries; node d's sleepers are sleep_items_[sleep_begin,
//  sleep_end)
//    and lie, as do its sleep entries, in stacks: those of deeper nodes behind them.
//  * A sleep entry created at node n sleeps at the nodes n .. first_waker of the current path.
//  * At the end of a request nobody sleeps (2.6). This is checked; an execution is never abandoned.
//  * A node's requests are those of its queue (request_queue.h) and those of its spilled chunks.
//
// Shared with other workers (sharing.h, odpor_sharing_impl.h) it has one item at a time, a subtree
// whose root is node own_from_. The nodes above are not its own: nothing is started there, and the
// requests in their lists are those that it has told the frontier of, which are not told twice.
#ifndef MC_DPOR_ODPOR_H_
#define MC_DPOR_ODPOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "dpor/estimate.h"
#include "dpor/path.h"
#include "dpor/request_queue.h"
#include "dpor/request_store.h"
#include "dpor/reversal.h"
#include "dpor/search.h"
#include "dpor/sharing.h"
#include "dpor/spilled_requests.h"
#include "dpor/weak_initial.h"

namespace mc::dpor {

struct OptimalSearchOptions {
  Policy policy = Policy::kStay;
  uint64_t seed = 0;  // of Policy::kRandom
  // Of requests that do not lead: any order gives the same set of traces.
  bool oldest_request_first = false;
  Mutation mutation = Mutation::kNone;  // only in OptimalSearch<true>
};

// How often what happened; for tests and profiles.
struct OptimalSearchCounters {
  uint64_t pairs = 0;         // looked at
  uint64_t pairs_cached = 0;  // of these, skipped by the same-sequence cache
  uint64_t not_enabled = 0;   // of these, the thread could not run there
  uint64_t covered = 0;       // of these, a sleeper is a weak initial
  uint64_t absorbed = 0;      // by a request that waits
  uint64_t inserted = 0;
  uint64_t same = 0;  // the same request was there
};

// kWithMutants adds the deliberate mistakes and a second, plain evaluation of every insertion test
// that must agree with the fast one; the product uses OptimalSearch<false>.
template <bool kWithMutants>
class OptimalSearch final : public Search, public SharedSearch {
 public:
  explicit OptimalSearch(const OptimalSearchOptions& options);
  ~OptimalSearch() override;

  bool BeginExecution(const sched::Trace& trace, size_t* keep) override;
  sched::ThreadId Next(const sched::Trace& trace, const sched::StateView& state) override;
  size_t FreeFrom() const override {
    return options_.policy == Policy::kStay ? branch_depth_ + plan_.size() : kNeverFree;
  }
  uint32_t NextChoice(size_t position, uint32_t index, uint32_t arity) override;
  void EndExecution(const sched::Trace& trace) override;

  double Estimate() const override;
  uint64_t LowerBound() const override;

  void LimitMemory(SpillStore* store, SpillBudget* budget) override;

  SharedSearch* shared() override { return this; }
  void Share(FrontierLink* link) override { link_ = link; }
  void BecomeHelper(FrontierLink* link) override;
  bool waits() const override { return waits_; }
  void GiveAway() override;
  void Leave() override;
  bool WriteRest(Words* message) override;
  void TellCounts() override;
  void AddCounts(const SearchCounts& counts) override;

  const OptimalSearchCounters& counters() const { return counters_; }
  const Path& path() const { return path_; }
  size_t live_events() const { return pool_.live(); }
  size_t live_requests() const { return requests_.live(); }
  size_t peak_requests() const { return requests_.peak(); }

 private:
  struct Node {
    uint32_t sleep_begin = 0, sleep_end = 0;  // in sleep_items_
    uint32_t first_entry = 0;                 // in sleep_entries_: those of this node and deeper
    RequestQueue requests;
    RequestId told = kNoRequest;  // requests.others from here on are known to the frontier
    SpilledRequests::ChunkId spilled = SpilledRequests::kNone;
    uint32_t finished_children = 0;
    uint32_t plan_end = 0;     // depth at which the request ends that the current child began; or 0
    uint32_t plans = 0;        // requests that were handed down to that child when it was made
    uint64_t runs_before = 0;  // runs() when the node was made

    bool HasRequests() const { return !requests.empty() || spilled != SpilledRequests::kNone; }
  };
  struct SleepEntry {
    EventId event = kNoEvent;
    uint32_t first_waker = kNoPosition;  // of the current path; kNoPosition: none yet
  };

  bool Mutated(Mutation m) const {
    if constexpr (kWithMutants) return options_.mutation == m;
    return false;
  }

  // -- going back
  bool Backtrack();
  double TypicalLength() const {
    return static_cast<double>(transitions_) / static_cast<double>(runs());
  }
  // Executions of this search itself.
  uint64_t OwnRuns() const { return runs() - others_runs_; }
  void FollowRequest(uint32_t depth);
  // -- following the execution
  void CheckReplayed(const sched::Trace& trace);
  bool CheckPlanned(const sched::Trace& trace, size_t position);
  bool CheckAllAwake(size_t position);
  void PassSleepers(size_t position);
  void HandDown(size_t first, size_t end);
  void HandDownSpilled(size_t first, size_t end);
  int BeginsWith(size_t position, RequestId id) const;
  size_t HandOver(RequestId id, int answer, size_t position, size_t end);
  void DiscardRequests(Node& node);
  // -- memory
  void CountMemory();
  void KeepToBudget();
  bool SleeperWakes(const EventRecord& sleeper, const EventRecord& event) const;

  // -- the analysis at the end
  void Analyse(const sched::Trace& trace);
  bool Unchanged(Pair& pair) const;
  void ReversePair(const Pair& pair, const sched::Trace& trace);
  void ReverseBlocked(const sched::Trace& trace);
  void ReverseChoices(uint32_t i, const sched::Trace& trace);
  bool CoveredByInitial(uint32_t i);
  bool Covered(uint32_t i);
  bool CoversSequence(const EventRecord& sleeper, uint32_t first_waker, uint32_t i);
  void InsertSequence(uint32_t i);
  void BuildSequence();
  bool CoveredPlainly(uint32_t i);
  QueuePlace PlaceOf(std::span<const EventId> v, uint32_t depth);

  // -- sharing
  bool TakeItem();
  void FinishItem();
  uint32_t EndOfRequests() const;
  void ReadItem(WordReader& reader);
  void ReadSleepers(WordReader& reader);
  void DropItem();
  void EnterSleepersOf(size_t position);
  void TakeOver(size_t plan_end);
  void TellRequests();
  void WriteNodes(uint32_t end, bool kept, Words* message);
  void GiveNodes(uint32_t end, bool kept);

  int IsInitial(const EventRecord& s, std::span<const EventId> v) const;
  int IsInitial(const EventRecord& s, const Request& request) const;
  bool SameChoices(const EventRecord& a, const EventRecord& b) const {
    return Mutated(Mutation::kSleepByThread) || EventPool::SameChoices(a, b);
  }
  std::string Describe(const EventRecord& e) const;

  OptimalSearchOptions options_;
  FreeRun free_run_;
  EventPool pool_;
  Path path_;
  RequestStore requests_;
  RequestQueues queues_;
  SpilledRequests spilled_;
  Reversal<kWithMutants> reversal_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> sleep_items_;  // numbers of sleep entries
  std::vector<SleepEntry> sleep_entries_;
  // The request that the execution follows from node branch_depth_ on.
  std::vector<EventId> plan_;
  bool started_ = false;
  EventId following_ = kNoEvent;
  OptimalSearchCounters counters_;
  LengthTable length_table_;
  std::vector<EventId> scratch_;
  // The sequence that is to be inserted: D(i) in normal form, of which it has no references, then
  // q'.
  std::vector<EventId> sequence_;
  static constexpr const char* kSpillFailed =
      "what was put into a file for lack of memory cannot be had back";
  SpillBudget* budget_ = nullptr;
  uint64_t counted_bytes_ = 0;  // of this search, in the budget
  uint64_t spill_again_at_ = 0;

  // -- sharing
  FrontierLink* link_ = nullptr;
  static constexpr uint32_t kNowhere = 0xffffffff;
  uint32_t own_from_ = 0;  // the item's root; kNowhere if it is not known, or there is none
  bool has_item_ = true;
  bool waits_ = false;
  bool takes_over_ = false;  // the execution that runs is the first of its item
  uint32_t item_depth_ = 0;
  // By depth: what was started there earlier than the path of the item, until it is entered.
  std::vector<std::vector<EventId>> item_sleepers_;
  bool has_requests_to_tell_ = false;
  SearchCounts told_counts_;
  uint64_t others_runs_ = 0;
  Words words_, answer_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_ODPOR_H_
