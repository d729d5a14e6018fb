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
    case WorkerMessage::kGive:
      TakeBack(worker, reader);
      break;
    case WorkerMessage::kCounts:
      Count(worker, reader);
      break;
    case WorkerMessage::kFinished:
      Finish(worker);
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
  Node& node = nodes_[id];
  Node& above = nodes_[parent];
  node.event = event;
  node.parent = parent;
  node.depth = above.depth + 1;
  node.state = state;
  if (state != State::kDone) {
    ++above.open_children;
    const EventRecord& e = pool_[event];
    const auto sleeps = [&](NodeId sleeper) {
      const EventRecord& s = pool_[nodes_[sleeper].event];
      return nodes_[sleeper].state != State::kDone && s.thread != e.thread && !pool_.Conflict(s, e);
    };
    std::ranges::copy_if(above.sleepers, std::back_inserter(node.sleepers), sleeps);
    std::ranges::copy_if(above.children, std::back_inserter(node.sleepers), sleeps);
  }
  above.children.push_back(id);
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
    nodes_[id] = Node();
    nodes_[id].state = State::kDone;
    free_.push_back(id);
  }
}

// A queue is told from others by its node. While one is busy with a request of which it is not
// known how it begins, nothing that comes can lead: it may be the new child's.
void Frontier::InsertRequest(NodeId node, RequestId request) {
  Node& n = nodes_[node];
  const bool can_lead = !n.busy || n.requests.leading != kNoRequest;
  const QueuePlace place =
      can_lead ? queues_.PlaceOf(n.requests, requests_[request].events(), &EventPool::SameChoices)
               : QueuePlace::kOthers;
  queues_.Put(request, place, node, &n.requests);
  ListIfReady(node);
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
  return std::ranges::find(nodes_[node].sleepers, sibling) != nodes_[node].sleepers.end();
}

Frontier::NodeId Frontier::PendingSleeper(NodeId node) {
  if (mutation_ == FrontierMutation::kGiveUpEarly) return kNoNode;
  std::vector<NodeId>& sleepers = nodes_[node].sleepers;
  while (!sleepers.empty() && nodes_[sleepers.back()].state == State::kDone) sleepers.pop_back();
  return sleepers.empty() ? kNoNode : sleepers.back();
}

void Frontier::ListIfReady(NodeId node) {
  if (!IsReady(node) || nodes_[node].listed) return;
  const uint32_t depth = nodes_[node].depth;
  if (ready_.size() <= depth) ready_.resize(depth + 1);
  ready_[depth].push_back(node);
  nodes_[node].listed = true;
}

// The shallowest, so that items are large.
Frontier::NodeId Frontier::Best() {
  for (uint32_t depth = 0; depth < ready_.size(); ++depth) {
    std::vector<NodeId>& nodes = ready_[depth];
    while (!nodes.empty()) {
      const NodeId node = nodes.back();
      const bool is_here = nodes_[node].depth == depth;  // else it was freed and is another one now
      if (is_here && IsReady(node)) return node;
      if (is_here) nodes_[node].listed = false;
      nodes.pop_back();
    }
  }
  return kNoNode;
}

size_t Frontier::pending() const {
  size_t count = 0;
  std::vector<NodeId> left = {kRoot};
  while (!left.empty()) {
    const NodeId node = left.back();
    const Node& n = nodes_[node];
    left.pop_back();
    if (n.state == State::kDone || node == at_[0]) continue;
    if (n.state == State::kOut) {
      ++count;
      continue;
    }
    queues_.ForEach(n.requests, [&](RequestId) { ++count; });
    left.insert(left.end(), n.children.begin(), n.children.end());
  }
  return count;
}

void Frontier::SetDone(NodeId node) {
  to_check_.assign(1, node);
  nodes_[node].state = State::kOpen;
  while (!to_check_.empty()) {
    const NodeId next = to_check_.back();
    to_check_.pop_back();
    Check(next);
  }
}

void Frontier::Check(NodeId node) {
  Node& n = nodes_[node];
  if (n.state != State::kOpen || n.busy || !n.requests.empty() || n.open_children > 0) return;
  if (const NodeId sleeper = PendingSleeper(node); sleeper != kNoNode) {
    nodes_[sleeper].waiters.push_back(node);
    return;
  }
  n.state = State::kDone;
  to_check_.insert(to_check_.end(), n.waiters.begin(), n.waiters.end());
  n.waiters.clear();
  if (node != kRoot) {
    --nodes_[n.parent].open_children;
    to_check_.push_back(n.parent);
  }
  FreeChildren(node);
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
    const RequestId request = ReadRequest(reader);
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
  const NodeId from = node;
  chain_.clear();
  do {
    node = AddChild(node, ReadKnown(reader), State::kOpen);
    chain_.push_back(node);
  } while (--count > 0 && PendingSleeper(node) != kNoNode);
  if (PendingSleeper(node) != kNoNode) return Fail("still asleep at the end of a request");
  Sift(from, chain_);
  nodes_[node].state = State::kOut;
  at_[worker] = node;
  answer->push_back(nodes_[node].depth);
  queues_.Write(nodes_[node].requests, answer);
  FreeRequests(node);
}

