// CellTable: who touched each cell last, on the current path (spec optimal-dpor 3.2).
//
// Memory is kept in words of 8 bytes, each divided into the parts that accesses have told apart so
// far; every other cell is a word of its own. A part is a *cell* with a dense number. For each
// cell: the last write, and since then the reads and the additions (the latest of each thread).
// Lists are persistent: an older state is restored by putting back three numbers.
//
// An access to many kilobytes touches whole blocks instead of words (block_tree.h); ForEachNested
// finds the other cells that have to do with the same bytes.
//
// A cell that only one thread has ever touched has an owner, and need not be entered: no event of
// another thread depends on it. `Own` notices when a second thread comes.
//
// Dividing a part gives a new cell that older undo entries do not know, and a cell that gets a
// second thread lacks what its owner did: `outdated()` then tells the table's owner to rebuild it
// from the path's footprints. That happens at most once per boundary, and once per cell.
#ifndef MC_DPOR_CELL_TABLE_H_
#define MC_DPOR_CELL_TABLE_H_

#include <cstdint>
#include <vector>

#include "dpor/block_tree.h"
#include "dpor/footprint.h"
#include "sched/cell.h"
#include "sched/event.h"

namespace mc::dpor {

inline constexpr uint32_t kNoPosition = 0xffffffff;

// Positions in the path; lists are heads into the table's nodes, 0 = empty.
struct CellState {
  uint32_t last_write = kNoPosition;
  uint32_t reads = 0;
  uint32_t adds = 0;
};

class CellTable {
 public:
  struct Node {
    uint32_t position;
    uint32_t next;
  };
  struct Undo {
    uint32_t cell;
    CellState old;
  };

  CellTable();

  // Calls visit(cell number) for each cell of `range`, created if new.
  template <typename Visit>
  void ForEachCell(const Range& range, const Visit& visit) {
    if (!sched::IsMemory(range.begin)) {
      for (uint32_t k = 0; k < range.size; ++k) visit(Single(range.begin + k));
      return;
    }
    if (range.size < kLargeRange) {
      ForEachWord(range.begin, range.end(), visit);
      return;
    }
    ForEachPiece(
        range, [&](sched::Cell begin, sched::Cell end) { ForEachWord(begin, end, visit); },
        [&](int level, uint64_t number) { visit(CellOfBlock(level, number)); });
  }
  // Calls visit(cell number) for the cells that overlap `range` and are not among those of
  // ForEachCell(range): blocks around its words, and what lies inside its blocks.
  template <typename Visit>
  void ForEachNested(const Range& range, const Visit& visit) {
    if (!sched::IsMemory(range.begin)) return;
    if (!blocks_.active() && range.size < kLargeRange) return;
    auto around_words = [&](sched::Cell begin, sched::Cell end) {
      const int shift = BlockTree::kShift[0];
      for (uint64_t n = begin >> shift; n <= (end - 1) >> shift; ++n) {
        blocks_.ForEachAround(-1, n, visit);
      }
    };
    if (range.size < kLargeRange) {
      around_words(range.begin, range.end());
      return;
    }
    ForEachPiece(range, around_words, [&](int level, uint64_t number) {
      blocks_.ForEachAround(level, number, visit);
      blocks_.ForEachInside(blocks_.At(level, number), visit, [&](uint32_t cell) {
        for (; cell != kNoPosition; cell = cells_[cell].next) visit(cell);
      });
    });
  }
  // The number of a cell that is not memory; created if new.
  uint32_t Single(sched::Cell cell) { return HeadOf(cell, 0xff); }

  const CellState& state(uint32_t cell) const { return states_[cell]; }
  const Node& node(uint32_t at) const { return nodes_[at]; }
  size_t size() const { return states_.size(); }

  // Enters an access by the event at `position`. `thread_of(position)` names an event's thread.
  template <typename ThreadOf>
  void Touch(uint32_t cell, uint32_t modes, uint32_t position, const ThreadOf& thread_of) {
    CellState& s = states_[cell];
    undo_.push_back({cell, s});
    if ((modes & sched::kWrite) != 0) {
      s = {position, 0, 0};
      return;
    }
    if ((modes & sched::kRead) != 0) s.reads = Push(s.reads, position, thread_of);
    if ((modes & sched::kAdd) != 0) s.adds = Push(s.adds, position, thread_of);
  }

  // Marks to come back to.
  struct Mark {
    uint32_t undo;
    uint32_t nodes;
  };
  Mark mark() const {
    return {static_cast<uint32_t>(undo_.size()), static_cast<uint32_t>(nodes_.size())};
  }
  void RevertTo(const Mark& mark);

  // Notes that `thread` touches a cell.
  void Own(uint32_t cell, sched::ThreadId thread) {
    sched::ThreadId& owner = owners_[cell];
    if (owner == thread || owner == kShared) return;
    if (owner == sched::kNoThread) {
      owner = thread;
    } else {
      Share(owner);
    }
  }
  // Has a thread the cell for itself, so far?
  bool IsOwned(uint32_t cell) const { return owners_[cell] != kShared; }
  // From now on no cell has an owner.
  void ShareAll();
  bool all_shared() const { return all_shared_; }

  bool outdated() const { return outdated_; }
  // Changes when cells are divided or get a second thread: lists of cells to be entered are good
  // for one version. Never 0.
  uint64_t version() const { return version_; }
  // Do blocks have to do with accesses to words (ForEachNested)?
  bool has_blocks() const { return blocks_.active(); }
  // Is the range cut into blocks?
  static bool IsLarge(const Range& range) {
    return range.size >= kLargeRange && sched::IsMemory(range.begin);
  }
  // Forgets all accesses, keeps the cells.
  void ForgetAccesses();

