// AccessIndex: which accesses the running block has already made.
//
// A loop inside a block repeats the same access; its footprint is the same after the first. The
// index answers "is this access (same instruction, bytes and mode) already in the block's list?" in
// a few nanoseconds. Most blocks make only a few accesses: these are compared one by one, and a
// hash table is used from then on. Its entries carry the stamp of their block, so a new block
// starts empty at no cost.
#ifndef MC_SCHED_ACCESS_INDEX_H_
#define MC_SCHED_ACCESS_INDEX_H_

#include <cstdint>
#include <vector>

#include "sched/event.h"

namespace mc::sched {

class AccessIndex {
 public:
  // To be called first, by the engine: what a constructor of a static object allocates belongs to
  // the program, and goes back to the snapshot.
  void Prepare() { table_.resize(kInitialSize); }

  void BeginBlock() {
    ++stamp_;
    used_ = 0;
  }

  // Returns true if an equal access was seen in this block; otherwise remembers that
  // list[position] is this access. `list` is where positions of this block point into.
  bool SeenOrAdd(const MicroAccess& access, uint32_t position, const MicroAccess* list) {
    if (used_ <= kFew) {
      for (uint64_t k = 0; k < used_; ++k) {
        if (AreSame(list[few_[k]], access)) return true;
      }
      if (used_ < kFew) {
        few_[used_++] = position;
        return false;
      }
      for (const uint32_t earlier : few_) Enter(earlier, list);
    }
    if ((used_ + 1) * 2 > table_.size()) Grow(list);  // before: this access is not in the list yet
    const uint64_t mask = table_.size() - 1;
    uint64_t slot = Hash(access) & mask;
    for (; table_[slot].stamp == stamp_; slot = (slot + 1) & mask) {
      if (AreSame(list[table_[slot].position], access)) return true;
    }
    table_[slot] = {stamp_, position};
    ++used_;
    return false;
  }

 private:
  struct Entry {
    uint64_t stamp = 0;
    uint32_t position = 0;
  };
  static constexpr size_t kInitialSize = 128;
  static constexpr uint64_t kFew = 4;

  static bool AreSame(const MicroAccess& a, const MicroAccess& b) {
    return a.begin == b.begin && a.pc == b.pc && a.size == b.size && a.mode == b.mode &&
           a.flags == b.flags;
  }
  static uint64_t Hash(const MicroAccess& a) {
    uint64_t h = (a.begin * 0x9e3779b97f4a7c15u) ^ (a.pc * 0xc2b2ae3d27d4eb4fu) ^ a.mode;
    return h ^ (h >> 29);
  }
  void Enter(uint32_t position, const MicroAccess* list) {
    const uint64_t mask = table_.size() - 1;
    uint64_t slot = Hash(list[position]) & mask;
    while (table_[slot].stamp == stamp_) slot = (slot + 1) & mask;
    table_[slot] = {stamp_, position};
  }
  void Grow(const MicroAccess* list) {
    std::vector<Entry> old;
    old.swap(table_);
    table_.resize(old.size() * 2);
    for (const Entry& e : old) {
      if (e.stamp == stamp_) Enter(e.position, list);
    }
  }

  std::vector<Entry> table_;
  uint64_t stamp_ = 0;
  uint64_t used_ = 0;        // accesses of this block; from kFew + 1 on they are all in the table
  uint32_t few_[kFew] = {};  // their positions, while they are few
};

}  // namespace mc::sched

#endif  // MC_SCHED_ACCESS_INDEX_H_
