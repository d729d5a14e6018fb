// The engine's own heap.
//
// Between two executions the C library's data goes back to the snapshot, its allocator with it, so
// the engine must not keep anything there. This heap lies in one fixed range of the address space
// that is reserved once, so whose a pointer is can be told from its value. Blocks come from free
// lists by size class; memory once used for a class stays with it. It is usable before any
// constructor has run, by one OS thread, and never locks.
#ifndef MC_SCHED_ENGINE_HEAP_H_
#define MC_SCHED_ENGINE_HEAP_H_

#include <cstddef>
#include <cstdint>

namespace mc::sched {

// Largest alignment that EngineAllocate serves.
inline constexpr size_t kMaxEngineAlignment = 65536;

// At least `size` bytes with undefined content, aligned to `alignment` (a power of two; raised to
// 16). nullptr if the alignment is too large or the range (1 TiB) is used up. Free with EngineFree.
void* EngineAllocate(size_t size, size_t alignment = 16);
void* EngineAllocateZeroed(size_t size);
// As realloc: `pointer` may be null; the old block is freed unless nullptr is returned. The result
// is aligned to 16.
void* EngineReallocate(void* pointer, size_t size);
// `pointer` from one of the above, or null.
void EngineFree(void* pointer);
// Bytes that may be used at `pointer`.
size_t EngineUsableSize(const void* pointer);
bool IsEngineBlock(const void* pointer);
// Bytes in blocks that are not free, slack of their size class included.
uint64_t EngineBytesInUse();

}  // namespace mc::sched

#endif  // MC_SCHED_ENGINE_HEAP_H_