 private:
  struct CellName {
    uint64_t word;
    uint32_t next;  // other parts of the word
    uint8_t mask;
  };
  struct Slot {
    uint64_t word = 0;
    uint32_t head = kNoPosition;
  };

  static constexpr sched::ThreadId kShared = sched::kNoThread - 1;
  static_assert(kShared >= sched::kMaxThreads);

  void Share(sched::ThreadId& owner) {
    owner = kShared;
    outdated_ = true;
    ++version_;
  }

  // From this size on, an access is cut into blocks.
  static constexpr uint32_t kLargeRange = 8192;

  template <typename Visit>
  void ForEachWord(sched::Cell at, sched::Cell end, const Visit& visit) {
    while (at < end) {
      const uint32_t first = static_cast<uint32_t>(at & 7);
      const sched::Cell word_end = (at | 7) + 1;
      const uint32_t last = word_end < end ? 8 : static_cast<uint32_t>(((end - 1) & 7) + 1);
      const uint8_t mask = static_cast<uint8_t>((0xffu << first) & (0xffu >> (8 - last)));
      ForEachPart(at >> 3, mask, visit);
      at = word_end;
    }
  }

  // Cuts a large range into words(begin, end) at its ends and block(level, number) between.
  template <typename Words, typename BlockVisit>
  void ForEachPiece(const Range& range, const Words& words, const BlockVisit& block) {
    if (!blocks_.active()) ActivateBlocks();
    constexpr uint64_t kSmallest = uint64_t{1} << BlockTree::kShift[0];
    const sched::Cell end = range.end();
    sched::Cell at = (range.begin + kSmallest - 1) & ~(kSmallest - 1);
    if (at != range.begin) words(range.begin, at);
    while (end - at >= kSmallest) {
      int level = BlockTree::kLevels - 1;
      while ((at & ((uint64_t{1} << BlockTree::kShift[level]) - 1)) != 0 ||
             end - at < uint64_t{1} << BlockTree::kShift[level]) {
        --level;
      }
      block(level, at >> BlockTree::kShift[level]);
      at += uint64_t{1} << BlockTree::kShift[level];
    }
    if (at != end) words(at, end);
  }
  uint32_t CellOfBlock(int level, uint64_t number) {
    BlockTree::Block& block = blocks_[blocks_.At(level, number)];
    if (block.cell == BlockTree::kNone) block.cell = NewCell(~uint64_t{0}, 0xff);
    return block.cell;
  }
  void ActivateBlocks();

  template <typename Visit>
  void ForEachPart(uint64_t word, uint8_t mask, const Visit& visit) {
    uint32_t cell = HeadOf(word, mask);
    if (cells_[cell].mask == mask) {
      visit(cell);
      return;
    }
    uint8_t left = mask;
    uint32_t last = cell;
    for (; cell != kNoPosition; cell = cells_[cell].next) {
      last = cell;
      const uint8_t common = cells_[cell].mask & left;
      if (common == 0) continue;
      if (common != cells_[cell].mask) Divide(cell, common);
      visit(cell);
      left &= static_cast<uint8_t>(~common);
    }
    if (left != 0) {
      // Divide may have appended parts behind `last`; go to the true end.
      while (cells_[last].next != kNoPosition) last = cells_[last].next;
      const uint32_t added = NewCell(word, left);
      cells_[last].next = added;
      visit(added);
    }
  }

  template <typename ThreadOf>
  uint32_t Push(uint32_t head, uint32_t position, const ThreadOf& thread_of) {
    const auto thread = thread_of(position);
    // The list without the thread's older entry: what stands before it is copied.
    uint32_t found = head;
    uint32_t before = 0;
    while (found != 0 && thread_of(nodes_[found].position) != thread) {
      found = nodes_[found].next;
      ++before;
    }
    uint32_t tail = head;
    if (found != 0) {
      tail = nodes_[found].next;
      uint32_t copied = head;
      for (uint32_t k = 0; k < before; ++k) {
        const Node original = nodes_[copied];
        nodes_.push_back({original.position, tail});
        tail = static_cast<uint32_t>(nodes_.size() - 1);
        copied = original.next;
      }
    }
    nodes_.push_back({position, tail});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  uint32_t HeadOf(uint64_t word, uint8_t mask) {
    const size_t table_mask = slots_.size() - 1;
    size_t at = (word * 0x9e3779b97f4a7c15u) >> shift_;
    while (slots_[at].head != kNoPosition) {
      if (slots_[at].word == word) return slots_[at].head;
      at = (at + 1) & table_mask;
    }
    return AddWord(word, mask);
  }
  uint32_t AddWord(uint64_t word, uint8_t mask);
  uint32_t NewCell(uint64_t word, uint8_t mask);
  void Divide(uint32_t cell, uint8_t common);

  std::vector<Slot> slots_;
  int shift_;
  size_t words_ = 0;
  std::vector<CellName> cells_;
  std::vector<CellState> states_;
  std::vector<Node> nodes_;
  std::vector<Undo> undo_;
  BlockTree blocks_;
  std::vector<sched::ThreadId> owners_;  // by cell; kNoThread: untouched
  bool all_shared_ = false;
  bool outdated_ = false;
  uint64_t version_ = 1;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_CELL_TABLE_H_
