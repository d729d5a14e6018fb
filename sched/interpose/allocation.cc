// The allocation functions of C and C++, as the program under test (and every library in its
// process, the engine included) calls them. See sched/allocation_hooks.h for who gets what.
#include <bits/functexcept.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>

#include "sched/allocation_hooks.h"
#include "sched/engine_heap.h"
#include "sched/heap.h"
#include "sched/heap_bytes.h"
#include "sched/library_heap.h"

#define MC_EXPORT __attribute__((visibility("default")))
#define MC_CALLER() reinterpret_cast<uint64_t>(__builtin_return_address(0))

namespace mc::sched {
namespace {

constexpr size_t kPageBytes = 4096;

bool IsPowerOfTwo(size_t value) { return value != 0 && (value & (value - 1)) == 0; }

inline void* Allocate(size_t size, size_t alignment, AllocationKind kind, bool zeroed,
                      uint64_t pc) {
  if (ProgramCodeRunning()) [[likely]]
    return ProgramAllocate(size, alignment, kind, zeroed, pc);
  if (EngineStarted()) {
    if (BelongsToLibraryHeap(pc)) return LibraryAllocate(size, alignment);
    void* const block = EngineAllocate(size, alignment);
    if (zeroed && block != nullptr) FillBytes(block, 0, size);
    return block;
  }
  return ProgramHeap::Global().Allocate(0, size, alignment, kind, pc, zeroed);
}

// As the C functions: errno is set on failure.
inline void* AllocateForC(size_t size, size_t alignment, AllocationKind kind, bool zeroed,
                          uint64_t pc) {
  void* const block = Allocate(size, alignment, kind, zeroed, pc);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

inline void Free(void* pointer, AllocationKind kind, uint64_t pc) {
  if (pointer == nullptr) return;
  if (IsEngineBlock(pointer)) {
    EngineFree(pointer);
    return;
  }
  if (IsLibraryBlock(pointer)) return;
  if (ProgramCodeRunning()) [[likely]] {
    ProgramFree(pointer, kind, pc);
    return;
  }
  // Start-up code, or engine code that ends the life of a program's block: on behalf of no thread,
  // since whose cache it went to would be a dependence that nobody recorded. What belongs to no
  // heap comes from the dynamic loader's first allocations, which stay.
  ProgramHeap::Global().Free(EngineStarted() ? kNoThread : ThreadId{0}, pointer, kind, pc);
}

void* ReallocateOutsideProgram(void* pointer, size_t size, uint64_t pc) {
  if (IsEngineBlock(pointer)) return EngineReallocate(pointer, size);
  const HeapBlock* const block = ProgramHeap::Global().Lookup(reinterpret_cast<uint64_t>(pointer));
  const bool known = ProgramHeap::Contains(reinterpret_cast<uint64_t>(pointer)) && block != nullptr;
  if (!known) return nullptr;
  const size_t old_size = block->size;
  void* const result = Allocate(size, kMinAlignment, AllocationKind::kMalloc, false, pc);
  if (result == nullptr) return nullptr;
  CopyBytes(result, pointer, size < old_size ? size : old_size);
  Free(pointer, AllocationKind::kMalloc, pc);
  return result;
}

inline void* Reallocate(void* pointer, size_t size, uint64_t pc) {
  if (pointer == nullptr) {
    return AllocateForC(size, kMinAlignment, AllocationKind::kMalloc, false, pc);
  }
  if (size == 0) {  // as glibc does
    Free(pointer, AllocationKind::kMalloc, pc);
    return nullptr;
  }
  if (IsLibraryBlock(pointer)) {
    void* const block = AllocateForC(size, kMinAlignment, AllocationKind::kMalloc, false, pc);
    if (block != nullptr) CopyBytes(block, pointer, std::min(size, LibraryBlockSize(pointer)));
    return block;
  }
  void* const result = ProgramCodeRunning() && !IsEngineBlock(pointer)
                           ? ProgramReallocate(pointer, size, pc)
                           : ReallocateOutsideProgram(pointer, size, pc);
  if (result == nullptr) errno = ENOMEM;
  return result;
}

// As operator new: asks the new handler for memory until there is some, or none is installed.
void* AllocateForNew(size_t size, size_t alignment, AllocationKind kind, uint64_t pc) {
  for (;;) {
    void* const block = Allocate(size, alignment, kind, false, pc);
    if (block != nullptr) [[likely]]
      return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) std::__throw_bad_alloc();
    handler();
  }
}

constexpr AllocationKind kMalloc = AllocationKind::kMalloc;
constexpr AllocationKind kAligned = AllocationKind::kAligned;
constexpr AllocationKind kNew = AllocationKind::kNew;
constexpr AllocationKind kNewArray = AllocationKind::kNewArray;
constexpr AllocationKind kAlignedNew = AllocationKind::kAlignedNew;
constexpr AllocationKind kAlignedNewArray = AllocationKind::kAlignedNewArray;

}  // namespace
}  // namespace mc::sched

using mc::sched::Allocate;
using mc::sched::AllocateForC;
using mc::sched::AllocateForNew;
using mc::sched::Free;
using mc::sched::IsPowerOfTwo;
using mc::sched::kAligned;
using mc::sched::kAlignedNew;
using mc::sched::kAlignedNewArray;
using mc::sched::kMalloc;
using mc::sched::kMinAlignment;
using mc::sched::kNew;
using mc::sched::kNewArray;
using mc::sched::kPageBytes;
using mc::sched::Reallocate;

