// AccessHistory: which earlier accesses of an execution a detector still has to compare with.
//
// What is kept. Accesses that agree in instruction, mode, kind, bytes and lockset form a class. Of
// each class only the latest access of every thread is kept. It suffices, for both rules: whether
// an access of thread u is ordered before a later one is the comparison of its position with a
// bound for u (ClockArena), so if any of u's accesses in the class is unordered with it, the latest
// is; their locksets are equal; and if any was made after the last free, the latest was. So every
// fact (CandidateTable) that any of them would yield together with the later access, the latest
// yields. The latest access of a thread alone would not do: under must-happen-before, or with
// another lockset, an older one may still be a candidate with another instruction of the later
// thread. That classes come before threads lets a detector dismiss all threads' accesses of a class
// in one step.
//
// Where. A tree over addresses with 16 children per node: level 0 nodes span 8 bytes, level k nodes
// 8 * 16^k. An access is stored in at most kMaxPieces nodes, of the finest level for which that is
// enough; so megabytes cost no more than a word. To find what overlaps an access one looks at those
// nodes, at their ancestors (on levels in use), and at those descendants in range that exist.
// Overlap is then decided on the exact bytes.
//
// Lifetimes. A free marks what it overlaps as freed, an allocation what is marked freed as
// recycled: an access is recycled iff its block was freed and handed out again since.
//
// Stacks. The first kThreadLocal access gives a node an owner. When that thread dies, everything in
// its nodes is forgotten, at the next visit.
//
// Nodes stay for good (addresses repeat from execution to execution) and count as empty if they
// were last used in an earlier execution, so Reset is O(1). All else is undone through the UndoLog.
#ifndef MC_RACEDET_ACCESS_HISTORY_H_
#define MC_RACEDET_ACCESS_HISTORY_H_

#include <bit>
#include <cstdint>

#include "racedet/open_hash.h"
#include "racedet/stable_array.h"
#include "racedet/undo_log.h"
#include "sched/event.h"

namespace mc::racedet {

enum class Lifetime : uint32_t {
  kCurrent,   // the bytes were not freed since
  kFreed,     // they were freed since (or it is the free)
  kRecycled,  // they were freed and then allocated again since
};

// The latest access of one thread in a class. Position and lifetime share a word, the only one that
// changes when the thread does it again.
struct LastAccess {
  static constexpr uint32_t kMaxPosition = (1u << 30) - 1;

  uint32_t stamp = 0;
  uint32_t next = 0;         // of the same class
  uint32_t class_index = 0;  // which that is
  sched::ThreadId thread = 0;

  uint32_t position() const { return stamp >> 2; }
  Lifetime lifetime() const { return static_cast<Lifetime>(stamp & 3); }
  static uint32_t Stamp(uint32_t position, Lifetime lifetime) {
    return position << 2 | static_cast<uint32_t>(lifetime);
  }
};

struct alignas(64) AccessClass {
  uint32_t site = 0;  // of the instruction, CandidateTable::SiteOf
  sched::Cell begin = 0;
  uint32_t size = 0;
  uint32_t lockset = 0;
  uint32_t next = 0;     // in the list of its node
  uint32_t threads = 0;  // how many there are
  LastAccess first;      // heads the list of the last accesses
  uint16_t flags = 0;    // AccessFlags, masked by kKindFlags
  uint8_t mode = 0;

  static constexpr uint16_t kKindFlags = sched::kAtomic | sched::kAllocation | sched::kFree |
                                         sched::kObjectBytes | sched::kThreadLocal;

  sched::Cell end() const { return begin + size; }
  bool Same(const AccessClass& o) const {
    return site == o.site && begin == o.begin && size == o.size && lockset == o.lockset &&
           flags == o.flags && mode == o.mode;
  }
};

class AccessHistory {
 public:
  explicit AccessHistory(UndoLog& log) : log_(log) {}

  // A new execution begins.
  void Reset();

  // For cutting back, together with the UndoLog.
  struct Size {
    uint32_t classes, accesses;
  };
  Size size() const { return {classes_.size(), accesses_.size()}; }
  void CutBack(Size size) {
    classes_.CutBack(size.classes);
    accesses_.CutBack(size.accesses);
  }

  // Shows `visitor` what is kept of other threads and overlaps `access`, at least once, with its
  // lifetime as of now; and then keeps `access.first` as the latest of its thread in its class.
  //   bool visitor.Wants(const AccessClass&)                     false: not one of the class is
  //   shown void visitor.Visit(const AccessClass&, const LastAccess&)
  template <typename Visitor>
  void Record(const AccessClass& access, Visitor& visitor);

  // Forgets the bytes that die with the thread.
  void ThreadDied(sched::ThreadId thread);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  static constexpr int kLevels = 8;
  static constexpr int kBytesShift = 3;   // level 0 spans 8 bytes
  static constexpr int kFanoutShift = 4;  // 16 children
  static constexpr uint64_t kMaxPieces = 4;
  static constexpr uint32_t kMaxNodes = 1u << 21;

  struct Node {
    uint64_t number = 0;  // address >> ShiftOf(level)
    uint32_t generation = 0;
    uint32_t head = kNone;  // of its classes
    uint32_t owner = 0;     // thread + 1 whose stack this is, or 0
    uint32_t parent = kNone;
    uint16_t children = 0;  // which exist
    uint8_t level = 0;
  };
  struct Life {
    uint32_t dead = 0;
  };

