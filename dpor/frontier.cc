#include "dpor/frontier.h"

#include <algorithm>

#include "dpor/weak_initial.h"

namespace mc::dpor {

const char* NameOf(FrontierMutation mutation) {
  static constexpr const char* kNames[] = {"none", "append_only", "forget", "give_up_early",
                                           "no_sift"};
  return kNames[static_cast<int>(mutation)];
}

Frontier::Frontier() {
  nodes_.emplace_back();
  nodes_[kRoot].state = State::kOut;
  at_.push_back(kRoot);
}

void Frontier::Serve(WorkerId worker, std::span<const uint32_t> message, Words* answer) {
  answer->clear();
  if (worker >= at_.size()) at_.resize(worker + 1, kNoNode);
  WordReader reader(message);
  switch (static_cast<WorkerMessage>(reader.Next())) {
    case WorkerMessage::kInsert:
      Insert(worker, reader);
      break;
    case WorkerMessage::kStarted:
      Start(worker, reader, answer);
      break;
    case WorkerMessage::kState:
      TakeState(worker, reader, answer);
      break;
    case WorkerMessage::kFinished:
      Finish(worker, reader);
      break;
    case WorkerMessage::kTake:
      Take(worker, answer);
      break;
  }
  if (!reader.ok()) Fail("a worker's message is cut short");
}

// -- The tree ------------------------------------------------------------------------------------

Frontier::NodeId Frontier::AddChild(NodeId parent, EventId event, State state) {
  NodeId id;
  if (free_.empty()) {
    id = static_cast<NodeId>(nodes_.size());
    nodes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
    nodes_[id] = Node();
  }
  nodes_[id].event = event;
  nodes_[id].parent = parent;
  nodes_[id].depth = nodes_[parent].depth + 1;
  nodes_[id].state = state;
  nodes_[parent].children.push_back(id);
  nodes_[parent].started = true;
  return id;
}

void Frontier::FreeChildren(NodeId node) {
  std::vector<NodeId> left;
  left.swap(nodes_[node].children);
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    left.insert(left.end(), nodes_[id].children.begin(), nodes_[id].children.end());
    FreeRequests(id);
    pool_.Release(nodes_[id].event);
    nodes_[id].children.clear();
    free_.push_back(id);
  }
}

void Frontier::FreeRequests(NodeId node) {
  while (nodes_[node].requests != kNoRequest) {
    const RequestId id = nodes_[node].requests;
    nodes_[node].requests = requests_[id].next;
    requests_.Unlist(id);
    requests_.Destroy(id);
  }
}

// A list is told from others by its node.
void Frontier::InsertRequest(NodeId node, RequestId request) {
  requests_.Insert(request, node, &nodes_[node].requests);
}

Frontier::NodeId Frontier::AncestorAt(NodeId node, uint32_t depth) const {
  while (nodes_[node].depth > depth) node = nodes_[node].parent;
  return node;
}

size_t Frontier::IndexAmongSiblings(NodeId node) const {
  const std::vector<NodeId>& siblings = nodes_[nodes_[node].parent].children;
  return static_cast<size_t>(std::ranges::find(siblings, node) - siblings.begin());
}

bool Frontier::SleepsAt(NodeId sibling, NodeId node) const {
  const EventRecord& sleeper = pool_[nodes_[sibling].event];
  for (; nodes_[node].depth >= nodes_[sibling].depth; node = nodes_[node].parent) {
    const EventRecord& event = pool_[nodes_[node].event];
    if (event.thread == sleeper.thread || pool_.Conflict(sleeper, event)) return false;
  }
  return true;
}

bool Frontier::HasPendingSleeper(NodeId node) const {
  if (mutation_ == FrontierMutation::kGiveUpEarly) return false;
  for (NodeId child = node; child != kRoot; child = nodes_[child].parent) {
    for (const NodeId sibling : nodes_[nodes_[child].parent].children) {
      if (sibling == child) break;
      if (nodes_[sibling].state != State::kDone && SleepsAt(sibling, node)) return true;
    }
  }
  return false;
}

bool Frontier::MayTake(NodeId node, WorkerId worker) const {
  const Node& n = nodes_[node];
  return n.state == State::kOpen && !n.busy && (n.requests != kNoRequest || !n.started) &&
         (!n.only_owner || worker == 0);
}

// The shallowest, so that items are large.
Frontier::NodeId Frontier::BestFor(WorkerId worker) const {
  NodeId best = kNoNode;
  std::vector<NodeId> left = {kRoot};
  while (!left.empty()) {
    const NodeId node = left.back();
    left.pop_back();
    const Node& n = nodes_[node];
    if (n.state != State::kOpen || (best != kNoNode && n.depth >= nodes_[best].depth)) continue;
    if (MayTake(node, worker)) {
      best = node;
      continue;
    }
    left.insert(left.end(), n.children.rbegin(), n.children.rend());
  }
  return best;
}

