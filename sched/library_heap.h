// The heap of libraries that the program loads while it runs: what their constructors allocate.
//
// Like the libraries' variables it is part of the snapshot from then on, and goes back to it before
// every execution. Blocks are never handed out again: a free does nothing, so that an execution
// that frees one leaves no trace in the next.
#ifndef MC_SCHED_LIBRARY_HEAP_H_
#define MC_SCHED_LIBRARY_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

inline constexpr uintptr_t kLibraryHeapBase = 0x70f000000000;
inline constexpr size_t kLibraryHeapSize = size_t{256} << 20;

inline bool IsLibraryBlock(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) - kLibraryHeapBase < kLibraryHeapSize;
}

// Only while a library is being loaded do allocations come here; but not those of the loader
// itself, whose code is [begin, end): its state is not part of the snapshot.
void BeginLoading(uintptr_t begin, uintptr_t end);
// Returns where the blocks that were allocated since begin: whole pages, as far as
// LibraryHeapEnd().
uintptr_t EndLoading();
uintptr_t LibraryHeapEnd();
bool BelongsToLibraryHeap(uint64_t caller_pc);

// nullptr if the heap is full. Zeroed; `alignment` is a power of two.
void* LibraryAllocate(size_t size, size_t alignment);
size_t LibraryBlockSize(const void* block);

}  // namespace mc::sched

#endif  // MC_SCHED_LIBRARY_HEAP_H_
