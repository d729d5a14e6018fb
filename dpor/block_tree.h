// BlockTree: large aligned blocks of memory, each a cell of its own, over the words in them.
//
// An access to megabytes must not cost a cell per word. It is cut into the largest aligned blocks
// (4 KiB, 2 MiB, 1 GiB) and what is left at its ends; each block is one cell. To find what an
// access meets, one asks the blocks around it and, for a block, everything inside it that exists.
// Nothing is kept before the first large access.
#ifndef MC_DPOR_BLOCK_TREE_H_
#define MC_DPOR_BLOCK_TREE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace mc::dpor {

class BlockTree {
 public:
  static constexpr int kLevels = 3;
  static constexpr int kShift[kLevels] = {12, 21, 30};
  static constexpr uint32_t kNone = 0xffffffff;

  struct Block {
    uint64_t number = 0;  // address >> kShift[level]
    int level = 0;
    uint32_t cell = kNone;         // its number in the CellTable, once it was accessed as a whole
    uint32_t first_child = kNone;  // blocks of the level below, linked by next_sibling
    uint32_t next_sibling = kNone;
    std::vector<uint32_t> words;  // level 0: the first cells of the words inside
  };

  bool active() const { return active_; }
  void Activate() { active_ = true; }

  // A word (an address / 8) got its first cell.
  void AddWord(uint64_t word, uint32_t cell) {
    blocks_[At(0, word >> (kShift[0] - 3))].words.push_back(cell);
  }
  // The block, made if it is new.
  uint32_t At(int level, uint64_t number);
  Block& operator[](uint32_t block) { return blocks_[block]; }

  // Calls visit(cell) for the blocks accessed as a whole that contain the block (or the address
  // range of a 4 KiB block, for level -1: then `number` is that of the 4 KiB block).
  template <typename Visit>
  void ForEachAround(int level, uint64_t number, const Visit& visit) const {
    const int first = level + 1;
    for (int above = first; above < kLevels; ++above) {
      const uint64_t at = level < 0 ? number >> (kShift[above] - kShift[0])
                                    : number >> (kShift[above] - kShift[level]);
      const auto found = index_.find(KeyOf(above, at));
      if (found == index_.end()) continue;
      const uint32_t cell = blocks_[found->second].cell;
      if (cell != kNone) visit(cell);
    }
  }

  // Calls visit_block(cell) for the blocks accessed as a whole inside `block`, and visit_word(cell)
  // for the first cells of the words inside.
  template <typename VisitBlock, typename VisitWord>
  void ForEachInside(uint32_t block, const VisitBlock& visit_block,
                     const VisitWord& visit_word) const {
    for (const uint32_t cell : blocks_[block].words) visit_word(cell);
    for (uint32_t c = blocks_[block].first_child; c != kNone; c = blocks_[c].next_sibling) {
      if (blocks_[c].cell != kNone) visit_block(blocks_[c].cell);
      ForEachInside(c, visit_block, visit_word);
    }
  }

 private:
  static uint64_t KeyOf(int level, uint64_t number) {
    return static_cast<uint64_t>(level) << 56 | number;
  }

  bool active_ = false;
  std::vector<Block> blocks_;
  std::unordered_map<uint64_t, uint32_t> index_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_BLOCK_TREE_H_
