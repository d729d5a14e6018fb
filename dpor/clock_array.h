// ClockArray: the vector clocks of the events of one path, in one array indexed by position
// (spec optimal-dpor 1.6, 3.2).
//
// Entry t of the clock of event j is the number of events of thread t that happen before j or are
// j. Entries are 16 bits wide until a thread reaches 65,535 events, then all become 32 bits wide;
// the width (number of thread slots) is a multiple of 8 and grows with the threads. Neither ever
// overflows silently.
#ifndef MC_DPOR_CLOCK_ARRAY_H_
#define MC_DPOR_CLOCK_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::dpor {

class ClockArray {
 public:
  // Makes room for threads below `threads` and for thread event counts up to `count`.
  void Reserve(uint32_t threads, uint32_t count) {
    if (threads > width_) GrowWidth(threads);
    if (count > 0xffff && !wide_) Widen();
  }
  // Makes `positions` clocks accessible. Contents of new ones are unspecified.
  void Resize(size_t positions) {
    if (wide_) {
      if (wide_clocks_.size() < positions * width_) wide_clocks_.resize(positions * width_ * 2);
    } else {
      if (narrow_.size() < positions * width_) narrow_.resize(positions * width_ * 2);
    }
    if (positions > positions_) positions_ = positions;
  }

  uint32_t Get(size_t position, uint32_t thread) const {
    return wide_ ? wide_clocks_[position * width_ + thread] : narrow_[position * width_ + thread];
  }
  void Set(size_t position, uint32_t thread, uint32_t value) {
    if (wide_) {
      wide_clocks_[position * width_ + thread] = value;
    } else {
      narrow_[position * width_ + thread] = static_cast<uint16_t>(value);
    }
  }
  void Clear(size_t position);
  void Copy(size_t to, size_t from);
  void Join(size_t into, size_t from);

  // Writes to `out`, in order, the positions k in [begin, end) with Get(k, thread) <= index: those
  // that do not happen after event `index` of `thread`. Returns how many.
  size_t CollectNotAfter(size_t begin, size_t end, uint32_t thread, uint32_t index,
                         uint32_t* out) const;
  // Of each thread, the least entry of the clocks in [begin, end): its events below that index
  // happen before all of these. The greatest number if the range is empty.
  void Least(size_t begin, size_t end, std::vector<uint32_t>* out) const;
  // The last of them; kNone if there is none.
  size_t LastNotAfter(size_t begin, size_t end, uint32_t thread, uint32_t index) const {
    return wide_ ? Last(wide_clocks_.data(), begin, end, thread, index)
                 : Last(narrow_.data(), begin, end, thread, index);
  }
  static constexpr size_t kNone = ~size_t{0};
  uint32_t width() const { return width_; }

 private:
  template <typename Counter>
  size_t Last(const Counter* clocks, size_t begin, size_t end, uint32_t thread,
              uint32_t index) const {
    const Counter* entry = clocks + end * width_ + thread;
    for (size_t k = end; k-- > begin;) {
      entry -= width_;
      if (*entry <= index) return k;
    }
    return kNone;
  }
  void GrowWidth(uint32_t threads);
  void Widen();

  uint32_t width_ = 8;
  bool wide_ = false;
  size_t positions_ = 0;  // largest number of clocks ever in use
  std::vector<uint16_t> narrow_;
  std::vector<uint32_t> wide_clocks_;
};

}  // namespace mc::dpor

#endif  // MC_DPOR_CLOCK_ARRAY_H_
