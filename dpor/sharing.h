// Sharing: what lies between the workers of one search and the frontier that hands out work to them
// (spec optimal-dpor 7.1, 7.2).
//
// A worker holds one *item* at a time, a subtree of its own: it searches it depth first, as if
// there was nothing else. What its executions ask for above the subtree goes to the Frontier, which
// has the part of the tree above all items. Both speak in words (event_code.h), whether they are in
// one process or not.
#ifndef MC_DPOR_SHARING_H_
#define MC_DPOR_SHARING_H_

#include <cstdint>

#include "dpor/event_code.h"

namespace mc::dpor {

// The first word of what a worker says.
enum class WorkerMessage : uint32_t {
  // Sequences for nodes above the item: (depth, sequence)*.
  kInsert,
  // The request of the item was run: its events, as they turned out. The answer is the depth from
  // which on the subtree is the worker's own, and the requests that wait there.
  kStarted,
  // The upper part of what is left of the item goes back: number of nodes, for each from the item's
  // root on: finished children, event of the path, requests; then 1 if the subtree below stays the
  // worker's item, 0 if there is nothing in it.
  kGive,
  // Counts.
  kCounts,
  // The item is done.
  kFinished,
  // What is next? The answer is an item.
  kTake,
};

// The first word of the answer to kTake.
enum class ItemKind : uint32_t {
  kNone,   // there is nothing now
  kOver,   // and there will be nothing any more
  kStart,  // a request of a node: path, with what was started earlier at each node, request
};

// Of executions that are done.
struct SearchCounts {
  uint64_t executions = 0, sleep_blocked = 0, assumption_failed = 0, transitions = 0;

  void Add(const SearchCounts& other) {
    executions += other.executions;
    sleep_blocked += other.sleep_blocked;
    assumption_failed += other.assumption_failed;
    transitions += other.transitions;
  }
  SearchCounts Since(const SearchCounts& before) const {
    return {executions - before.executions, sleep_blocked - before.sleep_blocked,
            assumption_failed - before.assumption_failed, transitions - before.transitions};
  }
};

inline void WriteCounts(const SearchCounts& counts, Words* words) {
  for (const uint64_t n :
       {counts.executions, counts.sleep_blocked, counts.assumption_failed, counts.transitions}) {
    WriteLong(n, words);
  }
}

inline SearchCounts ReadCounts(WordReader& reader) {
  SearchCounts counts;
  counts.executions = reader.NextLong();
  counts.sleep_blocked = reader.NextLong();
  counts.assumption_failed = reader.NextLong();
  counts.transitions = reader.NextLong();
  return counts;
}

// A worker's way to the frontier.
class FrontierLink {
 public:
  virtual ~FrontierLink() = default;
  virtual void Tell(const Words& message) = 0;
  // Waits for the answer. An empty one to kTake means kOver.
  virtual void Ask(const Words& message, Words* answer) = 0;
};

// A search that can be shared.
class SharedSearch {
 public:
  virtual ~SharedSearch() = default;
  // From now on there is a frontier. Until the first call all that is left is this search's item.
  virtual void Share(FrontierLink* link) = 0;
  // The search goes on in another process, as a copy that has no item yet.
  virtual void BecomeHelper(FrontierLink* link) = 0;
  // BeginExecution said no because there was nothing to do at that time.
  virtual bool waits() const = 0;
  // Between executions: gives away the shallowest part of what is left of the item. Does nothing if
  // that is not worth it.
  virtual void GiveAway() = 0;
  // Between executions: gives all away that is left.
  virtual void Leave() = 0;
  // Between executions: what Leave would tell the frontier of the item, to be told it later (by
  // another process, after this one is gone). The search keeps the item. Empty if it has none.
  // False if it has not begun it.
  virtual bool WriteRest(Words* message) = 0;
  // Tells how many executions there were.
  virtual void TellCounts() = 0;
  // Counts executions of others.
  virtual void AddCounts(const SearchCounts& counts) = 0;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_SHARING_H_
