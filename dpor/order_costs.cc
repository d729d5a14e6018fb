#include "dpor/order_costs.h"

#include <algorithm>

namespace mc::dpor {

using sched::ThreadId;

namespace {

uint64_t HashOf(std::span<const uint32_t> counts) {
  uint64_t hash = 0;
  for (const uint32_t count : counts) hash = (hash ^ count) * 0x9e3779b97f4a7c15u + 1;
  return hash ^ (hash >> 32);
}

}  // namespace

void OrderCosts::Extend(const sched::Trace& trace, std::span<const Standing> standings) {
  const auto position = static_cast<uint32_t>(path_.size() - 1);
  const SubsetId first_new = static_cast<SubsetId>(size());
  begins_.push_back(first_new);
  MakeRoomForThread(path_.thread(position));
  last_of_size_.resize(path_.size() + 1, kNoSubset);
  uint32_t least_size = 0;  // of a closed subset with the event
  for (size_t t = 0; t < stride_; ++t) {
    least_size += path_.ClockOf(position, static_cast<ThreadId>(t));
  }
  SubsetId done = first_new;
  for (uint32_t size = least_size; size <= path_.size() && !too_large(); ++size) {
    if (indexed_ != 0) std::ranges::fill(index_, kNoSubset);
    indexed_ = 0;
    AddFromOldSubsets(size, first_new);
    AddFromNewSubsets(size, first_new);
    for (; done < this->size(); ++done) LookForPreemptions(done, trace, standings);
  }
}

void OrderCosts::CutBack(size_t length) {
  if (begins_.size() <= length) return;
  const SubsetId kept = begins_[length];
  for (size_t id = size(); id-- > kept;) last_of_size_[sizes_[id]] = links_[id];
  links_.resize(kept);
  sizes_.resize(kept);
  counts_.resize(kept * stride_);
  costs_.resize(kept * stride_);
  preemptible_.resize(kept * stride_);
  begins_.resize(length);
}

uint8_t OrderCosts::Least(ThreadId last) const {
  const SubsetId all = last_of_size_[path_.size()];
  if (all == kNoSubset || last >= stride_) return kTooMuch;
  return costs_[all * stride_ + last];
}

bool OrderCosts::CanBePreempted(ThreadId thread) const {
  return preemptible_[last_of_size_[path_.size()] * stride_ + thread] != 0;
}

void OrderCosts::MakeRoomForThread(ThreadId thread) {
  if (thread < stride_) return;
  const size_t stride = std::max<size_t>(thread + 1u, 2 * stride_);
  auto widen = [&](auto& rows, auto filler) {
    std::remove_reference_t<decltype(rows)> wide(size() * stride, filler);
    for (size_t id = 0; id < size(); ++id) {
      std::copy_n(rows.begin() + static_cast<ptrdiff_t>(id * stride_), stride_,
                  wide.begin() + static_cast<ptrdiff_t>(id * stride));
    }
    rows = std::move(wide);
  };
  widen(counts_, uint32_t{0});
  widen(costs_, uint8_t{kTooMuch});
  widen(preemptible_, uint8_t{0});
  stride_ = stride;
}

// Orders of `size` events that end with the last event of the path.
void OrderCosts::AddFromOldSubsets(uint32_t size, SubsetId first_new) {
  const auto position = static_cast<uint32_t>(path_.size() - 1);
  if (size == 1) {  // nothing comes before it
    const SubsetId id = FindOrAdd(kNoSubset, path_.thread(position), size);
    Costs(id)[path_.thread(position)] = 0;
    return;
  }
  for (SubsetId id = last_of_size_[size - 1]; id != kNoSubset && !too_large(); id = links_[id]) {
    if (id >= first_new) continue;
    if (Contains(id, position, path_.thread(position))) Reach(id, path_.thread(position), size);
  }
}

// Orders of `size` events that have the last event of the path before their end.
void OrderCosts::AddFromNewSubsets(uint32_t size, SubsetId first_new) {
  for (SubsetId id = last_of_size_[size - 1]; id != kNoSubset && id >= first_new && !too_large();
       id = links_[id]) {
    for (size_t t = 0; t < stride_; ++t) {
      const auto thread = static_cast<ThreadId>(t);
      const uint32_t next = path_.Find(thread, Counts(id)[t]);
      if (next != kNoPosition && Contains(id, next, thread)) Reach(id, thread, size);
    }
  }
}

// Does the subset contain all that happens before the event, which is the next one of thread `but`?
bool OrderCosts::Contains(SubsetId id, uint32_t position, ThreadId but) {
  const uint32_t* counts = Counts(id);
  for (size_t t = 0; t < stride_; ++t) {
    const uint32_t known = path_.ClockOf(position, static_cast<ThreadId>(t));
    if (counts[t] < (t == but ? known - 1 : known)) return false;
  }
  return true;
}

// The next event of thread `by` comes after the subset.
void OrderCosts::Reach(SubsetId from, ThreadId by, uint32_t size) {
  uint32_t least = kTooMuch;
  for (size_t t = 0; t < stride_; ++t) {
    if (Costs(from)[t] == kTooMuch) continue;
    least = std::min<uint32_t>(least, Costs(from)[t] + (t != by ? Preemptible(from)[t] : 0u));
  }
  if (least > bound_) return;
  const SubsetId to = FindOrAdd(from, by, size);
  Costs(to)[by] = std::min(Costs(to)[by], static_cast<uint8_t>(least));
}

// The subset with one more event of thread `by` than `from`, among those of the size being added.
OrderCosts::SubsetId OrderCosts::FindOrAdd(SubsetId from, ThreadId by, uint32_t size) {
  wanted_.assign(stride_, 0);
  if (from != kNoSubset) std::copy_n(Counts(from), stride_, wanted_.begin());
  ++wanted_[by];
  if (2 * (indexed_ + 1) > index_.size()) GrowIndex();
  size_t slot = HashOf(wanted_) & (index_.size() - 1);
  for (; index_[slot] != kNoSubset; slot = (slot + 1) & (index_.size() - 1)) {
    if (std::equal(wanted_.begin(), wanted_.end(), Counts(index_[slot]))) return index_[slot];
  }
  const auto id = static_cast<SubsetId>(this->size());
  index_[slot] = id;
  ++indexed_;
  counts_.insert(counts_.end(), wanted_.begin(), wanted_.end());
  costs_.resize(costs_.size() + stride_, kTooMuch);
  preemptible_.resize(preemptible_.size() + stride_, 0);
  links_.push_back(last_of_size_[size]);
  sizes_.push_back(size);
  last_of_size_[size] = id;
  return id;
}

void OrderCosts::GrowIndex() {
  const std::vector<SubsetId> old = std::move(index_);
  index_.assign(std::max<size_t>(64, 2 * old.size()), kNoSubset);
  for (const SubsetId id : old) {
    if (id == kNoSubset) continue;
    size_t slot = HashOf({Counts(id), stride_}) & (index_.size() - 1);
    while (index_[slot] != kNoSubset) slot = (slot + 1) & (index_.size() - 1);
    index_[slot] = id;
  }
}

void OrderCosts::LookForPreemptions(SubsetId id, const sched::Trace& trace,
                                    std::span<const Standing> standings) {
  for (size_t t = 0; t < stride_; ++t) {
    if (Costs(id)[t] == kTooMuch) continue;
    Preemptible(id)[t] = CouldGoOn(id, static_cast<ThreadId>(t), trace, standings) ? 1 : 0;
  }
}

// Is the thread, which has run last, enabled after the subset, and did it not give way by itself? A
// waiter whose time-out is all that could run does not count: that can always come later.
bool OrderCosts::CouldGoOn(SubsetId id, ThreadId thread, const sched::Trace& trace,
                           std::span<const Standing> standings) {
  const uint32_t count = Counts(id)[thread];
  const uint32_t previous = path_.Find(thread, count - 1);
  if ((trace.events[previous].flags & sched::kVoluntary) != 0) return false;
  const uint32_t next = path_.Find(thread, count);
  std::span<const sched::CellRange> spin_cells;
  const sched::Operation* operation = nullptr;
  if (next != kNoPosition) {
    operation = &trace.events[next].operation;
    spin_cells = trace.SpinCellsOf(trace.events[next]);
  } else {
    if (thread >= standings.size() || !standings[thread].runnable) return false;
    operation = &standings[thread].pending;
    // The rules know what the events of the path do, not what was so at the start.
    const bool same_as_now =
        sizes_[id] == path_.size() || (operation->kind == sched::OperationKind::kSemaphoreWait &&
                                       !model_.EverChanged(operation->object));
    if (same_as_now) {
      return standings[thread].enabled && operation->kind != sched::OperationKind::kTimedWaiter;
    }
    spin_cells = standings[thread].spin_cells;
  }
  model_.BeginSubset({Counts(id), stride_});
  if (!model_.Exists(thread, previous)) return false;
  const uint32_t before = next != kNoPosition ? next : static_cast<uint32_t>(path_.size());
  const sched::Operation there = model_.OperationIn(*operation, thread, previous, before);
  return there.kind != sched::OperationKind::kTimedWaiter &&
         model_.Enabled(there, thread, previous, spin_cells, trace);
}

}  // namespace mc::dpor
