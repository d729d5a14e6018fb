#include "dpor/clock_array.h"

#include <cstring>

namespace mc::dpor {
namespace {

// Eight counters at a time; both compilers turn this into one or two vector instructions.
template <typename Counter>
struct Lanes {
  typedef Counter Type __attribute__((vector_size(8 * sizeof(Counter))));
};

template <typename Counter>
void JoinCounters(Counter* into, const Counter* from, uint32_t width) {
  using Vector = typename Lanes<Counter>::Type;
  for (uint32_t t = 0; t < width; t += 8) {
    Vector a, b;
    memcpy(&a, into + t, sizeof(a));
    memcpy(&b, from + t, sizeof(b));
    a = a > b ? a : b;
    memcpy(into + t, &a, sizeof(a));
  }
}

template <typename Counter>
void LeastCounters(const Counter* clocks, size_t begin, size_t end, uint32_t width, uint32_t* out) {
  using Vector = typename Lanes<Counter>::Type;
  for (uint32_t t = 0; t < width; t += 8) {
    Vector least = ~Vector{};
    for (size_t k = begin; k < end; ++k) {
      Vector clock;
      memcpy(&clock, clocks + k * width + t, sizeof(clock));
      least = least < clock ? least : clock;
    }
    for (uint32_t lane = 0; lane < 8; ++lane) out[t + lane] = least[lane];
  }
}

template <typename Counter>
size_t Collect(const Counter* clocks, size_t begin, size_t end, uint32_t width, uint32_t thread,
               uint32_t index, uint32_t* out) {
  size_t count = 0;
  const Counter* entry = clocks + begin * width + thread;
  for (size_t k = begin; k < end; ++k, entry += width) {
    out[count] = static_cast<uint32_t>(k);
    count += *entry <= index ? 1 : 0;
  }
  return count;
}

}  // namespace

void ClockArray::Clear(size_t position) {
  if (wide_) {
    memset(&wide_clocks_[position * width_], 0, width_ * sizeof(uint32_t));
  } else {
    memset(&narrow_[position * width_], 0, width_ * sizeof(uint16_t));
  }
}

void ClockArray::Copy(size_t to, size_t from) {
  if (wide_) {
    memcpy(&wide_clocks_[to * width_], &wide_clocks_[from * width_], width_ * sizeof(uint32_t));
  } else {
    memcpy(&narrow_[to * width_], &narrow_[from * width_], width_ * sizeof(uint16_t));
  }
}

void ClockArray::Join(size_t into, size_t from) {
  if (wide_) {
    JoinCounters(&wide_clocks_[into * width_], &wide_clocks_[from * width_], width_);
  } else {
    JoinCounters(&narrow_[into * width_], &narrow_[from * width_], width_);
  }
}

size_t ClockArray::CollectNotAfter(size_t begin, size_t end, uint32_t thread, uint32_t index,
                                   uint32_t* out) const {
  return wide_ ? Collect(wide_clocks_.data(), begin, end, width_, thread, index, out)
               : Collect(narrow_.data(), begin, end, width_, thread, index, out);
}

void ClockArray::Least(size_t begin, size_t end, std::vector<uint32_t>* out) const {
  out->resize(width_);
  if (wide_) {
    LeastCounters(wide_clocks_.data(), begin, end, width_, out->data());
  } else {
    LeastCounters(narrow_.data(), begin, end, width_, out->data());
  }
}

void ClockArray::GrowWidth(uint32_t threads) {
  const uint32_t old = width_;
  width_ = (threads + 7) / 8 * 8;
  auto relayout = [&](auto& clocks) {
    std::remove_reference_t<decltype(clocks)> wider(positions_ * width_ + 8 * width_, 0);
    for (size_t p = 0; p < positions_; ++p) {
      for (uint32_t t = 0; t < old; ++t) wider[p * width_ + t] = clocks[p * old + t];
    }
    clocks.swap(wider);
  };
  if (wide_) {
    relayout(wide_clocks_);
  } else {
    relayout(narrow_);
  }
}

void ClockArray::Widen() {
  wide_clocks_.assign(narrow_.begin(), narrow_.end());
  narrow_.clear();
  narrow_.shrink_to_fit();
  wide_ = true;
}

}  // namespace mc::dpor