size_t Frontier::pending() const {
  size_t count = 0;
  std::vector<NodeId> left = {kRoot};
  while (!left.empty()) {
    const NodeId node = left.back();
    const Node& n = nodes_[node];
    left.pop_back();
    if (n.state == State::kDone || node == at_[0]) continue;
    if (n.state == State::kOut || !n.started) {
      ++count;
      continue;
    }
    for (RequestId r = n.requests; r != kNoRequest; r = requests_[r].next) ++count;
    left.insert(left.end(), n.children.begin(), n.children.end());
  }
  return count;
}

// In the order in which nodes were started, so that sleepers are looked at before those that wait
// for them; children before their parents.
void Frontier::Sweep() {
  struct Visit {
    NodeId node;
    size_t next_child;
  };
  std::vector<Visit> stack = {{kRoot, 0}};
  while (!stack.empty()) {
    Visit& top = stack.back();
    Node& n = nodes_[top.node];
    if (n.state == State::kOpen && top.next_child < n.children.size()) {
      stack.push_back({n.children[top.next_child++], 0});
      continue;
    }
    const NodeId node = top.node;
    stack.pop_back();
    if (n.state != State::kOpen || !n.started || n.busy || n.requests != kNoRequest) continue;
    const bool all_done = std::ranges::all_of(
        n.children, [&](NodeId child) { return nodes_[child].state == State::kDone; });
    if (!all_done || HasPendingSleeper(node)) continue;
    n.state = State::kDone;
    FreeChildren(node);
  }
}

// -- What workers say ----------------------------------------------------------------------------

void Frontier::Count(WorkerId worker, WordReader& reader) {
  const SearchCounts counts = ReadCounts(reader);
  if (worker != 0) counts_.Add(counts);
}

SearchCounts Frontier::TakeCounts() {
  const SearchCounts counts = counts_;
  counts_ = SearchCounts();
  return counts;
}

void Frontier::Insert(WorkerId worker, WordReader& reader) {
  const NodeId item = at_[worker];
  while (!reader.AtEnd() && reader.ok()) {
    const uint32_t depth = reader.Next();
    const RequestId request = ReadSequence(reader, &pool_, &requests_);
    if (item == kNoNode || depth >= nodes_[item].depth || requests_[request].length() == 0) {
      requests_.Destroy(request);
      Fail("a request for a node that is not above its worker's item");
      return;
    }
    const NodeId source = AncestorAt(item, depth + 1);
    Place(nodes_[source].parent, IndexAmongSiblings(source) + 1, request, source);
  }
}

// The request comes from the subtree of `source`. The children of the node before `first_child` do
// not cover it.
void Frontier::Place(NodeId node, size_t first_child, RequestId request, NodeId source) {
  for (size_t k = first_child; k < nodes_[node].children.size();) {
    const NodeId child = nodes_[node].children[k];
    const int answer = WeakInitial(pool_, pool_[nodes_[child].event], requests_[request]);
    if (answer == kNotInitial || mutation_ == FrontierMutation::kAppendOnly) {
      ++k;
      continue;
    }
    // Where the source's event does not sleep, all that comes after it is found anyway.
    if (answer == kInitialAtNone || requests_[request].length() == 1 || !SleepsAt(source, child) ||
        mutation_ == FrontierMutation::kForget) {
      requests_.Destroy(request);
      return;
    }
    if (nodes_[child].state != State::kOpen) {
      requests_.Destroy(request);
      Fail("a subtree was given out or given up too early");
      return;
    }
    requests_.RemoveEvent(request, static_cast<uint32_t>(answer));
    node = child;
    k = 0;
  }
  InsertRequest(node, request);
}

void Frontier::Start(WorkerId worker, WordReader& reader, Words* answer) {
  NodeId node = at_[worker];
  uint32_t count = reader.NextCount();
  if (node == kNoNode || !nodes_[node].busy || count == 0) return Fail("nothing was to be started");
  nodes_[node].busy = false;
  do {
    const NodeId child = AddChild(node, ReadEvent(reader, &pool_), State::kOpen);
    Sift(node, child);
    node = child;
  } while (--count > 0 && HasPendingSleeper(node));
  if (HasPendingSleeper(node)) return Fail("still asleep at the end of a request");
  nodes_[node].state = State::kOut;
  at_[worker] = node;
  answer->push_back(nodes_[node].depth);
  WriteRequests(pool_, requests_, nodes_[node].requests, kNoRequest, answer);
}

// The sifting of 2.2: hands the new child every request that can begin with it.
void Frontier::Sift(NodeId node, NodeId child) {
  RequestId kept = kNoRequest, id = nodes_[node].requests;
  nodes_[node].requests = kNoRequest;
  while (id != kNoRequest) {
    const RequestId next = requests_[id].next;
    const int answer = WeakInitial(pool_, pool_[nodes_[child].event], requests_[id]);
    if (answer == kNotInitial || (answer != 0 && mutation_ == FrontierMutation::kNoSift)) {
      requests_[id].next = kept;
      kept = id;
    } else {
      requests_.Unlist(id);
      if (answer == kInitialAtNone || requests_[id].length() == 1) {
        requests_.Destroy(id);
      } else {
        requests_.RemoveEvent(id, static_cast<uint32_t>(answer));
        InsertRequest(child, id);
      }
    }
    id = next;
  }
  nodes_[node].requests = kept;
}

