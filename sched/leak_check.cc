#include "sched/leak_check.h"

#include <algorithm>

#include "sched/c_library.h"
#include "sched/kernel_state.h"

namespace mc::sched {
namespace {

class Marker {
 public:
  explicit Marker(std::vector<const HeapBlock*> blocks)
      : blocks_(std::move(blocks)), reached_(blocks_.size()) {
    std::sort(blocks_.begin(), blocks_.end(),
              [](const HeapBlock* a, const HeapBlock* b) { return a->begin < b->begin; });
  }

  void Scan(uint64_t begin, uint64_t end, bool only_of_c_library = false) {
    for (uint64_t at = (begin + 7) & ~uint64_t{7}; at + 8 <= end; at += 8) {
      const uint64_t value = *reinterpret_cast<const uint64_t*>(at);
      if (ProgramHeap::Contains(value)) Reach(value, only_of_c_library);
    }
  }
  // The dynamic loader's own blocks: what it refers to is not looked at.
  void ReachBlocksOfLoader() {
    for (const HeapBlock* block : blocks_) {
      if (IsLoaderCode(block->allocation_pc)) Reach(block->begin, false);
    }
  }
  void Finish() {
    while (!work_.empty()) {
      const HeapBlock* block = work_.back();
      work_.pop_back();
      Scan(block->begin, block->end());
    }
  }
  std::vector<const HeapBlock*> Lost() const {
    std::vector<const HeapBlock*> lost;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (!reached_[i]) lost.push_back(blocks_[i]);
    }
    return lost;
  }

 private:
  void Reach(uint64_t address, bool only_of_c_library) {
    auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), address,
        [](uint64_t value, const HeapBlock* block) { return value < block->begin; });
    if (after == blocks_.begin()) return;
    const auto index = static_cast<size_t>(after - blocks_.begin()) - 1;
    // A pointer to the end of a block counts: it is how an empty range is often kept.
    if (address > blocks_[index]->end() || reached_[index]) return;
    if (only_of_c_library && !IsCLibraryCode(blocks_[index]->allocation_pc)) return;
    reached_[index] = true;
    work_.push_back(blocks_[index]);
  }

  std::vector<const HeapBlock*> blocks_;
  std::vector<bool> reached_;
  std::vector<const HeapBlock*> work_;
};

}  // namespace

std::vector<const HeapBlock*> FindLostBlocks(const ProgramHeap& heap, const Snapshot& snapshot,
                                             const std::vector<ThreadStorage>& storage) {
  std::vector<const HeapBlock*> blocks;
  heap.VisitLiveSinceSnapshot([&](const HeapBlock& block) { blocks.push_back(&block); });
  Marker marker(std::move(blocks));
  snapshot.ForEachRegion([&](uintptr_t begin, uintptr_t end) { marker.Scan(begin, end); });
  for (const ThreadStorage& one : storage) marker.Scan(one.begin, one.end, one.only_of_c_library);
  marker.ReachBlocksOfLoader();
  marker.Finish();
  std::vector<const HeapBlock*> lost = marker.Lost();
  if (lost.empty() || !HasMappings()) return lost;
  VisitMappedPages(
      [](const void* copy, size_t size, void* context) {
        const auto begin = reinterpret_cast<uint64_t>(copy);
        static_cast<Marker*>(context)->Scan(begin, begin + size);
      },
      &marker);
  marker.Finish();
  return marker.Lost();
}

}  // namespace mc::sched
