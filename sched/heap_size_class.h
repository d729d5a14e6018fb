// Size classes of the program heap: blocks of one class share free lists and units.
//
// A slot holds the block, the slack its alignment needs, and a redzone of at least 16 bytes after
// it. Slots up to 512 bytes come in steps of 16, above that in eighths of a power of two. Larger
// blocks have a slot of whole units each; their classes are buckets by the number of units, and a
// freed one is handed out again only for exactly the same number.
#ifndef MC_SCHED_HEAP_SIZE_CLASS_H_
#define MC_SCHED_HEAP_SIZE_CLASS_H_

#include <array>
#include <bit>
#include <cstdint>

#include "sched/heap_layout.h"

namespace mc::sched {

inline constexpr uint64_t kMinAlignment = 16;
inline constexpr uint64_t kMaxAlignment = uint64_t{1} << 30;
inline constexpr uint64_t kSmallRedzone = 16;
inline constexpr uint64_t kRedzone = 128;  // of blocks of 1 KiB and more
inline constexpr uint64_t kLargestSmallSlot = 61440;
inline constexpr uint32_t kSmallClassCount = 86;
inline constexpr uint32_t kLargeClassCount = 16;
inline constexpr uint32_t kSizeClassCount = kSmallClassCount + kLargeClassCount;

// Slots start here in their unit, so that the bytes before the first one belong to the unit too.
inline constexpr uint64_t kFirstSlotOffset = 16;
inline constexpr uint64_t kLargeBlockOffset = 4096;

// Bytes a slot must have for a block; `alignment` a power of two >= 16, both within limits.
constexpr uint64_t SlotBytesFor(uint64_t size, uint64_t alignment) {
  const uint64_t payload = size == 0 ? 1 : size;
  return payload + (size < 1024 ? kSmallRedzone : kRedzone) + (alignment - kMinAlignment);
}

constexpr uint32_t SmallClassOf(uint64_t slot_bytes) {
  if (slot_bytes <= 32) return 0;
  if (slot_bytes <= 512) return static_cast<uint32_t>((slot_bytes + 15) / 16 - 2);
  const int exponent = 63 - std::countl_zero(slot_bytes - 1);
  const uint64_t eighth = (slot_bytes - 1) >> (exponent - 3);  // 8 to 15
  return static_cast<uint32_t>(31 + (exponent - 9) * 8 + (eighth - 8));
}

constexpr uint32_t SlotBytesOfClass(uint32_t size_class) {
  if (size_class < 31) return (size_class + 2) * 16;
  const uint32_t exponent = (size_class - 31) / 8 + 9;
  const uint32_t eighth = (size_class - 31) % 8 + 8;
  return (eighth + 1) << (exponent - 3);
}
static_assert(SmallClassOf(kLargestSmallSlot) == kSmallClassCount - 1);
static_assert(SlotBytesOfClass(kSmallClassCount - 1) == kLargestSmallSlot);

struct SmallClass {
  uint32_t slot_bytes;
  uint32_t slots_per_unit;
  uint32_t reciprocal;  // offset / slot_bytes == offset * reciprocal >> 32 for offsets in a unit
};

constexpr std::array<SmallClass, kSmallClassCount> MakeSmallClasses() {
  std::array<SmallClass, kSmallClassCount> classes{};
  for (uint32_t i = 0; i < kSmallClassCount; ++i) {
    const uint32_t bytes = SlotBytesOfClass(i);
    classes[i] = {bytes, static_cast<uint32_t>((kUnitBytes - kFirstSlotOffset) / bytes),
                  static_cast<uint32_t>(((uint64_t{1} << 32) + bytes - 1) / bytes)};
  }
  return classes;
}
inline constexpr std::array<SmallClass, kSmallClassCount> kSmallClasses = MakeSmallClasses();

// Units a large block takes.
constexpr uint32_t LargeUnitsFor(uint64_t size, uint64_t alignment) {
  const uint64_t slack = alignment > kLargeBlockOffset ? alignment : 0;
  return static_cast<uint32_t>((kLargeBlockOffset + slack + size + kRedzone + kUnitBytes - 1) >>
                               kUnitShift);
}
constexpr uint32_t LargeClassOf(uint32_t units) {
  return kSmallClassCount + units % kLargeClassCount;
}

// The size class an allocation falls into: the object of its kHeapClass cell under
// --heap=recycle.
constexpr uint32_t SizeClassOf(uint64_t size, uint64_t alignment = kMinAlignment) {
  if (alignment < kMinAlignment) alignment = kMinAlignment;
  if (size > kRegionBytes || alignment > kMaxAlignment) return kSizeClassCount - 1;
  const uint64_t slot_bytes = SlotBytesFor(size, alignment);
  if (slot_bytes <= kLargestSmallSlot) return SmallClassOf(slot_bytes);
  return LargeClassOf(LargeUnitsFor(size, alignment));
}

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_SIZE_CLASS_H_
