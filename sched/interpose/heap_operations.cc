// Allocation by the program under test: the heap, the accesses of spec optimal-dpor 1.4, and
// reports of double, invalid and mismatched frees. Called by the allocation functions
// (allocation.cc).
#include <string.h>

#include <string>

#include "sched/allocation_hooks.h"
#include "sched/interpose/hook.h"
#include "sched/interpose/memory_limit.h"
#include "sched/scheduler.h"
#include "sched/start.h"

namespace mc::sched {
namespace {

void RecordLifetime(void* block, size_t size, uint16_t flag, uint64_t pc) {
  MicroAccess access;
  access.begin = reinterpret_cast<uintptr_t>(block);
  access.pc = pc;
  access.size = static_cast<uint32_t>(size == 0 ? 1 : size);
  access.flags = flag;
  access.mode = kWrite;
  g_scheduler.Record(access);
}

// With one list of free blocks for all threads, which block is handed out depends on everyone.
void RecordSharedList(size_t size, size_t alignment, uint64_t pc) {
  if (g_scheduler.options().heap_policy != HeapPolicy::kRecycle) return;
  const uint32_t size_class = SizeClassOf(size, alignment);
  g_scheduler.RecordCell(MakeCell(CellKind::kHeapClass, size_class), kReadWrite, kValueRelevant,
                         pc);
}

void* AllocateRecorded(size_t size, size_t alignment, AllocationKind kind, bool zeroed,
                       uint64_t pc) {
  Thread& t = g_scheduler.current();
  g_scheduler.BeforeHeapOperation(pc);
  if (g_scheduler.NoteBlock(size, pc)) [[unlikely]]
    LookAtMemory(size, pc);
  const ThreadId region = g_scheduler.Mutated(EventModelMutation::kHeapOrder) ? 0 : t.id;
  void* block = g_scheduler.heap().Allocate(region, size, alignment, kind, pc, zeroed);
  if (block == nullptr) {
    g_scheduler.FailThread(BugKind::kOutOfMemory,
                           "the program holds " +
                               std::to_string(g_scheduler.heap().live_bytes() >> 20) +
                               " MiB and asks for " + std::to_string(size) + " bytes more",
                           pc);
  }
  g_scheduler.Progress();
  RecordSharedList(size, alignment, pc);
  RecordLifetime(block, size, kAllocation, pc);
  return block;
}

std::string DescribeBlock(const HeapBlock& block) {
  std::string text = "block of " + std::to_string(block.size) + " bytes at " + Hex(block.begin) +
                     ", allocated by T" + std::to_string(block.allocating_thread) + " with " +
                     AllocatorNameOf(block.kind) + " at " + CodeAddress(block.allocation_pc);
  if (!block.live()) {
    text +=
        "\nfreed by T" + std::to_string(block.freeing_thread) + " at " + CodeAddress(block.free_pc);
  }
  return text;
}

void FreeRecorded(void* pointer, AllocationKind kind, uint64_t pc) {
  g_scheduler.BeforeHeapOperation(pc);
  ProgramHeap& heap = g_scheduler.heap();
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const HeapBlock* found;
  const FreeStatus status = heap.CheckFree(pointer, kind, &found);
  if (status == FreeStatus::kDoubleFree || status == FreeStatus::kInvalidFree) {
    const std::string details = found == nullptr ? std::string() : DescribeBlock(*found);
    g_scheduler.RecordFailedAccess(address, found == nullptr ? 1 : found->size, kWrite, kFree, pc);
    if (status == FreeStatus::kDoubleFree) {
      g_scheduler.FailThread(
          BugKind::kDoubleFree,
          std::string(ReleaseNameOf(kind)) + " of " + Hex(address) + ", which is free already", pc,
          details);
    }
    g_scheduler.FailThread(BugKind::kInvalidFree,
                           std::string(ReleaseNameOf(kind)) + " of " + Hex(address) +
                               ", which is not the beginning of a block",
                           pc, details);
  }
  const HeapBlock block = *found;  // as it is now
  if (status == FreeStatus::kMismatched) {
    g_scheduler.ReportBug(BugKind::kInvalidFree,
                          std::string(ReleaseNameOf(kind)) + " of a block that came from " +
                              AllocatorNameOf(block.kind),
                          pc, DescribeBlock(block));
  }
  g_scheduler.Progress();
  // As in a free that fails, first what decides whether it does.
  RecordLifetime(pointer, block.size, kFree, pc);
  RecordSharedList(block.size, kMinAlignment, pc);
  heap.Free(g_scheduler.current().id, pointer, kind, pc);
}

}  // namespace

bool ProgramCodeRunning() { return g_program_running; }

void* ProgramAllocate(size_t size, size_t alignment, AllocationKind kind, bool zeroed,
                      uint64_t pc) {
  EngineScope scope;
  return AllocateRecorded(size, alignment, kind, zeroed, pc);
}

void ProgramFree(void* pointer, AllocationKind kind, uint64_t pc) {
  EngineScope scope;
  FreeRecorded(pointer, kind, pc);
}

void* ProgramReallocate(void* pointer, size_t size, uint64_t pc) {
  EngineScope scope;
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  ProgramHeap& heap = g_scheduler.heap();
  const HeapBlock* old;
  // Whether it goes on or fails depends on whether the block is there.
  g_scheduler.BeforeHeapOperation(pc);
  RecordLookAtObject(pointer, pc);
  if (heap.CheckFree(pointer, AllocationKind::kMalloc, &old) != FreeStatus::kFreed) {
    FreeRecorded(pointer, AllocationKind::kMalloc, pc);  // reports what is wrong
    return nullptr;
  }
  const size_t old_size = old->size;
  void* block = AllocateRecorded(size, kMinAlignment, AllocationKind::kMalloc, false, pc);
  const size_t copied = size < old_size ? size : old_size;
  if (copied != 0) {
    g_scheduler.RecordMemory(address, copied, kRead, 0, pc, MemoryOrder::kRelaxed);
    memcpy(block, pointer, copied);
  }
  FreeRecorded(pointer, AllocationKind::kMalloc, pc);
  return block;
}

}  // namespace mc::sched
