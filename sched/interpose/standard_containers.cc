// The functions of libstdc++ that containers call in its library, where their accesses are not
// seen: linking and unlinking list nodes, walking and rebalancing trees, growing hash tables,
// hashing strings.
//
// What is seen of std::list, std::map, std::set and the unordered containers is otherwise their
// headers' part only. A program that uses them under a lock would then seem to do other things from
// execution to execution, and races on them would be missed.
//
// Lists and trees are done here, access by access. Hash tables ask for a number, which the library
// goes on to compute.
#include <stddef.h>
#include <stdint.h>

#include "sched/interpose/export.h"
#include "sched/interpose/real.h"
#include "sched/red_black_tree.h"
#include "sched/scheduler.h"

namespace mc::sched {
namespace {

void Touch(const void* place, size_t size, uint8_t mode, uint64_t pc) {
  if (!g_program_running || size == 0) return;
  EngineScope scope;
  g_scheduler.Access(reinterpret_cast<uintptr_t>(place), size, mode, 0, pc);
}

// Accesses to the program's memory on behalf of the code at `pc`.
class ProgramMemory {
 public:
  explicit ProgramMemory(uint64_t pc) : pc_(pc) {}

  template <typename T>
  T Load(const T& place) const {
    Touch(&place, sizeof place, kRead, pc_);
    return place;
  }
  template <typename T>
  void Store(T& place, T value) const {
    Touch(&place, sizeof place, kWrite, pc_);
    place = value;
  }

 private:
  uint64_t pc_;
};

using Tree = RedBlackTree<ProgramMemory>;

// As std::__detail::_List_node_base. The end of a list is a node too, and the list a ring.
struct ListNode {
  ListNode* next;
  ListNode* previous;
};

// `list`, which is about to get the nodes of `from`, whose ends were these.
void TakeNodes(ListNode& list, const ListNode& ends, const ListNode& from, ProgramMemory memory) {
  if (ends.next == &from) {  // it was empty
    memory.Store(list.next, &list);
    memory.Store(list.previous, &list);
    return;
  }
  memory.Store(list.next, ends.next);
  memory.Store(list.previous, ends.previous);
  memory.Store(ends.next->previous, &list);
  memory.Store(ends.previous->next, &list);
}

// As std::__detail::_Prime_rehash_policy.
struct RehashPolicy {
  float most_per_bucket;
  size_t next_resize;  // changed by functions that are const
};

// Asks the library. What it reads and writes is the policy alone.
template <typename Ask>
auto AskPolicy(const RehashPolicy& policy, uint64_t pc, Ask ask) {
  if (!g_program_running) return ask();
  Touch(&policy, sizeof policy, kRead, pc);
  const size_t before = policy.next_resize;
  const auto answer = ask();
  if (policy.next_resize != before) {
    EngineScope scope;
    g_scheduler.RecordMemory(reinterpret_cast<uintptr_t>(&policy.next_resize),
                             sizeof policy.next_resize, kWrite, 0, pc, MemoryOrder::kRelaxed);
  }
  return answer;
}

}  // namespace
}  // namespace mc::sched

using namespace mc::sched;  // NOLINT: the functions below are the library's

// ------------------------------------------------------------------------------------------ list

// node.hook(position): links it before `position`.
MC_EXPORT void _ZNSt8__detail15_List_node_base7_M_hookEPS0_(ListNode* node, ListNode* position) {
  const ProgramMemory memory(MC_CALLER_PC());
  memory.Store(node->next, position);
  ListNode* const before = memory.Load(position->previous);
  memory.Store(node->previous, before);
  memory.Store(before->next, node);
  memory.Store(position->previous, node);
}

MC_EXPORT void _ZNSt8__detail15_List_node_base9_M_unhookEv(ListNode* node) {
  const ProgramMemory memory(MC_CALLER_PC());
  ListNode* const after = memory.Load(node->next);
  ListNode* const before = memory.Load(node->previous);
  memory.Store(before->next, after);
  memory.Store(after->previous, before);
}

