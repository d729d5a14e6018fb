// Frontier: the part of the tree of one search that lies above what its workers have for themselves
// (spec optimal-dpor 7.1, 7.2).
//
// A search stands on one path only as long as one worker runs it. With several, the nodes above
// their subtrees are a tree, and it is here: with the events taken from each node in the order in
// which they were started, and the requests that wait there. A node is
//   open   its requests may be started by anybody, one at a time (while one is, it is `busy`: no
//          other child may be started until it is known what event the first one is);
//   out    the subtree from here on is a worker's, and nothing below is known here;
//   done   nothing is pending in it, nor below any event that sleeps there.
//
// A request that comes late, from the subtree of child c, to a node at which children were started
// after c, is handed down into those that can begin with it, as it would have been when they were
// started. So a subtree is given out only when no event sleeps at its root of which the subtree is
// still pending: then what comes late ends there (7.1).
//
// Invariants
//  * A node that is out has no pending sleeper.
//  * A node is done before its children are forgotten.
// What is out to a worker that dies is lost: the search has to begin again.
//
// Written down (Write, frontier_code.cc) together with what its one worker has left to do
// (SharedSearch::WriteRest) it is the whole state of a search.
#ifndef MC_DPOR_FRONTIER_H_
#define MC_DPOR_FRONTIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dpor/event_pool.h"
#include "dpor/request_queue.h"
#include "dpor/request_store.h"
#include "dpor/sharing.h"

namespace mc::dpor {

// Mistakes made on purpose, for the tests only.
enum class FrontierMutation : uint8_t {
  kNone,
  kAppendOnly,   // what comes late is not tested against what was started later
  kForget,       // nor handed down: where something later can begin with it, it is forgotten
  kGiveUpEarly,  // a node is given up, or given out, whoever sleeps there
  kNoSift,       // a new child is handed only what begins with its event
};
const char* NameOf(FrontierMutation mutation);

class Frontier {
 public:
  using WorkerId = uint32_t;

  // All is out, to worker 0.
  Frontier();
  Frontier(const Frontier&) = delete;
  Frontier& operator=(const Frontier&) = delete;

  // What a worker says (WorkerMessage), and the answer, if there is one.
  void Serve(WorkerId worker, std::span<const uint32_t> message, Words* answer);

  // Is there something that a worker could take?
  bool HasWork() { return Best() != kNoNode; }
  // Has the worker an item?
  bool IsAtWork(WorkerId worker) const { return worker < at_.size() && at_[worker] != kNoNode; }
  bool complete() const { return nodes_[kRoot].state == State::kDone; }
  // Writes all of it down, for another process. Only worker 0 may have an item.
  void Write(Words* words) const;
  // Takes over what another frontier wrote; this one must be new. False if it cannot be read.
  bool Read(WordReader& reader);

  // Counts of what the workers but 0 have told since the last call.
  SearchCounts TakeCounts();
  // For estimates: items that wait here or are out, but for that of worker 0; and those that were
  // finished.
  size_t pending() const;
  size_t finished() const { return finished_; }
  // Not empty: something was said that cannot be.
  const std::string& error() const { return error_; }
  void set_mutation(FrontierMutation mutation) { mutation_ = mutation; }

 private:
  using NodeId = uint32_t;
  static constexpr NodeId kNoNode = 0xffffffff;
  static constexpr NodeId kRoot = 0;

  enum class State : uint8_t { kOpen, kOut, kDone };
  struct Node {
    EventId event = kNoEvent;  // that leads here
    NodeId parent = kNoNode;
    uint32_t depth = 0;
    uint32_t open_children = 0;  // that are not done
    State state = State::kOpen;
    bool busy = false;
    bool listed = false;  // in ready_
    RequestQueue requests;
    std::vector<NodeId> children;  // in the order in which they were started
    // Those whose events sleep here and that were not done when that was last asked.
    std::vector<NodeId> sleepers;
    // Nodes that were not done only because this one sleeps there and was not.
    std::vector<NodeId> waiters;
  };

  NodeId AddChild(NodeId parent, EventId event, State state);
  void FreeChildren(NodeId node);
  void FreeRequests(NodeId node) { queues_.Clear(&nodes_[node].requests); }
  void InsertRequest(NodeId node, RequestId request);
  NodeId AncestorAt(NodeId node, uint32_t depth) const;
  size_t IndexAmongSiblings(NodeId node) const;
  // Does the event of `sibling` (a sibling of an ancestor of `node`, or of itself, that was started
  // earlier, and is not done) sleep at `node`?
  bool SleepsAt(NodeId sibling, NodeId node) const;
  // One that sleeps at the node and is not done; or kNoNode.
  NodeId PendingSleeper(NodeId node);
  // Enters the node in ready_ if it has a request that may be started.
  void ListIfReady(NodeId node);
  bool IsReady(NodeId node) const {
    const Node& n = nodes_[node];
    return n.state == State::kOpen && !n.busy && !n.requests.empty();
  }
  NodeId Best();

  void Insert(WorkerId worker, WordReader& reader);
  void Place(NodeId node, size_t first_child, RequestId request, NodeId source);
  void Start(WorkerId worker, WordReader& reader, Words* answer);
  void Sift(NodeId node, std::span<const NodeId> chain);
  void HandOver(RequestId request, int answer, std::span<const NodeId> chain);
  void TakeBack(WorkerId worker, WordReader& reader);
  void Finish(WorkerId worker);
  void Take(WorkerId worker, Words* answer);
  void WritePath(NodeId node, Words* answer) const;
  // An event that may be equal to one read lately.
  EventId ReadKnown(WordReader& reader);
  RequestId ReadRequest(WordReader& reader);
  // The subtree of an item is done; so may others be by that.
  void SetDone(NodeId node);
  bool ReadNode(WordReader& reader, std::vector<NodeId>* nodes);
  // Is the node done by now?
  void Check(NodeId node);
  void Count(WorkerId worker, WordReader& reader);
  void Fail(const char* what) {
    if (error_.empty()) error_ = what;
  }

  EventPool pool_;
  RequestStore requests_{pool_};
  RequestQueues queues_{pool_, requests_};
  std::vector<EventId> recent_;  // one reference each
  std::vector<Node> nodes_;
  std::vector<NodeId> free_;
  // By depth: nodes that are ready, and some that were.
  std::vector<std::vector<NodeId>> ready_;
  std::vector<NodeId> to_check_;
  std::vector<NodeId> chain_;  // of the request that was started last
  std::vector<NodeId> at_;     // by worker: the node that is out to it, or busy for it, or kNoNode
  SearchCounts counts_;
  size_t finished_ = 0;
  std::string error_;
  FrontierMutation mutation_ = FrontierMutation::kNone;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_FRONTIER_H_
