// The shadow of the program heap: which of its bytes the program may touch.
//
// One shadow byte stands for eight bytes of heap and says how many of them, from the first on, are
// inside a live block: 0 (none: never allocated, redzone, freed) to 8 (all). The idea is
// AddressSanitizer's (Serebryany et al., USENIX ATC 2012); counting the other way round makes
// memory that was never touched poisoned without being written, and the check one comparison.
// Why a byte is poisoned is not encoded: the block records know (ProgramHeap::Describe).
#ifndef MC_SCHED_HEAP_SHADOW_H_
#define MC_SCHED_HEAP_SHADOW_H_

#include <cstdint>

#include "sched/heap_bytes.h"
#include "sched/heap_layout.h"

namespace mc::sched {

inline uint8_t* ShadowOf(uint64_t heap_address) {
  return reinterpret_cast<uint8_t*>(kShadowBase - (kHeapBase >> 3) + (heap_address >> 3));
}

// The slow half of IsPoisoned: any size, any alignment.
inline bool IsRangePoisoned(uint64_t address, uint64_t size) {
  if (size == 0) return false;
  const uint64_t last = address + size - 1;
  if (!IsProgramHeapAddress(last)) return true;
  const uint8_t* shadow = ShadowOf(address);
  const uint8_t* const last_shadow = ShadowOf(last);
  while (last_shadow - shadow >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, shadow, 8);
    if (word != 0x0808080808080808u) return true;
    shadow += 8;
  }
  for (; shadow < last_shadow; ++shadow) {
    if (*shadow != 8) return true;
  }
  return (last & 7) >= *last_shadow;
}

// Is any byte of [address, address + size) outside the live blocks? `address` must be a program
// heap address, and the heap in use.
inline bool IsPoisoned(uint64_t address, uint64_t size) {
  const uint64_t offset_end = (address & 7) + size;
  if (offset_end <= 8) [[likely]]
    return offset_end > *ShadowOf(address);
  return IsRangePoisoned(address, size);
}

// Opens or closes the block [begin, begin + size); begin is a multiple of 8.
inline void UnpoisonBlock(uint64_t begin, uint64_t size) {
  uint8_t* const shadow = ShadowOf(begin);
  FillBytes(shadow, 8, size >> 3);
  if ((size & 7) != 0) shadow[size >> 3] = size & 7;
}

inline constexpr uint64_t kDiscardShadowAbove = uint64_t{8} << 20;  // bytes of heap

inline void PoisonBlock(uint64_t begin, uint64_t size) {
  uint8_t* const shadow = ShadowOf(begin);
  const uint64_t shadow_size = (size + 7) >> 3;
  if (size <= kDiscardShadowAbove) {
    FillBytes(shadow, 0, shadow_size);
    return;
  }
  // Of a huge block the memory of the shadow is given back too. Its first and last page may be
  // shared with neighbours.
  const uint64_t first = reinterpret_cast<uint64_t>(shadow);
  const uint64_t last = first + shadow_size;
  const uint64_t page_begin = (first + 4095) & ~uint64_t{4095};
  const uint64_t page_end = last & ~uint64_t{4095};
  FillBytes(shadow, 0, page_begin - first);
  FillBytes(reinterpret_cast<void*>(page_end), 0, last - page_end);
  DiscardPages(page_begin, page_end);
}

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_SHADOW_H_
