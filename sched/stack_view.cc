#include "sched/stack_view.h"

#include <algorithm>
#include <cstring>

namespace mc::sched {

StackView::Range StackView::Clip(uintptr_t address, size_t size) const {
  if (address >= stack_high_ || size == 0) return {0, 0};
  const size_t end = stack_high_ - address;
  const size_t begin = size < end ? end - size : 0;
  return {begin, std::clamp(end, begin, std::max(begin, kMaxSize))};
}

void StackView::MakeRoom() {
  if (!marks_.empty()) return;
  marks_.resize(kMaxSize);
  own_.resize(kMaxSize);
  left_.resize(kMaxSize);
}

void StackView::Save(std::vector<MarkedByte>* out) const {
  out->clear();
  if (!any_marked_) return;
  for (size_t i = 0; i < kMaxSize; ++i) {
    if (marks_[i] != kNotMarked) out->push_back({static_cast<uint16_t>(i), own_[i], left_[i]});
  }
}

void StackView::Restore(const std::vector<MarkedByte>& saved) {
  if (saved.empty()) return;
  MakeRoom();
  any_marked_ = true;
  for (const MarkedByte& byte : saved) {
    marks_[byte.number] = kMarked;
    own_[byte.number] = byte.own;
    left_[byte.number] = byte.left;
  }
}

void StackView::BeforeWriteByOther(uintptr_t address, size_t size) {
  const Range range = Clip(address, size);
  if (range.begin == range.end) return;
  MakeRoom();
  any_marked_ = true;
  for (size_t i = range.begin; i < range.end; ++i) {
    if (marks_[i] == kNotMarked || (marks_[i] == kMarked && left_[i] != *Live(i))) {
      own_[i] = *Live(i);
    }
    marks_[i] = kBeingWritten;
  }
}

void StackView::AfterWriteByOther(uintptr_t address, size_t size) {
  const Range range = Clip(address, size);
  for (size_t i = range.begin; i < range.end; ++i) {
    if (marks_[i] != kBeingWritten) continue;
    left_[i] = *Live(i);
    marks_[i] = kMarked;
  }
}

void StackView::Clear() {
  std::ranges::fill(marks_, static_cast<unsigned char>(kNotMarked));
  any_marked_ = false;
}

void StackView::Unmark(uintptr_t address, size_t size) {
  const Range range = Clip(address, size);
  std::fill(marks_.begin() + static_cast<ptrdiff_t>(range.begin),
            marks_.begin() + static_cast<ptrdiff_t>(range.end),
            static_cast<unsigned char>(kNotMarked));
}

const unsigned char* StackView::Copy(uintptr_t stack_low, bool* overwritten) {
  const size_t size = stack_high_ - stack_low;
  copy_.resize(size);
  memcpy(copy_.data(), reinterpret_cast<const void*>(stack_low), size);
  // What lies below is dead.
  if (size < kMaxSize) {
    std::fill(marks_.begin() + static_cast<ptrdiff_t>(size), marks_.end(),
              static_cast<unsigned char>(kNotMarked));
  }
  any_marked_ = false;
  const size_t compared = std::min(size, kMaxSize);
  for (size_t i = 0; i < compared; ++i) {
    if (marks_[i] == kNotMarked) continue;
    unsigned char& shown = copy_[size - 1 - i];
    if (shown != left_[i]) {
      marks_[i] = kNotMarked;
      *overwritten = true;
      continue;
    }
    shown = own_[i];
    any_marked_ = true;
  }
  return copy_.data();
}

}  // namespace mc::sched
