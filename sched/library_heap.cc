#include "sched/library_heap.h"

#include <algorithm>

#include "sched/heap_layout.h"

namespace mc::sched {

namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kHeader = 16;  // holds the size

bool g_reserved = false;
bool g_loading = false;
uintptr_t g_loader_begin = 0, g_loader_end = 0;
uintptr_t g_first = kLibraryHeapBase;  // of the blocks of this loading
uintptr_t g_next = kLibraryHeapBase;

}  // namespace

void BeginLoading(uintptr_t begin, uintptr_t end) {
  if (!g_reserved) ReserveAt(kLibraryHeapBase, kLibraryHeapSize, "the heap of loaded libraries");
  g_reserved = g_loading = true;
  g_loader_begin = begin;
  g_loader_end = end;
  g_first = g_next;
}

uintptr_t EndLoading() {
  g_loading = false;
  g_next = (g_next + kPageBytes - 1) & ~(kPageBytes - 1);
  return g_first;
}

uintptr_t LibraryHeapEnd() { return g_next; }

bool BelongsToLibraryHeap(uint64_t caller_pc) {
  return g_loading && (caller_pc < g_loader_begin || caller_pc >= g_loader_end);
}

void* LibraryAllocate(size_t size, size_t alignment) {
  alignment = std::max(alignment, kHeader);
  const uintptr_t block = (g_next + kHeader + alignment - 1) & ~(alignment - 1);
  if (size > kLibraryHeapBase + kLibraryHeapSize - block) return nullptr;
  reinterpret_cast<size_t*>(block)[-1] = size;
  g_next = block + size;
  return reinterpret_cast<void*>(block);
}

size_t LibraryBlockSize(const void* block) { return static_cast<const size_t*>(block)[-1]; }

}  // namespace mc::sched
