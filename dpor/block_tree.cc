#include "dpor/block_tree.h"

namespace mc::dpor {

uint32_t BlockTree::At(int level, uint64_t number) {
  const auto found = index_.find(KeyOf(level, number));
  if (found != index_.end()) return found->second;
  const auto made = static_cast<uint32_t>(blocks_.size());
  index_.emplace(KeyOf(level, number), made);
  blocks_.emplace_back();
  blocks_[made].number = number;
  blocks_[made].level = level;
  if (level + 1 < kLevels) {
    const uint32_t parent = At(level + 1, number >> (kShift[level + 1] - kShift[level]));
    blocks_[made].next_sibling = blocks_[parent].first_child;
    blocks_[parent].first_child = made;
  }
  return made;
}

}  // namespace mc::dpor
