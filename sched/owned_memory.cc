#include "sched/owned_memory.h"

#include <algorithm>

namespace mc::sched {

bool OwnedMemory::EnterAnew(uintptr_t address, size_t size, const Thread& thread, uint64_t now) {
  const uint64_t first = address >> kLineShift, last = (address + size - 1) >> kLineShift;
  if (last - first >= kMaxLines || last < first) {
    EnterLarge(first, std::max(first, last));
    return false;
  }
  bool fits = true;
  for (uint64_t line = first; line <= last; ++line) fits &= EnterLine(line, thread, now);
  return fits;
}

bool OwnedMemory::EnterLine(uint64_t line, const Thread& thread, uint64_t now) {
  if (line == 0) return false;
  Slot* slot = &At(line);
  if (slot->line == line) {
    return slot->owner != kNobody && (Fits(*slot, thread, now) || Share(*slot));
  }
  if (size_ == kMaxKnownLines) return false;
  if (++size_ * 4 > slots_.size()) {
    Grow();
    slot = &At(line);
  }
  *slot = {line, InLargeRange(line) ? kNobody : thread.id, kNobody, false, now};
  return slot->owner != kNobody;
}

// Does a line that is not shared stay so?
bool OwnedMemory::Fits(Slot& slot, const Thread& thread, uint64_t now) const {
  if (thread.id == slot.owner) {
    slot.owner_last = std::max(slot.owner_last, now);
    return slot.heir == kNobody || !threads_[slot.heir]->exists;
  }
  const bool in_first_block = thread.events == 1;
  if (thread.id == slot.heir) return in_first_block;
  if (slot.heir != kNobody || !in_first_block || thread.creator != slot.owner ||
      thread.created <= slot.owner_last) {
    return false;
  }
  slot.heir = thread.id;
  return true;
}

bool OwnedMemory::LeaveOutEach(uintptr_t address, size_t size) {
  const uint64_t last = (address + size - 1) >> kLineShift;
  for (uint64_t line = address >> kLineShift; line <= last; ++line) At(line).left_out = true;
  return true;
}

void OwnedMemory::EnterLarge(uint64_t first, uint64_t last) {
  for (const LargeRange& range : large_) {
    if (range.first <= first && last <= range.last) return;
  }
  LargeRange added{first, last};
  if (large_.size() == kMaxLargeRanges) {
    for (const LargeRange& range : large_) {
      added.first = std::min(added.first, range.first);
      added.last = std::max(added.last, range.last);
    }
    large_.clear();
  }
  large_.push_back(added);
  for (Slot& slot : slots_) {
    if (slot.line != 0 && added.first <= slot.line && slot.line <= added.last) Share(slot);
  }
}

bool OwnedMemory::InLargeRange(uint64_t line) const {
  return std::ranges::any_of(
      large_, [&](const LargeRange& range) { return range.first <= line && line <= range.last; });
}

void OwnedMemory::Grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.line != 0) At(slot.line) = slot;
  }
}

}  // namespace mc::sched
