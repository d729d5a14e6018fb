#include "dpor/cell_table.h"

namespace mc::dpor {

CellTable::CellTable() : slots_(256), shift_(64 - 8) {
  nodes_.push_back({0, 0});  // 0 is the empty list
  NewCell(~uint64_t{0}, 0);  // and cell 0 is no cell
}

uint32_t CellTable::NewCell(uint64_t word, uint8_t mask) {
  cells_.push_back({word, kNoPosition, mask});
  states_.emplace_back();
  owners_.push_back(all_shared_ ? kShared : sched::kNoThread);
  return static_cast<uint32_t>(cells_.size() - 1);
}

uint32_t CellTable::AddWord(uint64_t word, uint8_t mask) {
  if (++words_ * 2 > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --shift_;
    for (const Slot& s : old) {
      if (s.head == kNoPosition) continue;
      size_t at = (s.word * 0x9e3779b97f4a7c15u) >> shift_;
      while (slots_[at].head != kNoPosition) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = s;
    }
  }
  const uint32_t cell = NewCell(word, mask);
  size_t at = (word * 0x9e3779b97f4a7c15u) >> shift_;
  while (slots_[at].head != kNoPosition) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {word, cell};
  if (blocks_.active() && sched::IsMemory(word)) blocks_.AddWord(word, cell);
  return cell;
}

void CellTable::ActivateBlocks() {
  blocks_.Activate();
  for (const Slot& s : slots_) {
    if (s.head != kNoPosition && sched::IsMemory(s.word)) blocks_.AddWord(s.word, s.head);
  }
}

// `cell` keeps the bytes `common`; a new cell with the same history gets the others.
void CellTable::Divide(uint32_t cell, uint8_t common) {
  const uint8_t rest = cells_[cell].mask & static_cast<uint8_t>(~common);
  const uint32_t added = NewCell(cells_[cell].word, rest);
  states_[added] = states_[cell];
  owners_[added] = owners_[cell];
  cells_[cell].mask = common;
  cells_[added].next = cells_[cell].next;
  cells_[cell].next = added;
  outdated_ = true;
  ++version_;
}

void CellTable::ShareAll() {
  all_shared_ = true;
  outdated_ = true;
  ++version_;
  owners_.assign(owners_.size(), kShared);
}

void CellTable::RevertTo(const Mark& mark) {
  while (undo_.size() > mark.undo) {
    states_[undo_.back().cell] = undo_.back().old;
    undo_.pop_back();
  }
  nodes_.resize(mark.nodes);
}

void CellTable::ForgetAccesses() {
  states_.assign(states_.size(), CellState{});
  nodes_.resize(1);
  undo_.clear();
  outdated_ = false;
}

}  // namespace mc::dpor
