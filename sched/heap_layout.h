// Where in the address space the checked program's heap and the engine's memory lie.
//
// All of it is at fixed addresses: a heap address must be a function of the allocating thread's
// own past (spec optimal-dpor 1.4, Heap), in every execution, worker process and replay. The
// ranges are clear of AddressSanitizer's shadow and allocator, of position-independent
// executables (0x5555...) and of the kernel's mmap area (0x7f...).
//
//   0x140000000000  engine heap                 1 TiB
//   0x200000000000  program heap                8 GiB for each of 4096 threads
//   0x400000000000  shadow                      1 byte for 8 bytes of program heap
//   0x480000000000  region tables and records   2 GiB for each thread
//
// Everything is reserved without backing store, regions only when their thread first allocates.
#ifndef MC_SCHED_HEAP_LAYOUT_H_
#define MC_SCHED_HEAP_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "sched/event.h"

namespace mc::sched {

inline constexpr uint64_t kEngineHeapBase = 0x140000000000;
inline constexpr uint64_t kEngineHeapBytes = uint64_t{1} << 40;

inline constexpr int kRegionShift = 33;
inline constexpr uint64_t kRegionBytes = uint64_t{1} << kRegionShift;
inline constexpr uint64_t kHeapBase = 0x200000000000;
inline constexpr int kHeapShift = 45;
static_assert(kHeapBase == uint64_t{1} << kHeapShift);
static_assert(kRegionBytes * kMaxThreads == uint64_t{1} << kHeapShift);

inline constexpr uint64_t kShadowBase = 0x400000000000;
inline constexpr uint64_t kShadowBytes = (uint64_t{1} << (kHeapShift - 3)) + 65536;

inline constexpr uint64_t kRegionTableBase = 0x480000000000;
inline constexpr uint64_t kRegionTableBytes = uint64_t{1} << 31;
static_assert(kRegionTableBase + kRegionTableBytes * kMaxThreads < 0x555555554000);

// What each thread has of its own lies a power of two apart. All of it would fall into the same few
// sets of the processor's caches, if it were not put off by a number of cache lines that differs.
inline constexpr size_t kMostCacheColour = size_t{31} * 576;
constexpr size_t CacheColour(uint32_t thread) { return thread % 32 * size_t{576}; }

// A region is cut into units; a unit holds blocks of one size class, or part of one large block.
inline constexpr int kUnitShift = 16;
inline constexpr uint64_t kUnitBytes = uint64_t{1} << kUnitShift;
inline constexpr uint32_t kUnitsPerRegion = kRegionBytes / kUnitBytes;

// Is this an address of the program heap (of any region, allocated or not)?
constexpr bool IsProgramHeapAddress(uint64_t address) { return address >> kHeapShift == 1; }
constexpr bool IsEngineHeapAddress(uint64_t address) {
  return address - kEngineHeapBase < kEngineHeapBytes;
}
constexpr ThreadId RegionOf(uint64_t heap_address) {
  return static_cast<ThreadId>((heap_address >> kRegionShift) & (kMaxThreads - 1));
}
constexpr uint64_t RegionBegin(ThreadId thread) {
  return kHeapBase + (static_cast<uint64_t>(thread) << kRegionShift);
}
constexpr uint32_t UnitOf(uint64_t heap_address) {
  return static_cast<uint32_t>((heap_address & (kRegionBytes - 1)) >> kUnitShift);
}

// Reserves [address, address + size) as zeroed, writable memory without backing store. Ends the
// process with status 2 and a message on standard error if that is not possible: nothing can run
// without it. `what` names the range for the message.
void ReserveAt(uint64_t address, size_t size, const char* what);
void Unreserve(uint64_t address, size_t size);

// Makes the whole pages inside [begin, end) read as zero and gives their memory back.
void DiscardPages(uint64_t begin, uint64_t end);

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_LAYOUT_H_
