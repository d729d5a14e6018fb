#include "sched/checkpoint.h"

#include <algorithm>
#include <utility>

namespace mc::sched {

const Checkpoint* CheckpointStack::Begin(size_t kept) {
  while (count_ > 0 && made_[count_ - 1].position > kept) --count_;
  const Checkpoint* const deepest = count_ > 0 ? &made_[count_ - 1] : nullptr;
  const size_t from = deepest == nullptr ? 0 : deepest->position;
  due_ = kNever;
  if (kept == 0) return deepest;
  repeated_ += kept - from;
  shortest_ = std::min(shortest_, kept);
  if (repeated_ < cost_) return deepest;
  if (shortest_ > from) due_ = shortest_;
  repeated_ = 0;
  shortest_ = kNever;
  return deepest;
}

void CheckpointStack::Done(bool complete) {
  due_ = kNever;
  if (!complete) {  // perhaps later; ask ever more rarely
    cost_ = std::min(2 * cost_, kMaxCost);
    return;
  }
  cost_ = kBaseCost + made_[count_].bytes() / kBytesPerEvent;
  if (count_ < kMaxCount) {
    ++count_;
  } else {
    std::swap(made_[count_ - 1], made_[count_]);
  }
}

}  // namespace mc::sched