extern "C" {

MC_EXPORT void* malloc(size_t size) noexcept {
  return AllocateForC(size, kMinAlignment, kMalloc, false, MC_CALLER());
}

MC_EXPORT void* calloc(size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return AllocateForC(bytes, kMinAlignment, kMalloc, true, MC_CALLER());
}

MC_EXPORT void* realloc(void* pointer, size_t size) noexcept {
  return Reallocate(pointer, size, MC_CALLER());
}

MC_EXPORT void* reallocarray(void* pointer, size_t count, size_t size) noexcept {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return Reallocate(pointer, bytes, MC_CALLER());
}

MC_EXPORT void free(void* pointer) noexcept { Free(pointer, kMalloc, MC_CALLER()); }

MC_EXPORT void* memalign(size_t alignment, size_t size) noexcept {
  if (!IsPowerOfTwo(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return AllocateForC(size, alignment, kAligned, false, MC_CALLER());
}

MC_EXPORT void* aligned_alloc(size_t alignment, size_t size) noexcept {
  if (!IsPowerOfTwo(alignment)) {
    errno = EINVAL;
    return nullptr;
  }
  return AllocateForC(size, alignment, kAligned, false, MC_CALLER());
}

// Returns the error and leaves errno alone.
MC_EXPORT int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (!IsPowerOfTwo(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const block = Allocate(size, alignment, kAligned, false, MC_CALLER());
  if (block == nullptr) return ENOMEM;
  *result = block;
  return 0;
}

MC_EXPORT void* valloc(size_t size) noexcept {
  return AllocateForC(size, kPageBytes, kAligned, false, MC_CALLER());
}

MC_EXPORT void* pvalloc(size_t size) noexcept {
  size_t bytes;
  if (__builtin_add_overflow(size, kPageBytes - 1, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  bytes &= ~(kPageBytes - 1);
  return AllocateForC(bytes == 0 ? kPageBytes : bytes, kPageBytes, kAligned, false, MC_CALLER());
}

// Exactly what was asked for: bytes beyond it are a redzone here.
MC_EXPORT size_t malloc_usable_size(void* pointer) noexcept {
  if (pointer == nullptr) return 0;
  if (mc::sched::IsEngineBlock(pointer)) return mc::sched::EngineUsableSize(pointer);
  if (mc::sched::IsLibraryBlock(pointer)) return mc::sched::LibraryBlockSize(pointer);
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  if (!mc::sched::ProgramHeap::Contains(address)) return 0;
  const mc::sched::HeapBlock* block = mc::sched::ProgramHeap::Global().Lookup(address);
  return block == nullptr ? 0 : block->size;
}

}  // extern "C"

// The throwing forms.
MC_EXPORT void* operator new(size_t size) {
  return AllocateForNew(size, kMinAlignment, kNew, MC_CALLER());
}
MC_EXPORT void* operator new[](size_t size) {
  return AllocateForNew(size, kMinAlignment, kNewArray, MC_CALLER());
}
MC_EXPORT void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateForNew(size, static_cast<size_t>(alignment), kAlignedNew, MC_CALLER());
}
MC_EXPORT void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateForNew(size, static_cast<size_t>(alignment), kAlignedNewArray, MC_CALLER());
}

// The forms that return null. Unlike the library's own they ask no new handler: it may throw, and
// this file is compiled without exceptions.
MC_EXPORT void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, kMinAlignment, kNew, false, MC_CALLER());
}
MC_EXPORT void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size, kMinAlignment, kNewArray, false, MC_CALLER());
}
MC_EXPORT void* operator new(size_t size, std::align_val_t alignment,
                             const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment), kAlignedNew, false, MC_CALLER());
}
MC_EXPORT void* operator new[](size_t size, std::align_val_t alignment,
                               const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment), kAlignedNewArray, false, MC_CALLER());
}

// Clang declares the sized forms only with -fsized-deallocation.
void operator delete(void* pointer, size_t) noexcept;
void operator delete[](void* pointer, size_t) noexcept;
void operator delete(void* pointer, size_t, std::align_val_t) noexcept;
void operator delete[](void* pointer, size_t, std::align_val_t) noexcept;

#define MC_DEFINE_DELETE(OPERATOR, KIND, ALIGNED_KIND)                                          \
  MC_EXPORT void OPERATOR(void* pointer) noexcept { Free(pointer, KIND, MC_CALLER()); }         \
  MC_EXPORT void OPERATOR(void* pointer, size_t) noexcept { Free(pointer, KIND, MC_CALLER()); } \
  MC_EXPORT void OPERATOR(void* pointer, const std::nothrow_t&) noexcept {                      \
    Free(pointer, KIND, MC_CALLER());                                                           \
  }                                                                                             \
  MC_EXPORT void OPERATOR(void* pointer, std::align_val_t) noexcept {                           \
    Free(pointer, ALIGNED_KIND, MC_CALLER());                                                   \
  }                                                                                             \
  MC_EXPORT void OPERATOR(void* pointer, size_t, std::align_val_t) noexcept {                   \
    Free(pointer, ALIGNED_KIND, MC_CALLER());                                                   \
  }                                                                                             \
  MC_EXPORT void OPERATOR(void* pointer, std::align_val_t, const std::nothrow_t&) noexcept {    \
    Free(pointer, ALIGNED_KIND, MC_CALLER());                                                   \
  }

MC_DEFINE_DELETE(operator delete, kNew, kAlignedNew)
MC_DEFINE_DELETE(operator delete[], kNewArray, kAlignedNewArray)

#undef MC_DEFINE_DELETE
