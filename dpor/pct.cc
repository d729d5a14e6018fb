#include "dpor/pct.h"

#include <algorithm>
#include <cmath>

namespace mc::dpor {

using sched::ThreadId;

bool ProbabilisticConcurrencyTesting::BeginExecution(const sched::Trace&, size_t* keep) {
  *keep = 0;
  resumed_ = false;
  if (runs() >= limit_) return false;
  priorities_.clear();
  change_points_.clear();
  const uint64_t length = longest_ == 0 ? kFirstLength : longest_;
  for (uint32_t k = 1; k < depth_; ++k) change_points_.push_back(random_.NextRandom() % length);
  std::ranges::sort(change_points_);
  return true;
}

ThreadId ProbabilisticConcurrencyTesting::Next(const sched::Trace& trace,
                                               const sched::StateView& state) {
  // Below depth_ are the priorities of threads that were lowered, the later ones below the earlier.
  constexpr uint64_t kUnlowered = uint64_t{1} << 63;
  priorities_.resize(std::max<size_t>(priorities_.size(), state.ThreadCount()), 0);
  while (true) {
    ThreadId best = sched::kAbandon;
    for (uint32_t t = 0; t < state.ThreadCount(); ++t) {
      if (!state.IsEnabled(static_cast<ThreadId>(t))) continue;
      if (priorities_[t] == 0) priorities_[t] = kUnlowered | random_.NextRandom();
      if (best == sched::kAbandon || priorities_[t] > priorities_[best]) {
        best = static_cast<ThreadId>(t);
      }
    }
    if (best == sched::kAbandon || change_points_.empty() ||
        change_points_.front() > trace.size()) {
      return best;
    }
    priorities_[best] = change_points_.size();
    change_points_.erase(change_points_.begin());
  }
}

uint32_t ProbabilisticConcurrencyTesting::NextChoice(size_t, uint32_t, uint32_t arity) {
  return static_cast<uint32_t>(random_.NextRandom() % arity);
}

void ProbabilisticConcurrencyTesting::EndExecution(const sched::Trace& trace) {
  Count(trace);
  longest_ = std::max<uint64_t>(longest_, trace.size());
  uint32_t threads = 0;
  for (const sched::ThreadEnd& end : trace.ends) threads += end.events != 0 ? 1 : 0;
  most_threads_ = std::max(most_threads_, threads);
}

double ProbabilisticConcurrencyTesting::chance() const {
  if (runs() == 0) return 0;
  return 1 / (most_threads_ * std::pow(static_cast<double>(longest_), depth_ - 1.0));
}

}  // namespace mc::dpor
