// ProgramHeap: the heap of the checked program (spec optimal-dpor 1.4, Heap; iterative-deepening
// 5).
//
// Every thread allocates from its own region of the address space, and a freed block goes to the
// cache of the thread that freed it, which hands it out again last-in first-out by size class. So
// an address is a function of the allocating thread's own past, allocations of different threads
// are independent, and programs may compare, hash and order pointers.
//
// Invariants
//  * Used by one OS thread; nothing is locked.
//  * Records, free lists and shadow lie outside the regions: no overrun that the shadow would
//    report can damage them.
//  * Between any two blocks lie at least 16 poisoned bytes; a freed block is poisoned until it is
//    handed out again (heap_shadow.h).
//  * What a fresh block contains depends on nothing: small blocks are filled with kFreshByte, large
//    ones (from about 60 KB on) are zero.
//  * Restore() brings back the state of the last Snapshot(), except for the content of blocks that
//    existed then: whoever called Snapshot() restores that. No block allocated after the snapshot
//    shares a unit (64 KiB) with an older one, unless it reuses a freed older block's place.
//    The cost is proportional to what was allocated and freed in between.
//  * It is usable when zero-initialised, before any constructor has run, and needs no destructor.
#ifndef MC_SCHED_HEAP_H_
#define MC_SCHED_HEAP_H_

#include <cstddef>
#include <cstdint>

#include "sched/event.h"
#include "sched/heap_block.h"
#include "sched/heap_layout.h"
#include "sched/heap_region.h"
#include "sched/heap_shadow.h"
#include "sched/heap_size_class.h"

namespace mc::sched {

enum class HeapPolicy : uint8_t {
  kThread,   // a freed block goes to the cache of the thread that freed it
  kRecycle,  // one list per size class for all threads (the caller records the kHeapClass access)
  kFresh,    // freed blocks are never handed out again
};

enum class FreeStatus : uint8_t {
  kFreed,
  kMismatched,   // freed, but with the wrong function: new[] and delete, malloc and delete, ...
  kDoubleFree,   // nothing was done: the block is free already
  kInvalidFree,  // nothing was done: not the beginning of any block
};

enum class AddressVerdict : uint8_t {
  kValid,
  kUseAfterFree,
  kHeapOverrun,  // just before or behind a live block
  kWild,         // program heap that belongs to no block
};

struct AddressDescription {
  AddressVerdict verdict = AddressVerdict::kWild;
  const HeapBlock* block = nullptr;  // the block concerned; nullptr for kWild
  int64_t offset = 0;                // of the address from the beginning of that block
};

struct HeapCheckpoint;

class ProgramHeap {
 public:
  static constexpr uint8_t kFreshByte = 0xbe;
  static constexpr uint64_t kDefaultLiveByteLimit = uint64_t{4} << 30;

  constexpr ProgramHeap() = default;

  // The heap of this process. (Addresses are fixed: there can be only one at a time.)
  static ProgramHeap& Global();

  // To be called while no block is free or before the snapshot: the policy decides where freed
  // blocks are kept. `live_byte_limit` bounds the sum of the sizes of all live blocks.
  void Configure(HeapPolicy policy, uint64_t live_byte_limit = kDefaultLiveByteLimit);
  HeapPolicy policy() const { return policy_; }

  // A block of `size` bytes (0 allowed: a unique address, no accessible byte), aligned to
  // `alignment`: a power of two, at most kMaxAlignment, raised to 16. Content: kFreshByte or zero,
  // see above; with `zeroed` always zero. nullptr if the live byte limit or the thread's region
  // would be exceeded; limit_exceeded() is true from then on until Restore().
  void* Allocate(ThreadId thread, uint64_t size, uint64_t alignment, AllocationKind kind,
                 uint64_t pc, bool zeroed = false);

  // Frees the block beginning at `pointer` (not null) on behalf of `thread`. With kNoThread its
  // place is not handed out again before Restore(), whatever the policy.
  FreeStatus Free(ThreadId thread, void* pointer, AllocationKind kind, uint64_t pc);
  // What Free would answer. If `found` is given: *found is the block of that place, or nullptr.
  FreeStatus CheckFree(const void* pointer, AllocationKind kind,
                       const HeapBlock** found = nullptr) const;

  // The block whose slot contains the address, live or freed; nullptr if there was none yet. The
  // address need not lie in the block's bytes (redzones): see HeapBlock::begin, size.
  const HeapBlock* Lookup(uint64_t address) const {
    return const_cast<ProgramHeap*>(this)->FindBlock(address);
  }
  // The identity of the block whose slot contains the address; 0 if there is none, or if it is no
  // address of the program heap.
  uint64_t IdentityAt(uint64_t address) const {
    if (!IsProgramHeapAddress(address)) return 0;
    const HeapBlock* block = Lookup(address);
    return block == nullptr ? 0 : block->identity;
  }

