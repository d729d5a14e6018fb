#include "dpor/estimate.h"

#include <algorithm>
#include <cmath>

namespace mc::dpor {

size_t LengthTable::KeyOf(double remaining) {
  if (!(remaining > 0)) return 0;
  return std::min(static_cast<size_t>(remaining + 0.5), kMost);
}

void LengthTable::Add(double remaining, uint64_t plans, uint64_t executions) {
  const size_t key = KeyOf(remaining);
  if (entries_.size() <= key) entries_.resize(key + 1);
  entries_[key].sum += static_cast<double>(executions);
  entries_[key].count += static_cast<double>(std::max<uint64_t>(plans, 1));
}

double LengthTable::Predict(double remaining) const {
  const size_t key = KeyOf(remaining);
  // The nearest filled entries at or below the key, and above it.
  ptrdiff_t low = static_cast<ptrdiff_t>(std::min(key + 1, entries_.size())) - 1;
  while (low >= 0 && entries_[low].count == 0) --low;
  size_t high = key + 1;
  while (high < entries_.size() && entries_[high].count == 0) ++high;
  if (low < 0 && high >= entries_.size()) return 1;
  if (low < 0) return 1;
  const double at_low = entries_[low].mean();
  if (static_cast<size_t>(low) == key) return std::max(1.0, at_low);
  double growth = 1;
  if (high < entries_.size()) {
    growth = std::pow(entries_[high].mean() / at_low, 1.0 / static_cast<double>(high - low));
  } else {
    ptrdiff_t lower = low - 1;
    while (lower >= 0 && entries_[lower].count == 0) --lower;
    if (lower >= 0) {
      growth = std::pow(at_low / entries_[lower].mean(), 1.0 / static_cast<double>(low - lower));
      growth = std::clamp(growth, 1.0, kMostGrowth);
    }
  }
  return std::max(1.0, at_low * std::pow(growth, static_cast<double>(key - low)));
}

}  // namespace mc::dpor