// The sifting of 2.2: hands down, along the new nodes below, every request of the node that can
// begin with the event of the first one.
void Frontier::Sift(NodeId node, std::span<const NodeId> chain) {
  RequestQueue& queue = nodes_[node].requests;
  for (RequestId* at : {&queue.leading, &queue.others}) {
    while (*at != kNoRequest) {
      const int answer = WeakInitial(pool_, pool_[nodes_[chain[0]].event], requests_[*at]);
      if (answer == kNotInitial || (answer != 0 && mutation_ == FrontierMutation::kNoSift)) {
        at = &requests_[*at].next;
      } else {
        HandOver(queues_.Take(at), answer, chain);
      }
    }
  }
  ListIfReady(node);
}

// `answer`: how the request can begin with the event of the first node of the chain. What reaches
// the last is not sorted there: the request that was started goes on first.
void Frontier::HandOver(RequestId request, int answer, std::span<const NodeId> chain) {
  for (size_t k = 0;; ++k) {
    if (answer == kInitialAtNone || requests_[request].length() == 1) {
      requests_.Destroy(request);
      return;
    }
    requests_.RemoveEvent(request, static_cast<uint32_t>(answer));
    if (k + 1 == chain.size()) {
      queues_.Put(request, QueuePlace::kOthers, chain[k], &nodes_[chain[k]].requests);
      return;
    }
    answer = WeakInitial(pool_, pool_[nodes_[chain[k + 1]].event], requests_[request]);
    if (answer == kNotInitial || (answer != 0 && mutation_ == FrontierMutation::kNoSift)) {
      InsertRequest(chain[k], request);
      return;
    }
  }
}

void Frontier::TakeBack(WorkerId worker, WordReader& reader) {
  NodeId node = at_[worker];
  if (node == kNoNode || nodes_[node].state != State::kOut) return Fail("no item to give away");
  FreeRequests(node);
  for (uint32_t count = reader.NextCount(); count > 0 && reader.ok(); --count) {
    nodes_[node].state = State::kOpen;
    for (uint32_t left = reader.NextCount(); left > 0; --left) {
      AddChild(node, ReadKnown(reader), State::kDone);
    }
    const NodeId child = AddChild(node, ReadKnown(reader), State::kOpen);
    for (uint32_t left = reader.NextCount(); left > 0; --left) {
      InsertRequest(node, ReadRequest(reader));
    }
    node = child;
  }
  const bool keeps = reader.Next() != 0;
  at_[worker] = keeps ? node : kNoNode;
  if (keeps) {
    nodes_[node].state = State::kOut;
  } else {
    SetDone(node);
  }
}

void Frontier::Finish(WorkerId worker) {
  const NodeId node = at_[worker];
  if (node == kNoNode || nodes_[node].state != State::kOut) {
    return Fail("an item was finished before it was started");
  }
  ++finished_;
  at_[worker] = kNoNode;
  FreeRequests(node);
  SetDone(node);
}

void Frontier::Take(WorkerId worker, Words* answer) {
  if (at_[worker] != kNoNode) return Fail("a second item was asked for");
  const NodeId node = Best();
  if (node == kNoNode) {
    answer->push_back(static_cast<uint32_t>(complete() ? ItemKind::kOver : ItemKind::kNone));
    return;
  }
  nodes_[node].busy = true;
  at_[worker] = node;
  answer->push_back(static_cast<uint32_t>(ItemKind::kStart));
  WritePath(node, answer);
  WriteSequence(pool_, requests_[nodes_[node].requests.front()].events(), answer);
}

// The length of the path; for each of its events the siblings started earlier, then the event; and
// what has been started at the node itself.
void Frontier::WritePath(NodeId node, Words* answer) const {
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
  answer->push_back(static_cast<uint32_t>(nodes_[node].children.size()));
  for (const NodeId child : nodes_[node].children) {
    WriteEvent(pool_[nodes_[child].event], answer);
  }
}

// -- Events that many requests have --------------------------------------------------------------

EventId Frontier::ReadKnown(WordReader& reader) {
  constexpr size_t kRecent = 1 << 12;
  if (recent_.empty()) recent_.assign(kRecent, kNoEvent);
  const EventId read = ReadEvent(reader, &pool_);
  const EventRecord& e = pool_[read];
  const uint64_t bits = e.summary.read * 3 + e.summary.write * 5 + e.summary.add * 7;
  EventId& known = recent_[((e.identity ^ bits) * 0x9e3779b97f4a7c15u) >> 52];
  if (known != kNoEvent) {
    const EventRecord& k = pool_[known];
    if (k.thread == e.thread && k.index == e.index && k.exact == e.exact &&
        k.universal == e.universal && EventPool::SameChoices(k, e) &&
        std::ranges::equal(k.footprint(), e.footprint())) {
      pool_.Release(read);
      pool_.AddReference(known);
      return known;
    }
    pool_.Release(known);
  }
  pool_.AddReference(read);
  known = read;
  return read;
}

RequestId Frontier::ReadRequest(WordReader& reader) {
  const uint32_t length = reader.NextCount();
  const RequestId id = requests_.Create(length);
  for (uint32_t k = 0; k < length; ++k) requests_.Append(id, ReadKnown(reader));
  return id;
}

}  // namespace mc::dpor
