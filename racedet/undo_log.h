// UndoLog: makes a detector's state go back to where it stood at the end of a kept prefix.
//
// A search re-executes a prefix it already knows; the detector's state for it must come back
// without looking at its events again. Every word of state that changes in place is changed through
// Set, which remembers the old value. Undoing costs what was done, so over a whole search a
// constant per event. Words must not move while the log refers to them: keep them in a StableArray.
#ifndef MC_RACEDET_UNDO_LOG_H_
#define MC_RACEDET_UNDO_LOG_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::racedet {

class UndoLog {
 public:
  void Set(uint32_t& word, uint32_t value) {
    if (word == value) return;
    records_.push_back({&word, word});
    word = value;
  }

  size_t size() const { return records_.size(); }

  // Brings every word back to its value when size() was `size`.
  void UndoTo(size_t size) {
    while (records_.size() > size) {
      *records_.back().word = records_.back().old_value;
      records_.pop_back();
    }
  }

  // Forgets the past; the words keep their values.
  void Clear() { records_.clear(); }

 private:
  struct Record {
    uint32_t* word;
    uint32_t old_value;
  };
  std::vector<Record> records_;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_UNDO_LOG_H_
