// HeapBlock: all that is known about one block of the checked program's heap.
//
// Records live outside the memory that the program can reach by a small overrun, so they survive
// any bug of it that the shadow memory would report. A record belongs to one slot of the heap and
// describes the slot's current block, or its last one once that is freed.
#ifndef MC_SCHED_HEAP_BLOCK_H_
#define MC_SCHED_HEAP_BLOCK_H_

#include <cstdint>

#include "sched/event.h"

namespace mc::sched {

// What a block was allocated, or is freed, with.
enum class AllocationKind : uint8_t {
  kMalloc = 0,  // malloc, calloc, realloc; as the kind of a release: free
  kAligned,     // aligned_alloc, memalign, posix_memalign, valloc; released by free
  kNew,         // operator new; operator delete
  kNewArray,    // operator new[]; operator delete[]
  kAlignedNew,  // the forms with std::align_val_t
  kAlignedNewArray,
};

// Two kinds match if one may release what the other allocated.
constexpr bool KindsMatch(AllocationKind allocation, AllocationKind release) {
  constexpr uint8_t kFamily[] = {0, 0, 1, 2, 1, 2};
  return kFamily[static_cast<uint8_t>(allocation)] == kFamily[static_cast<uint8_t>(release)];
}

// The function's name, for reports: "malloc", "operator new", ...
constexpr const char* AllocatorNameOf(AllocationKind kind) {
  constexpr const char* kNames[] = {"malloc",         "aligned_alloc", "operator new",
                                    "operator new[]", "operator new",  "operator new[]"};
  return kNames[static_cast<uint8_t>(kind)];
}
constexpr const char* ReleaseNameOf(AllocationKind kind) {
  constexpr const char* kNames[] = {"free",
                                    "free",
                                    "operator delete",
                                    "operator delete[]",
                                    "operator delete",
                                    "operator delete[]"};
  return kNames[static_cast<uint8_t>(kind)];
}

enum class BlockState : uint8_t { kLive, kFreed };

struct HeapBlock {
  uint64_t begin = 0;  // address handed to the program
  uint64_t size = 0;   // bytes asked for
  // Which allocation this is: (allocating thread, ordinal among its allocations of this
  // execution). The same in every execution in which the thread has the same past; two blocks of
  // one execution never share it. Never 0.
  uint64_t identity = 0;
  uint64_t allocation_pc = 0;
  uint64_t free_pc = 0;       // 0 while live
  HeapBlock* next = nullptr;  // in a free list; the heap's own business
  ThreadId allocating_thread = kNoThread;
  ThreadId freeing_thread = kNoThread;  // kNoThread while live
  AllocationKind kind = AllocationKind::kMalloc;
  BlockState state = BlockState::kFreed;
  uint8_t size_class = 0;
  bool saved = false;           // its state at the snapshot is on the undo chain
  uint32_t units = 0;           // large blocks: length of the slot in units, else 0
  bool since_snapshot = false;  // allocated after the snapshot (or there is no snapshot yet)

  uint64_t end() const { return begin + size; }
  bool live() const { return state == BlockState::kLive; }
};
static_assert(sizeof(HeapBlock) == 64, "one cache line");

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_BLOCK_H_