  static int ShiftOf(int level) { return kBytesShift + kFanoutShift * level; }
  static uint64_t KeyOf(int level, uint64_t number) {
    return static_cast<uint64_t>(level) << 56 | number;
  }

  // The node, made if need be, as of this execution.
  uint32_t NodeAt(int level, uint64_t number) {
    const uint32_t found = index_.Find(KeyOf(level, number));
    const uint32_t node = found != kNone ? found : MakeNode(level, number);
    Refresh(nodes_[node]);
    return node;
  }
  void Refresh(Node& node) {
    if (node.generation != generation_) {
      node.generation = generation_;
      node.head = kNone;
      node.owner = 0;
    } else if (node.owner != 0 && threads_[node.owner - 1].dead) {
      ForgetNode(node);
    }
  }
  uint32_t MakeNode(int level, uint64_t number);
  void ForgetNode(Node& node);

  // Ages and shows what the node has that overlaps `access`. Returns the class equal to it.
  template <typename Visitor>
  uint32_t VisitNode(const Node& node, const AccessClass& access, Visitor& visitor);
  template <typename Visitor>
  void VisitAncestors(const Node& node, const AccessClass& access, Visitor& visitor);
  template <typename Visitor>
  void VisitDescendants(uint32_t node, const AccessClass& access, Visitor& visitor);
  void Age(AccessClass& past, bool by_free);
  void Keep(Node& node, uint32_t same, const AccessClass& access);
  // The thread's last access in the class, or null.
  LastAccess* Find(uint32_t class_index, sched::ThreadId thread);

  UndoLog& log_;
  uint32_t generation_ = 1;
  uint32_t levels_in_use_ = 0;  // bit k: accesses are kept on level k (may be set too long)
  OpenHash<uint64_t> index_;
  StableArray<Node> nodes_;
  StableArray<AccessClass> classes_;
  StableArray<LastAccess> accesses_;  // all but the first of each class
  // (class, thread) -> accesses_, for classes of many threads. Entries may be left over from what
  // was undone; what they lead to tells.
  OpenHash<uint64_t> by_thread_;
  StableArray<Life> threads_;
};

template <typename Visitor>
uint32_t AccessHistory::VisitNode(const Node& node, const AccessClass& access, Visitor& visitor) {
  uint32_t same = kNone;
  for (uint32_t i = node.head; i != kNone;) {
    AccessClass& past = classes_[i];
    if (past.begin < access.end() && access.begin < past.end()) {
      if (access.flags & (sched::kFree | sched::kAllocation))
        Age(past, access.flags & sched::kFree);
      if (visitor.Wants(past)) {
        for (const LastAccess* last = &past.first;; last = &accesses_[last->next]) {
          if (last->thread != access.first.thread) visitor.Visit(past, *last);
          if (last->next == kNone) break;
        }
      }
      if (past.Same(access)) same = i;
    }
    i = past.next;
  }
  return same;
}

template <typename Visitor>
void AccessHistory::VisitAncestors(const Node& node, const AccessClass& access, Visitor& visitor) {
  uint32_t above = levels_in_use_ >> (node.level + 1);
  for (uint32_t i = node.parent; above != 0; above >>= 1) {
    Node& ancestor = nodes_[i];
    if (above & 1) {
      Refresh(ancestor);
      VisitNode(ancestor, access, visitor);
    }
    i = ancestor.parent;
  }
}

template <typename Visitor>
void AccessHistory::VisitDescendants(uint32_t index, const AccessClass& access, Visitor& visitor) {
  const uint64_t number = nodes_[index].number;
  const int level = nodes_[index].level - 1;
  const int shift = ShiftOf(level);
  for (uint32_t left = nodes_[index].children; left != 0; left &= left - 1) {
    const uint64_t child_number = number << kFanoutShift | std::countr_zero(left);
    if (child_number < access.begin >> shift || child_number > (access.end() - 1) >> shift) {
      continue;
    }
    const uint32_t child = NodeAt(level, child_number);
    VisitNode(nodes_[child], access, visitor);
    if (level > 0) VisitDescendants(child, access, visitor);
  }
}

template <typename Visitor>
void AccessHistory::Record(const AccessClass& access, Visitor& visitor) {
  const sched::Cell last = access.end() - 1;
  int level = 0;
  while (level + 1 < kLevels &&
         (last >> ShiftOf(level)) - (access.begin >> ShiftOf(level)) >= kMaxPieces) {
    ++level;
  }
  uint32_t last_parent = kNone;
  bool first = true;
  for (uint64_t number = access.begin >> ShiftOf(level); number <= last >> ShiftOf(level);
       ++number) {
    const uint32_t index = NodeAt(level, number);
    Node& node = nodes_[index];
    const uint32_t same = VisitNode(node, access, visitor);
    if (levels_in_use_ >> (level + 1) != 0 && (first || node.parent != last_parent)) {
      VisitAncestors(node, access, visitor);
    }
    if (level > 0) VisitDescendants(index, access, visitor);
    last_parent = node.parent;
    first = false;
    Keep(node, same, access);
  }
}

}  // namespace mc::racedet

#endif  // MC_RACEDET_ACCESS_HISTORY_H_
