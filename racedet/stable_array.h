// StableArray: a growing array whose elements never move (so that an UndoLog may point into them)
// and whose memory is kept when it shrinks (so that the steady state does not allocate).
#ifndef MC_RACEDET_STABLE_ARRAY_H_
#define MC_RACEDET_STABLE_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mc::racedet {

template <typename T>
class StableArray {
 public:
  T& operator[](uint32_t i) { return chunks_[i >> kChunkShift][i & kChunkMask]; }
  const T& operator[](uint32_t i) const { return chunks_[i >> kChunkShift][i & kChunkMask]; }

  uint32_t size() const { return size_; }

  // Appends an element and returns its index. Its value is whatever it held when it was last in
  // use.
  uint32_t Append() {
    if (size_ >> kChunkShift == chunks_.size()) {
      chunks_.push_back(std::make_unique<T[]>(size_t{1} << kChunkShift));
    }
    return size_++;
  }

  // Makes the indices below `size` usable; new elements are value-initialised.
  void GrowTo(uint32_t size) {
    while (size_ < size) (*this)[Append()] = T{};
  }

  void CutBack(uint32_t size) { size_ = size; }

  void Release() {
    chunks_.clear();
    size_ = 0;
  }

 private:
  static constexpr int kChunkShift = 10;
  static constexpr uint32_t kChunkMask = (1u << kChunkShift) - 1;

  std::vector<std::unique_ptr<T[]>> chunks_;
  uint32_t size_ = 0;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_STABLE_ARRAY_H_
