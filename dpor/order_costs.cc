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
  begins_.push_back(static_cast<SubsetId>(size()));
  MakeRoomForThread(path_.thread(position));
  FindPredecessors(position);
  // By size: what a subset costs is known when all smaller ones are.
  Level level;
  for (uint32_t size = 1; !too_large(); ++size) {
    if (level.empty() && size > 1) {
      if (predecessors_.empty()) break;
      size = sizes_[predecessors_.back()] + 1;
    }
    level = AddLevel(size, level);
    for (SubsetId id = level.begin; id < level.end; ++id) {
      LookForPreemptions(id, trace, standings);
    }
  }
}

void OrderCosts::CutBack(size_t length) {
  if (begins_.size() <= length) return;
  const SubsetId kept = begins_[length];
  for (size_t id = size(); id-- > kept;) {
    for (size_t t = 0; t < stride_; ++t) {
      last_with_[t][Counts(static_cast<SubsetId>(id))[t]] = links_[id * stride_ + t];
    }
  }
  sizes_.resize(kept);
  links_.resize(kept * stride_);
  counts_.resize(kept * stride_);
  costs_.resize(kept * stride_);
  preemptible_.resize(kept * stride_);
  begins_.resize(length);
}

// The subset of all events of the path is the largest with the last of them, and so the last.
OrderCosts::SubsetId OrderCosts::Whole() const {
  const bool has_it = size() > 0 && sizes_.back() == path_.size();
  return has_it ? static_cast<SubsetId>(size() - 1) : kNoSubset;
}

uint8_t OrderCosts::Least(ThreadId last) const {
  const SubsetId whole = Whole();
  return whole == kNoSubset || last >= stride_ ? kTooMuch : costs_[whole * stride_ + last];
}

bool OrderCosts::CanBePreempted(ThreadId thread) const {
  return preemptible_[Whole() * stride_ + thread] != 0;
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
  last_with_.assign(stride, {});
  links_.assign(size() * stride, kNoSubset);
  for (size_t id = 0; id < size(); ++id) Enlist(static_cast<SubsetId>(id));
}

// Enters the subset in the lists of those with as many events of a thread.
void OrderCosts::Enlist(SubsetId id) {
  for (size_t t = 0; t < stride_; ++t) {
    std::vector<SubsetId>& last_with = last_with_[t];
    const uint32_t count = Counts(id)[t];
    if (last_with.size() <= count) last_with.resize(count + 1, kNoSubset);
    links_[id * stride_ + t] = last_with[count];
    last_with[count] = id;
  }
}

// The subsets that have all that must come before the event, which is the last of the path.
void OrderCosts::FindPredecessors(uint32_t position) {
  predecessors_.clear();
  const ThreadId thread = path_.thread(position);
  const std::vector<SubsetId>& last_with = last_with_[thread];
  if (path_.index(position) >= last_with.size()) return;
  for (SubsetId id = last_with[path_.index(position)]; id != kNoSubset;
       id = links_[id * stride_ + thread]) {
    if (Contains(id, position, thread)) predecessors_.push_back(id);
  }
  std::ranges::sort(predecessors_, [&](SubsetId a, SubsetId b) { return sizes_[a] > sizes_[b]; });
}

// Adds the subsets of this size that have the last event of the path: orders that end with it, and
// those that go on after those of the level before.
OrderCosts::Level OrderCosts::AddLevel(uint32_t size, Level smaller) {
  const auto position = static_cast<uint32_t>(path_.size() - 1);
  const ThreadId by = path_.thread(position);
  const auto begin = static_cast<SubsetId>(this->size());
  if (indexed_ != 0) std::ranges::fill(index_, kNoSubset);
  indexed_ = 0;
  if (size == 1 && path_.last_predecessor(position) == kNoPosition) {  // nothing comes before it
    Costs(FindOrAdd(kNoSubset, by, size))[by] = 0;
  }
  for (; !predecessors_.empty() && sizes_[predecessors_.back()] + 1 == size;
       predecessors_.pop_back()) {
    Reach(predecessors_.back(), by, size);
  }
  for (SubsetId id = smaller.begin; id < smaller.end && !too_large(); ++id) {
    for (size_t t = 0; t < stride_; ++t) {
      const auto thread = static_cast<ThreadId>(t);
      const uint32_t next = path_.Find(thread, Counts(id)[t]);
      if (next != kNoPosition && Contains(id, next, thread)) Reach(id, thread, size);
    }
  }
  return {begin, static_cast<SubsetId>(this->size())};
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
  links_.resize(links_.size() + stride_, kNoSubset);
  sizes_.push_back(size);
  Enlist(id);
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
