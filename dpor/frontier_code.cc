// A frontier written down as numbers, and read again.
#include "dpor/frontier.h"

namespace mc::dpor {

// The number of items that were finished; the nodes, each after its parent and after the siblings
// that were started earlier: number of the parent, event (neither of the root), state, requests.
void Frontier::Write(Words* words) const {
  words->push_back(static_cast<uint32_t>(finished_));
  std::vector<std::pair<NodeId, uint32_t>> left = {{kRoot, 0}};  // with the number of the parent
  const size_t count_at = words->size();
  uint32_t count = 0;
  words->push_back(0);
  while (!left.empty()) {
    const auto [id, parent] = left.back();
    left.pop_back();
    const Node& node = nodes_[id];
    if (id != kRoot) {
      words->push_back(parent);
      WriteEvent(pool_[node.event], words);
    }
    words->push_back(static_cast<uint32_t>(node.state));
    queues_.Write(node.requests, words);
    for (size_t k = node.children.size(); k-- > 0;) left.emplace_back(node.children[k], count);
    ++count;
  }
  (*words)[count_at] = count;
}

bool Frontier::Read(WordReader& reader) {
  finished_ = reader.Next();
  at_.assign(1, kNoNode);
  std::vector<NodeId> nodes;
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    if (!ReadNode(reader, &nodes)) return false;
  }
  if (nodes.empty()) return false;
  // Who waits for whom is found out again. What is done below a node comes before the node.
  for (size_t k = nodes.size(); k-- > 0;) {
    to_check_.assign(1, nodes[k]);
    while (!to_check_.empty()) {
      const NodeId next = to_check_.back();
      to_check_.pop_back();
      Check(next);
    }
  }
  return reader.ok();
}

bool Frontier::ReadNode(WordReader& reader, std::vector<NodeId>* nodes) {
  NodeId id = kRoot;
  if (!nodes->empty()) {
    const uint32_t parent = reader.Next();
    if (!reader.ok() || parent >= nodes->size()) return false;
    id = AddChild((*nodes)[parent], ReadKnown(reader), State::kOpen);
  }
  const uint32_t state = reader.Next();
  if (!reader.ok() || state > static_cast<uint32_t>(State::kDone)) return false;
  nodes->push_back(id);
  nodes_[id].state = static_cast<State>(state);
  if (nodes_[id].state == State::kOut) {
    if (at_[0] != kNoNode) return false;  // two items of one worker
    at_[0] = id;
  }
  if (nodes_[id].state == State::kDone && id != kRoot) --nodes_[nodes_[id].parent].open_children;
  for (uint32_t left = reader.NextCount(); left > 0; --left) {
    InsertRequest(id, ReadRequest(reader));
  }
  return reader.ok();
}

}  // namespace mc::dpor