  static bool Contains(uint64_t address) { return IsProgramHeapAddress(address); }
  // Is an access to [address, address + size) a heap error? The fast check for every access.
  bool IsBadAccess(uint64_t address, uint64_t size) const {
    return Contains(address) && (!ready_ || IsPoisoned(address, size));
  }
  // False if it may be a heap error: a range has to be looked at more closely.
  bool IsGoodAccess(uint64_t address, uint64_t size) const {
    if (!Contains(address)) return true;
    const uint64_t offset_end = (address & 7) + size;
    return ready_ && offset_end <= 8 && offset_end <= *ShadowOf(address);
  }
  // Why an address is poisoned. For a range, pass FirstBadAddress.
  AddressDescription Describe(uint64_t address) const;
  // The first poisoned byte of a range of program heap; its end if there is none.
  static uint64_t FirstBadAddress(uint64_t address, uint64_t size);

  // Makes the present state the one that Restore() brings back. Caches of freed blocks are emptied.
  void Snapshot();
  // Back to the last snapshot (to the empty heap if there was none).
  void Restore();
  // Copies the present state. False if that is not possible, or takes more than `max_bytes`.
  bool Save(size_t max_bytes, HeapCheckpoint* out) const;
  // Back to a state saved since the last Snapshot().
  void RestoreTo(const HeapCheckpoint& from);

  uint64_t live_bytes() const { return live_bytes_; }
  bool limit_exceeded() const { return limit_exceeded_; }
  // How many blocks allocated since the snapshot are live: 0 means no leak.
  uint64_t LiveBlocksSinceSnapshot() const { return live_since_snapshot_; }

  // Calls visit(const HeapBlock&) for each live block allocated since the snapshot.
  template <class Visitor>
  void VisitLiveSinceSnapshot(Visitor visit) const;
  // Calls visit(const HeapBlock&) for each live block.
  template <class Visitor>
  void VisitAllLive(Visitor visit) const;
  // Calls visit(begin, end) for the ranges of whole pages that hold the blocks of the snapshot:
  // what whoever called Snapshot() has to save, and to put back with Restore(). Pages in them are
  // only ever changed by writing to them, so write protection sees every change.
  template <class Visitor>
  void VisitSnapshotPages(Visitor visit) const;

  // Gives all memory back and forgets everything, the snapshot too. For tests.
  void Release();

 private:
  HeapRegion* RegionOfThread(ThreadId thread) {
    if (!mapped_[thread]) [[unlikely]]
      MapRegion(thread);
    return RegionTable(thread);
  }
  void MapRegion(ThreadId thread);
  void Touch(HeapRegion* region);
  HeapBlock* FindBlock(uint64_t address) const;
  ClassState& FreeListOwner(HeapRegion* region, uint32_t size_class);
  HeapBlock* TakeSmall(HeapRegion* region, uint32_t size_class, uint64_t* slot);
  HeapBlock* TakeLarge(HeapRegion* region, uint32_t units, uint64_t* slot);
  HeapSpan* OpenSpan(HeapRegion* region, uint32_t size_class, uint32_t units, uint32_t records);
  void SaveForRestore(HeapBlock* block);
  void UndoSavedBlocks();
  void RestoreRegion(HeapRegion* region);

  HeapPolicy policy_ = HeapPolicy::kThread;
  bool ready_ = false;  // shadow and shared lists are mapped
  bool limit_exceeded_ = false;
  uint64_t live_byte_limit_ = kDefaultLiveByteLimit;
  uint64_t live_bytes_ = 0;
  uint64_t live_since_snapshot_ = 0;
  uint64_t snapshot_live_bytes_ = 0;
  HeapRegion* touched_ = nullptr;  // regions changed since the snapshot, by next_touched
  HeapBlock* undo_ = nullptr;      // copies of older blocks as they were at the snapshot
  uint32_t thread_limit_ = 0;      // mapped regions are below
  TouchedClasses shared_touched_;  // kRecycle: the one set of free lists
  ClassState shared_[kSizeClassCount] = {};
  bool mapped_[kMaxThreads] = {};
};

template <class Visitor>
void ProgramHeap::VisitLiveSinceSnapshot(Visitor visit) const {
  for (const HeapRegion* region = touched_; region != nullptr; region = region->next_touched) {
    region->VisitBlocks(region->snapshot_units, [&](const HeapBlock& block) {
      if (block.live()) visit(block);
    });
  }
  // Places of older blocks that were freed and handed out again.
  for (const HeapBlock* copy = undo_; copy != nullptr; copy = copy->next) {
    const HeapBlock* block = Lookup(copy->begin);
    if (block->live() && block->since_snapshot) visit(*block);
  }
}

template <class Visitor>
void ProgramHeap::VisitAllLive(Visitor visit) const {
  for (uint32_t thread = 0; thread < thread_limit_; ++thread) {
    if (!mapped_[thread]) continue;
    RegionTable(static_cast<ThreadId>(thread))->VisitBlocks(1, [&](const HeapBlock& block) {
      if (block.live()) visit(block);
    });
  }
}

template <class Visitor>
void ProgramHeap::VisitSnapshotPages(Visitor visit) const {
  for (uint32_t i = 0; i < thread_limit_; ++i) {
    const auto thread = static_cast<ThreadId>(i);
    if (!mapped_[thread] || RegionTable(thread)->snapshot_units == 1) continue;
    visit(RegionBegin(thread) + kUnitBytes,
          RegionBegin(thread) + RegionTable(thread)->snapshot_units * kUnitBytes);
  }
}

}  // namespace mc::sched

#endif  // MC_SCHED_HEAP_H_
