// AccessIndex: which accesses the running block has already made.
//
// A loop inside a block repeats the same access; its footprint is the same after the first. The
// index answers "is this access (same instruction, bytes and mode) already in the block's list?" in
// a few nanoseconds. Entries carry the stamp of their block, so a new block starts empty at no
// cost.
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
    uint64_t mask = table_.size() - 1;
    uint64_t slot = Hash(access) & mask;
    while (table_[slot].stamp == stamp_) {
      const MicroAccess& old = list[table_[slot].position];
      if (old.begin == access.begin && old.pc == access.pc && old.size == access.size &&
          old.mode == access.mode && old.flags == access.flags) {
        return true;
      }
      slot = (slot + 1) & mask;
    }
    table_[slot] = {stamp_, position};
    if (++used_ * 2 > table_.size()) Grow(list);
    return false;
  }

 private:
  struct Entry {
    uint64_t stamp = 0;
    uint32_t position = 0;
  };
  static constexpr size_t kInitialSize = 128;

  static uint64_t Hash(const MicroAccess& a) {
    uint64_t h = (a.begin * 0x9e3779b97f4a7c15u) ^ (a.pc * 0xc2b2ae3d27d4eb4fu) ^ a.mode;
    return h ^ (h >> 29);
  }
  void Grow(const MicroAccess* list) {
    std::vector<Entry> old;
    old.swap(table_);
    table_.resize(old.size() * 2);
    const uint64_t mask = table_.size() - 1;
    for (const Entry& e : old) {
      if (e.stamp != stamp_) continue;
      uint64_t slot = Hash(list[e.position]) & mask;
      while (table_[slot].stamp == stamp_) slot = (slot + 1) & mask;
      table_[slot] = e;
    }
  }

  std::vector<Entry> table_;
  uint64_t stamp_ = 0;
  uint64_t used_ = 0;
};

}  // namespace mc::sched

#endif  // MC_SCHED_ACCESS_INDEX_H_
