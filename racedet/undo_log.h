// UndoLog: makes a detector's state go back to where it stood at the end of a kept prefix.
//
// A search re-executes a prefix it already knows; the detector's state for it must come back
// without looking at its events again. Every word of state that changes in place is changed through
// Set, which remembers the old value. Undoing costs what was done, so over a whole search a
// constant per event. Words must not move while the log refers to them: keep them in a StableArray.
#ifndef MC_RACEDET_UNDO_LOG_H_
#define MC_RACEDET_UNDO_LOG_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace mc::racedet {

class UndoLog {
 public:
  void Set(uint32_t& word, uint32_t value) {
    if (word == value) return;
    if (size_ == capacity_) Grow();
    records_[size_++] = {&word, word};
    word = value;
  }

  size_t size() const { return size_; }

  // Brings every word back to its value when size() was `size`.
  void UndoTo(size_t size) {
    while (size_ > size) {
      --size_;
      *records_[size_].word = records_[size_].old_value;
    }
  }

  // Forgets the past; the words keep their values.
  void Clear() { size_ = 0; }

 private:
  struct Record {
    uint32_t* word;
    uint32_t old_value;
  };

  void Grow() {
    const size_t capacity = capacity_ == 0 ? 1024 : 2 * capacity_;
    auto grown = std::make_unique<Record[]>(capacity);
    std::copy_n(records_.get(), size_, grown.get());
    records_ = std::move(grown);
    capacity_ = capacity;
  }

  // Not a vector: Set is the detectors' most frequent operation, and has to be inlined.
  std::unique_ptr<Record[]> records_;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_UNDO_LOG_H_
