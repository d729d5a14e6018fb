#include "racedet/access_history.h"

namespace mc::racedet {

void AccessHistory::Reset() {
  ++generation_;
  levels_in_use_ = 0;
  classes_.CutBack(0);
  accesses_.CutBack(0);
  if (by_thread_.size() > kMaxNodes) by_thread_.Clear();
  for (uint32_t i = 0; i < threads_.size(); ++i) threads_[i].dead = 0;
  if (nodes_.size() > kMaxNodes) {  // a program whose addresses do not repeat
    nodes_.Release();
    index_.Clear();
  }
}

uint32_t AccessHistory::MakeNode(int level, uint64_t number) {
  const uint32_t index = nodes_.size();
  nodes_.GrowTo(index + 1);
  index_.Insert(KeyOf(level, number), index);
  nodes_[index].number = number;
  nodes_[index].level = static_cast<uint8_t>(level);
  if (level + 1 < kLevels) {
    const uint64_t parent_number = number >> kFanoutShift;
    const uint32_t found = index_.Find(KeyOf(level + 1, parent_number));
    const uint32_t parent = found != kNone ? found : MakeNode(level + 1, parent_number);
    nodes_[index].parent = parent;
    nodes_[parent].children |= 1u << (number & ((1u << kFanoutShift) - 1));
  }
  return index;
}

void AccessHistory::ForgetNode(Node& node) {
  // Nothing was added since the death: what adds to a node visits it first.
  log_.Set(node.head, kNone);
  log_.Set(node.owner, 0);
}

void AccessHistory::ThreadDied(sched::ThreadId thread) {
  threads_.GrowTo(thread + 1u);
  log_.Set(threads_[thread].dead, 1);
}

void AccessHistory::Age(AccessClass& past, bool by_free) {
  // What is recycled stays so.
  const Lifetime from = by_free ? Lifetime::kCurrent : Lifetime::kFreed;
  const Lifetime to = by_free ? Lifetime::kFreed : Lifetime::kRecycled;
  for (LastAccess* last = &past.first;; last = &accesses_[last->next]) {
    if (last->lifetime() == from) log_.Set(last->stamp, LastAccess::Stamp(last->position(), to));
    if (last->next == kNone) break;
  }
}

LastAccess* AccessHistory::Find(uint32_t class_index, sched::ThreadId thread) {
  constexpr uint32_t kFew = 4;  // as many are looked through one by one
  AccessClass& in = classes_[class_index];
  if (in.first.thread == thread) return &in.first;
  if (in.threads <= kFew) {
    for (uint32_t i = in.first.next; i != kNone; i = accesses_[i].next) {
      if (accesses_[i].thread == thread) return &accesses_[i];
    }
    return nullptr;
  }
  const uint32_t found = by_thread_.Find(uint64_t{class_index} << 16 | thread);
  if (found == kNone || found >= accesses_.size()) return nullptr;
  LastAccess& last = accesses_[found];
  return last.class_index == class_index && last.thread == thread ? &last : nullptr;
}

void AccessHistory::Keep(Node& node, uint32_t same, const AccessClass& access) {
  const LastAccess& newest = access.first;
  if (access.flags & sched::kThreadLocal) {
    threads_.GrowTo(newest.thread + 1u);
    log_.Set(node.owner, newest.thread + 1u);
  }
  if (same == kNone) {
    levels_in_use_ |= 1u << node.level;
    const uint32_t index = classes_.Append();
    AccessClass& made = classes_[index];
    made = access;
    made.next = node.head;
    made.threads = 1;
    made.first.next = kNone;
    made.first.class_index = index;
    log_.Set(node.head, index);
    return;
  }
  if (LastAccess* last = Find(same, newest.thread)) {
    log_.Set(last->stamp, newest.stamp);
    return;
  }
  AccessClass& in = classes_[same];
  const uint32_t index = accesses_.Append();
  accesses_[index] = {newest.stamp, in.first.next, same, newest.thread};
  log_.Set(in.first.next, index);
  log_.Set(in.threads, in.threads + 1);
  by_thread_.Put(uint64_t{same} << 16 | newest.thread, index);
}

}  // namespace mc::racedet