void Frontier::TakeState(WorkerId worker, WordReader& reader, Words* answer) {
  const NodeId root = at_[worker];
  if (root == kNoNode || nodes_[root].state != State::kOut) return Fail("no item to tell of");
  const bool gives_away = reader.Next() != 0;
  Count(worker, reader);
  FreeChildren(root);
  FreeRequests(root);
  std::vector<NodeId> path;
  const NodeId leaf = ReadNodes(root, reader.NextCount(), reader, &path);
  nodes_[leaf].state = State::kDone;
  answer->push_back(nodes_[root].depth);
  if (!gives_away) return;
  nodes_[root].state = State::kOpen;
  nodes_[root].only_owner = false;
  at_[worker] = kNoNode;
  size_t k = 0;
  while (k < path.size() && nodes_[path[k]].requests == kNoRequest) ++k;
  answer->front() = kNothing;
  if (k + 1 < path.size()) {
    nodes_[path[k + 1]].state = State::kOut;
    at_[worker] = path[k + 1];
    answer->front() = nodes_[path[k + 1]].depth;
  }
  Sweep();
}

// Reads `count` nodes, one below the other. Returns the last child.
Frontier::NodeId Frontier::ReadNodes(NodeId root, uint32_t count, WordReader& reader,
                                     std::vector<NodeId>* path) {
  NodeId node = root;
  for (; count > 0 && reader.ok(); --count) {
    path->push_back(node);
    for (uint32_t left = reader.NextCount(); left > 0; --left) {
      AddChild(node, ReadEvent(reader, &pool_), State::kDone);
    }
    const NodeId child = AddChild(node, ReadEvent(reader, &pool_), State::kOpen);
    for (uint32_t left = reader.NextCount(); left > 0; --left) {
      InsertRequest(node, ReadSequence(reader, &pool_, &requests_));
    }
    node = child;
  }
  return node;
}

void Frontier::Finish(WorkerId worker, WordReader& reader) {
  Count(worker, reader);
  const NodeId node = at_[worker];
  at_[worker] = kNoNode;
  if (node == kNoNode) return;
  if (nodes_[node].state != State::kOut) return Fail("an item was finished before it was started");
  ++finished_;
  nodes_[node].state = State::kDone;
  FreeChildren(node);
  FreeRequests(node);
  Sweep();
}

void Frontier::Take(WorkerId worker, Words* answer) {
  if (at_[worker] != kNoNode) return Fail("a second item was asked for");
  const NodeId node = BestFor(worker);
  if (node == kNoNode) {
    answer->push_back(static_cast<uint32_t>(complete() ? ItemKind::kOver : ItemKind::kNone));
    return;
  }
  Node& n = nodes_[node];
  at_[worker] = node;
  if (n.started) {
    n.busy = true;
    answer->push_back(static_cast<uint32_t>(ItemKind::kStart));
    WritePath(node, true, answer);
    WriteSequence(pool_, requests_[n.requests].events(), answer);
  } else {
    n.state = State::kOut;
    answer->push_back(static_cast<uint32_t>(ItemKind::kOwn));
    WritePath(node, false, answer);
    WriteRequests(pool_, requests_, n.requests, kNoRequest, answer);
  }
}

// The length of the path; for each of its events the siblings started earlier, then the event; and
// what has been started at the node itself.
void Frontier::WritePath(NodeId node, bool with_own_children, Words* answer) const {
  std::vector<NodeId> path(nodes_[node].depth);
  for (NodeId at = node; at != kRoot; at = nodes_[at].parent) path[nodes_[at].depth - 1] = at;
  answer->push_back(nodes_[node].depth);
  for (const NodeId at : path) {
    const std::vector<NodeId>& siblings = nodes_[nodes_[at].parent].children;
    const size_t earlier = IndexAmongSiblings(at);
    answer->push_back(static_cast<uint32_t>(earlier));
    for (size_t k = 0; k < earlier; ++k) WriteEvent(pool_[nodes_[siblings[k]].event], answer);
    WriteEvent(pool_[nodes_[at].event], answer);
  }
  if (!with_own_children) return;
  answer->push_back(static_cast<uint32_t>(nodes_[node].children.size()));
  for (const NodeId child : nodes_[node].children) {
    WriteEvent(pool_[nodes_[child].event], answer);
  }
}

void Frontier::Lose(WorkerId worker, bool by_itself) {
  if (worker >= at_.size() || at_[worker] == kNoNode) return;
  const NodeId node = at_[worker];
  at_[worker] = kNoNode;
  nodes_[node].busy = false;
  if (nodes_[node].state == State::kOut) nodes_[node].state = State::kOpen;
  if (by_itself) {
    std::vector<NodeId> left = {node};
    while (!left.empty()) {
      Node& n = nodes_[left.back()];
      left.pop_back();
      n.only_owner = true;
      left.insert(left.end(), n.children.begin(), n.children.end());
    }
  }
  Sweep();
}

}  // namespace mc::dpor