// position.transfer(first, last): moves [first, last) before `position`.
MC_EXPORT void _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(ListNode* position,
                                                                    ListNode* first,
                                                                    ListNode* last) {
  if (position == last) return;
  const ProgramMemory memory(MC_CALLER_PC());
  ListNode* const moved_last = memory.Load(last->previous);
  ListNode* const before_first = memory.Load(first->previous);
  ListNode* const before_position = memory.Load(position->previous);
  memory.Store(before_first->next, last);
  memory.Store(last->previous, before_first);
  memory.Store(before_position->next, first);
  memory.Store(first->previous, before_position);
  memory.Store(moved_last->next, position);
  memory.Store(position->previous, moved_last);
}

MC_EXPORT void _ZNSt8__detail15_List_node_base10_M_reverseEv(ListNode* node) {
  const ProgramMemory memory(MC_CALLER_PC());
  ListNode* at = node;
  do {
    ListNode* const next = memory.Load(at->next);
    ListNode* const previous = memory.Load(at->previous);
    memory.Store(at->next, previous);
    memory.Store(at->previous, next);
    at = next;
  } while (at != node);
}

MC_EXPORT void _ZNSt8__detail15_List_node_base4swapERS0_S1_(ListNode& a, ListNode& b) {
  const ProgramMemory memory(MC_CALLER_PC());
  const ListNode of_a = {memory.Load(a.next), memory.Load(a.previous)};
  const ListNode of_b = {memory.Load(b.next), memory.Load(b.previous)};
  TakeNodes(a, of_b, b, memory);
  TakeNodes(b, of_a, a, memory);
}

// ------------------------------------------------------------------------------------------ tree

MC_EXPORT TreeNode* _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(TreeNode* node) {
  return Tree(ProgramMemory(MC_CALLER_PC())).Next(node);
}
MC_EXPORT TreeNode* _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(TreeNode* node) {
  return Tree(ProgramMemory(MC_CALLER_PC())).Next(node);
}
MC_EXPORT TreeNode* _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(TreeNode* node) {
  return Tree(ProgramMemory(MC_CALLER_PC())).Previous(node);
}
MC_EXPORT TreeNode* _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(TreeNode* node) {
  return Tree(ProgramMemory(MC_CALLER_PC())).Previous(node);
}
MC_EXPORT void _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(bool left,
                                                                                 TreeNode* node,
                                                                                 TreeNode* parent,
                                                                                 TreeNode& header) {
  Tree(ProgramMemory(MC_CALLER_PC())).Insert(left, node, parent, header);
}
MC_EXPORT TreeNode* _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(TreeNode* node,
                                                                                 TreeNode& header) {
  Tree(ProgramMemory(MC_CALLER_PC())).Erase(node, header);
  return node;
}

// ------------------------------------------------------------------------------------ hash tables

MC_EXPORT NeedRehash _ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm(
    const RehashPolicy* policy, size_t buckets, size_t elements, size_t added) {
  return AskPolicy(*policy, MC_CALLER_PC(), [&] {
    return Real().rehash_policy_need_rehash(policy, buckets, elements, added);
  });
}
MC_EXPORT size_t _ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm(const RehashPolicy* policy,
                                                                      size_t wanted) {
  return AskPolicy(*policy, MC_CALLER_PC(),
                   [&] { return Real().rehash_policy_next_buckets(policy, wanted); });
}

// Of strings, mostly.
MC_EXPORT size_t _ZSt11_Hash_bytesPKvmm(const void* bytes, size_t size, size_t seed) {
  Touch(bytes, size, kRead, MC_CALLER_PC());
  return Real().hash_bytes(bytes, size, seed);
}
MC_EXPORT size_t _ZSt15_Fnv_hash_bytesPKvmm(const void* bytes, size_t size, size_t seed) {
  Touch(bytes, size, kRead, MC_CALLER_PC());
  return Real().fnv_hash_bytes(bytes, size, seed);
}
