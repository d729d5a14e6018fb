#include "sched/engine_heap.h"

#include <algorithm>
#include <bit>

#include "sched/heap_bytes.h"
#include "sched/heap_layout.h"

namespace mc::sched {
namespace {

// Size classes: multiples of 16 up to 256 bytes, then quarters of powers of two up to the whole
// range. Small classes are cut out of units; a block of a large class has whole units.
constexpr uint32_t kFineClasses = 16;
constexpr uint32_t kClassCount = kFineClasses + 4 * (40 - 8);
constexpr uint64_t kLargestSmall = 32768;
constexpr uint64_t kLineBytes = 64;                    // of the processor's caches
constexpr uint64_t kDiscardAbove = uint64_t{1} << 20;  // freed blocks give their memory back

constexpr uint32_t ClassOf(uint64_t size) {
  if (size <= 256) return size <= 16 ? 0 : static_cast<uint32_t>((size - 1) >> 4);
  const int exponent = 63 - std::countl_zero(size - 1);
  return kFineClasses + static_cast<uint32_t>((exponent - 8) * 4) +
         static_cast<uint32_t>(((size - 1) >> (exponent - 2)) & 3);
}
constexpr uint64_t BytesOf(uint32_t size_class) {
  if (size_class < kFineClasses) return (size_class + 1) * uint64_t{16};
  const uint32_t exponent = (size_class - kFineClasses) / 4 + 8;
  return (uint64_t{(size_class - kFineClasses) % 4 + 5}) << (exponent - 2);
}
static_assert(ClassOf(256) == 15 && ClassOf(257) == 16 && BytesOf(16) == 320);
static_assert(ClassOf(320) == 16 && ClassOf(321) == 17 && ClassOf(512) == 19);
static_assert(BytesOf(kClassCount - 1) == kEngineHeapBytes);

struct FreeBlock {
  FreeBlock* next;
};

struct EngineHeapState {
  bool reserved;
  uint64_t next_unit;  // address of the first unit never used
  uint64_t bytes_in_use;
  FreeBlock* free[kClassCount];
  uint64_t fresh[kClassCount];  // next block never used in the class's open unit
  uint64_t fresh_end[kClassCount];
};
constinit EngineHeapState g_state = {};

// How far into its units the first block of a class lies. What is used most lies at the beginning
// of a block: if all began where units do, it would fall into the same few sets of the caches.
uint64_t ColourOf(uint64_t unit) {
  constexpr uint64_t kLines = 61, kStep = 9;
  return (unit >> kUnitShift) * kStep % kLines * kLineBytes;
}
// Those of large classes of a power of two begin where units do: what is to be aligned to more than
// a cache line is one of them.
bool HasColour(uint64_t block_bytes) {
  return block_bytes <= kLargestSmall || !std::has_single_bit(block_bytes);
}

// The class of the blocks in each unit; of a large block only its first unit counts.
uint8_t* UnitClasses() { return reinterpret_cast<uint8_t*>(kEngineHeapBase); }
constexpr uint64_t kUnitCount = kEngineHeapBytes >> kUnitShift;
static_assert(kUnitCount % kUnitBytes == 0 && kClassCount <= 256);

uint32_t ClassOfBlock(const void* pointer) {
  return UnitClasses()[(reinterpret_cast<uint64_t>(pointer) - kEngineHeapBase) >> kUnitShift];
}

void Reserve() {
  ReserveAt(kEngineHeapBase, kEngineHeapBytes, "the memory of the engine");
  g_state.next_unit = kEngineHeapBase + kUnitCount;
  g_state.reserved = true;
}

// Units for `bytes`; 0 if there are none left.
uint64_t TakeUnits(uint64_t bytes, uint32_t size_class) {
  if (!g_state.reserved) Reserve();
  bytes = (bytes + kUnitBytes - 1) & ~(kUnitBytes - 1);
  if (bytes > kEngineHeapBase + kEngineHeapBytes - g_state.next_unit) return 0;
  const uint64_t begin = g_state.next_unit;
  g_state.next_unit += bytes;
  UnitClasses()[(begin - kEngineHeapBase) >> kUnitShift] = static_cast<uint8_t>(size_class);
  return begin;
}

void* TakeFresh(uint32_t size_class) {
  const uint64_t bytes = BytesOf(size_class);
  if (bytes > kLargestSmall) {
    if (!HasColour(bytes)) return reinterpret_cast<void*>(TakeUnits(bytes, size_class));
    const uint64_t unit = TakeUnits(bytes + kUnitBytes / 16, size_class);
    return unit == 0 ? nullptr : reinterpret_cast<void*>(unit + ColourOf(unit));
  }
  if (g_state.fresh_end[size_class] - g_state.fresh[size_class] < bytes) {
    const uint64_t unit = TakeUnits(kUnitBytes, size_class);
    if (unit == 0) return nullptr;
    g_state.fresh[size_class] = unit + ColourOf(unit);
    g_state.fresh_end[size_class] = unit + kUnitBytes;
  }
  void* const block = reinterpret_cast<void*>(g_state.fresh[size_class]);
  g_state.fresh[size_class] += bytes;
  return block;
}

}  // namespace

void* EngineAllocate(size_t size, size_t alignment) {
  if (alignment > 16) [[unlikely]] {
    if (alignment > kMaxEngineAlignment || size > kEngineHeapBytes) return nullptr;
    // Blocks of a power of two are aligned to it, at most to a cache line; or if large, as units.
    size = std::bit_ceil(std::max<size_t>(size, alignment <= kLineBytes ? alignment : kUnitBytes));
  }
  if (size > kEngineHeapBytes) return nullptr;
  const uint32_t size_class = ClassOf(size);
  void* block = g_state.free[size_class];
  if (block != nullptr) [[likely]] {
    g_state.free[size_class] = static_cast<FreeBlock*>(block)->next;
  } else {
    block = TakeFresh(size_class);
    if (block == nullptr) return nullptr;
  }
  g_state.bytes_in_use += BytesOf(size_class);
  return block;
}

void* EngineAllocateZeroed(size_t size) {
  void* const block = EngineAllocate(size);
  if (block != nullptr) FillBytes(block, 0, size);
  return block;
}

void* EngineReallocate(void* pointer, size_t size) {
  if (pointer == nullptr) return EngineAllocate(size);
  const size_t usable = EngineUsableSize(pointer);
  if (size <= usable && size >= usable / 2) return pointer;
  void* const block = EngineAllocate(size);
  if (block == nullptr) return nullptr;
  CopyBytes(block, pointer, size < usable ? size : usable);
  EngineFree(pointer);
  return block;
}

void EngineFree(void* pointer) {
  if (pointer == nullptr) return;
  const uint32_t size_class = ClassOfBlock(pointer);
  const uint64_t bytes = BytesOf(size_class);
  if (bytes >= kDiscardAbove) {
    const uint64_t begin = reinterpret_cast<uint64_t>(pointer);
    DiscardPages(begin, begin + bytes);
  }
  auto* const block = static_cast<FreeBlock*>(pointer);
  block->next = g_state.free[size_class];
  g_state.free[size_class] = block;
  g_state.bytes_in_use -= bytes;
}

size_t EngineUsableSize(const void* pointer) { return BytesOf(ClassOfBlock(pointer)); }

bool IsEngineBlock(const void* pointer) {
  return IsEngineHeapAddress(reinterpret_cast<uint64_t>(pointer));
}

uint64_t EngineBytesInUse() { return g_state.bytes_in_use; }

}  // namespace mc::sched
