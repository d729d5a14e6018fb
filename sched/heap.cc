#include "sched/heap.h"

#include "sched/heap_bytes.h"

namespace mc::sched {
namespace {

constinit ProgramHeap g_program_heap;

constexpr uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

// The ordinals of one thread's allocations fit below its number in an identity.
constexpr int kIdentityThreadShift = 48;

uint64_t SlotBegin(const HeapSpan& span, uint64_t region_begin, uint32_t slot) {
  return region_begin + (static_cast<uint64_t>(span.first_unit) << kUnitShift) + kFirstSlotOffset +
         static_cast<uint64_t>(slot) * kSmallClasses[span.size_class].slot_bytes;
}

bool IsLarge(const HeapSpan& span) { return span.size_class >= kSmallClassCount; }

// The slot of a small span that contains `address`. The bytes before the first slot count as the
// first one's, those behind the last one as the last one's.
uint32_t SlotIndex(const HeapSpan& span, uint64_t address) {
  const SmallClass& small = kSmallClasses[span.size_class];
  const uint64_t in_unit = address & (kUnitBytes - 1);
  if (in_unit < kFirstSlotOffset) return 0;
  const auto slot = static_cast<uint32_t>((in_unit - kFirstSlotOffset) * small.reciprocal >> 32);
  return slot < small.slots_per_unit ? slot : small.slots_per_unit - 1;
}

// How far the address lies outside the block; 0 inside.
uint64_t DistanceTo(const HeapBlock& block, uint64_t address) {
  if (address < block.begin) return block.begin - address;
  if (address >= block.end()) return address - block.end() + 1;
  return 0;
}

// What freeing `address` comes to, if `block` is the block of its slot (or null).
FreeStatus StatusOfFree(const HeapBlock* block, uint64_t address, AllocationKind kind) {
  if (block == nullptr || block->begin != address) return FreeStatus::kInvalidFree;
  if (!block->live()) return FreeStatus::kDoubleFree;
  return KindsMatch(block->kind, kind) ? FreeStatus::kFreed : FreeStatus::kMismatched;
}

}  // namespace

ProgramHeap& ProgramHeap::Global() { return g_program_heap; }

void ProgramHeap::Configure(HeapPolicy policy, uint64_t live_byte_limit) {
  policy_ = policy;
  live_byte_limit_ = live_byte_limit;
}

void ProgramHeap::MapRegion(ThreadId thread) {
  if (!ready_) {
    ReserveAt(kShadowBase, kShadowBytes, "the shadow of the program heap");
    ready_ = true;
  }
  ReserveAt(RegionBegin(thread), kRegionBytes, "the heap of a program thread");
  ReserveAt(RegionTableArea(thread), kRegionTableBytes,
            "the records of the heap of a program thread");
  HeapRegion* const region = RegionTable(thread);
  region->thread = thread;
  region->units = region->snapshot_units = region->dirty_units = 1;
  region->next_record = region->snapshot_next_record = region->RecordsBegin();
  mapped_[thread] = true;
  if (thread >= thread_limit_) thread_limit_ = thread + 1u;
}

void ProgramHeap::Touch(HeapRegion* region) {
  if (region->touched) return;
  region->touched = true;
  region->next_touched = touched_;
  touched_ = region;
}

// The state whose free list serves `size_class` for the region's thread.
ClassState& ProgramHeap::FreeListOwner(HeapRegion* region, uint32_t size_class) {
  if (policy_ == HeapPolicy::kRecycle) {
    shared_touched_.Add(size_class);
    return shared_[size_class];
  }
  region->touched_classes.Add(size_class);
  return region->classes[size_class];
}

HeapSpan* ProgramHeap::OpenSpan(HeapRegion* region, uint32_t size_class, uint32_t units,
                                uint32_t records) {
  if (units > kUnitsPerRegion - region->units) return nullptr;
  if (region->next_record + records > region->RecordsMiddle()) return nullptr;
  const uint32_t first = region->units;
  HeapSpan* const span = &region->spans[first];
  *span = {region->next_record, first, units, 0, size_class};
  for (uint32_t i = 1; i < units; ++i) region->spans[first + i].first_unit = first;
  region->next_record += records;
  region->units += units;
  return span;
}

HeapBlock* ProgramHeap::TakeSmall(HeapRegion* region, uint32_t size_class, uint64_t* slot) {
  ClassState& list = FreeListOwner(region, size_class);
  if (HeapBlock* const block = list.free; block != nullptr) {
    list.free = block->next;
    const HeapRegion* home = RegionTable(RegionOf(block->begin));
    const HeapSpan& span = home->spans[UnitOf(block->begin)];
    *slot = SlotBegin(span, RegionBegin(home->thread), static_cast<uint32_t>(block - span.records));
    return block;
  }
  region->touched_classes.Add(size_class);
  HeapSpan*& open = region->classes[size_class].open;
  const SmallClass& small = kSmallClasses[size_class];
  if (open == nullptr || open->handed_out == small.slots_per_unit) {
    HeapSpan* const span = OpenSpan(region, size_class, 1, small.slots_per_unit);
    if (span == nullptr) return nullptr;
    open = span;
  }
  *slot = SlotBegin(*open, RegionBegin(region->thread), open->handed_out);
  HeapBlock* const block = &open->records[open->handed_out++];
  block->saved = false;
  return block;
}

// The slot's pages read as zero afterwards.
HeapBlock* ProgramHeap::TakeLarge(HeapRegion* region, uint32_t units, uint64_t* slot) {
  const uint32_t size_class = LargeClassOf(units);
  for (HeapBlock** link = &FreeListOwner(region, size_class).free; *link != nullptr;
       link = &(*link)->next) {
    HeapBlock* const block = *link;
    if (block->units != units) continue;
    *link = block->next;
    const HeapRegion* home = RegionTable(RegionOf(block->begin));
    const uint64_t first = home->spans[UnitOf(block->begin)].first_unit;
    *slot = RegionBegin(home->thread) + (first << kUnitShift);
    if (block->saved) {
      // Pages of the snapshot: only a write is noticed by those who restore them.
      FillBytes(reinterpret_cast<void*>(*slot), 0, units * kUnitBytes);
    } else {
      DiscardPages(*slot, *slot + units * kUnitBytes);
    }
    return block;
  }
  HeapSpan* const span = OpenSpan(region, size_class, units, 1);
  if (span == nullptr) return nullptr;
  const uint64_t region_begin = RegionBegin(region->thread);
  *slot = region_begin + (static_cast<uint64_t>(span->first_unit) << kUnitShift);
  if (span->first_unit < region->dirty_units) {
    // Earlier executions wrote here.
    const uint32_t end = span->first_unit + units;
    const uint64_t dirty_end = end < region->dirty_units ? end : region->dirty_units;
    DiscardPages(*slot, region_begin + (dirty_end << kUnitShift));
  }
  span->handed_out = 1;
  HeapBlock* const block = span->records;
  block->saved = false;
  return block;
}

void* ProgramHeap::Allocate(ThreadId thread, uint64_t size, uint64_t alignment, AllocationKind kind,
                            uint64_t pc, bool zeroed) {
  if (alignment < kMinAlignment) alignment = kMinAlignment;
  if (size > live_byte_limit_ - live_bytes_ || live_bytes_ > live_byte_limit_ ||
      size >= kRegionBytes || alignment > kMaxAlignment) {
    limit_exceeded_ = true;
    return nullptr;
  }
  HeapRegion* const region = RegionOfThread(thread);
  Touch(region);
  const uint64_t slot_bytes = SlotBytesFor(size, alignment);
  const bool large = slot_bytes > kLargestSmallSlot;
  uint64_t slot = 0;
  uint32_t units = 0;
  uint32_t size_class;
  HeapBlock* block;
  if (large) {
    units = LargeUnitsFor(size, alignment);
    size_class = LargeClassOf(units);
    block = TakeLarge(region, units, &slot);
  } else {
    size_class = SmallClassOf(slot_bytes);
    block = TakeSmall(region, size_class, &slot);
  }
  if (block == nullptr) {
    limit_exceeded_ = true;
    return nullptr;
  }
  const uint64_t begin = AlignUp(large ? slot + kLargeBlockOffset : slot, alignment);
  const bool saved = block->saved;
  *block = {
      .begin = begin,
      .size = size,
      .identity = (static_cast<uint64_t>(thread) << kIdentityThreadShift) | ++region->allocations,
      .allocation_pc = pc,
      .allocating_thread = thread,
      .kind = kind,
      .state = BlockState::kLive,
      .size_class = static_cast<uint8_t>(size_class),
      .saved = saved,
      .units = units,
      .since_snapshot = true};
  UnpoisonBlock(begin, size);
  if (!large) {
    FillBytes(reinterpret_cast<void*>(begin), zeroed ? 0 : kFreshByte, AlignUp(size, 8));
  }
  live_bytes_ += size;
  ++live_since_snapshot_;
  return reinterpret_cast<void*>(begin);
}

FreeStatus ProgramHeap::CheckFree(const void* pointer, AllocationKind kind,
                                  const HeapBlock** found) const {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  const HeapBlock* const block = Contains(address) ? FindBlock(address) : nullptr;
  if (found != nullptr) *found = block;
  return StatusOfFree(block, address, kind);
}

FreeStatus ProgramHeap::Free(ThreadId thread, void* pointer, AllocationKind kind, uint64_t pc) {
  const uint64_t address = reinterpret_cast<uint64_t>(pointer);
  HeapBlock* const block = Contains(address) ? FindBlock(address) : nullptr;
  const FreeStatus status = StatusOfFree(block, address, kind);
  if (status != FreeStatus::kFreed && status != FreeStatus::kMismatched) return status;
  HeapRegion* const region =
      thread == kNoThread ? RegionTable(RegionOf(block->begin)) : RegionOfThread(thread);
  Touch(region);
  if (block->since_snapshot) {
    --live_since_snapshot_;
  } else {
    SaveForRestore(block);
  }
  PoisonBlock(block->begin, block->size);
  live_bytes_ -= block->size;
  block->state = BlockState::kFreed;
  block->freeing_thread = thread;
  block->free_pc = pc;
  if (policy_ != HeapPolicy::kFresh && thread != kNoThread) {
    ClassState& list = FreeListOwner(region, block->size_class);
    block->next = list.free;
    list.free = block;
  }
  return status;
}

// The entry of a slot's span in the table of its region gives its record in constant time.
HeapBlock* ProgramHeap::FindBlock(uint64_t address) const {
  const ThreadId thread = RegionOf(address);
  if (!mapped_[thread]) return nullptr;
  HeapRegion* const region = RegionTable(thread);
  const uint32_t unit = UnitOf(address);
  if (unit == 0 || unit >= region->units) return nullptr;
  const HeapSpan& span = region->spans[region->spans[unit].first_unit];
  const uint32_t slot = IsLarge(span) ? 0 : SlotIndex(span, address);
  return slot < span.handed_out ? &span.records[slot] : nullptr;
}

AddressDescription ProgramHeap::Describe(uint64_t address) const {
  if (!Contains(address) || !mapped_[RegionOf(address)]) return {};
  const HeapRegion* const region = RegionTable(RegionOf(address));
  const uint32_t unit = UnitOf(address);
  if (unit == 0 || unit >= region->units) return {};
  const HeapSpan& span = region->spans[region->spans[unit].first_unit];
  // The redzone between two slots belongs to the first of them: the nearest block counts.
  const uint32_t slot = IsLarge(span) ? 0 : SlotIndex(span, address);
  const HeapBlock* nearest = nullptr;
  for (uint32_t i = slot == 0 ? 0 : slot - 1; i <= slot + 1 && i < span.handed_out; ++i) {
    const HeapBlock* const block = &span.records[i];
    if (nearest == nullptr || DistanceTo(*block, address) < DistanceTo(*nearest, address)) {
      nearest = block;
    }
  }
  if (nearest == nullptr) return {};
  AddressDescription description;
  description.block = nearest;
  description.offset = static_cast<int64_t>(address - nearest->begin);
  if (!nearest->live()) {
    description.verdict = AddressVerdict::kUseAfterFree;
  } else {
    description.verdict =
        DistanceTo(*nearest, address) == 0 ? AddressVerdict::kValid : AddressVerdict::kHeapOverrun;
  }
  return description;
}

uint64_t ProgramHeap::FirstBadAddress(uint64_t address, uint64_t size) {
  const uint64_t end = address + size;
  while (address < end && Contains(address) && !IsPoisoned(address, 1)) ++address;
  return address;
}

void ProgramHeap::Snapshot() {
  while (undo_ != nullptr) {
    HeapBlock* const block = FindBlock(undo_->begin);
    block->saved = false;
    block->since_snapshot = false;
    undo_ = undo_->next;
  }
  for (; touched_ != nullptr; touched_ = touched_->next_touched) {
    HeapRegion* const region = touched_;
    region->VisitBlocks(region->snapshot_units, [](const HeapBlock& block) {
      const_cast<HeapBlock&>(block).since_snapshot = false;
    });
    region->touched = false;
    region->touched_classes.Clear(region->classes);
    region->snapshot_units = region->units;
    region->snapshot_next_record = region->next_record;
    region->snapshot_allocations = region->allocations;
  }
  shared_touched_.Clear(shared_);
  snapshot_live_bytes_ = live_bytes_;
  live_since_snapshot_ = 0;
}

void ProgramHeap::Restore() {
  UndoSavedBlocks();
  for (; touched_ != nullptr; touched_ = touched_->next_touched) RestoreRegion(touched_);
  shared_touched_.Clear(shared_);
  live_bytes_ = snapshot_live_bytes_;
  live_since_snapshot_ = 0;
  limit_exceeded_ = false;
}

void ProgramHeap::RestoreRegion(HeapRegion* region) {
  region->VisitBlocks(region->snapshot_units, [](const HeapBlock& block) {
    if (block.live()) PoisonBlock(block.begin, block.size);
  });
  if (region->units > region->dirty_units) region->dirty_units = region->units;
  region->touched = false;
  region->touched_classes.Clear(region->classes);
  region->units = region->snapshot_units;
  region->next_record = region->snapshot_next_record;
  region->allocations = region->snapshot_allocations;
}

// The copy takes a record of its own, which goes back with the others. There is always one left:
// spans leave half of the records to copies, and each block of the snapshot is copied once.
void ProgramHeap::SaveForRestore(HeapBlock* block) {
  if (block->saved) return;
  HeapRegion* const region = RegionTable(RegionOf(block->begin));
  Touch(region);
  HeapBlock* const copy = region->next_record++;
  *copy = *block;
  copy->next = undo_;
  undo_ = copy;
  block->saved = true;
}

void ProgramHeap::UndoSavedBlocks() {
  for (; undo_ != nullptr; undo_ = undo_->next) {
    HeapBlock* const block = FindBlock(undo_->begin);
    if (block->live()) PoisonBlock(block->begin, block->size);
    *block = *undo_;
    block->next = nullptr;
    UnpoisonBlock(block->begin, block->size);
  }
}

void ProgramHeap::Release() {
  for (uint32_t thread = 0; thread < thread_limit_; ++thread) {
    if (!mapped_[thread]) continue;
    const ThreadId id = static_cast<ThreadId>(thread);
    Unreserve(RegionBegin(id), kRegionBytes);
    Unreserve(RegionTableArea(id), kRegionTableBytes);
  }
  if (ready_) Unreserve(kShadowBase, kShadowBytes);
  *this = ProgramHeap();
}

}  // namespace mc::sched
