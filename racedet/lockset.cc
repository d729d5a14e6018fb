#include "racedet/lockset.h"

#include <algorithm>

namespace mc::racedet {

using sched::Cell;

namespace {

uint64_t SignatureBit(Cell lock) { return uint64_t{1} << (MixBits(lock) >> 58); }

}  // namespace

LocksetTable::LocksetTable() { Intern({}); }

LocksetId LocksetTable::Intern(const std::vector<Hold>& holds) {
  uint64_t hash = holds.size();
  for (const Hold& hold : holds) {
    hash = MixBits(hash ^ hold.lock) + (uint64_t{hold.read_holds} << 1) + hold.write;
  }
  for (;; ++hash) {
    const uint32_t found = by_content_.Find(hash);
    if (found == by_content_.kAbsent) break;
    if (std::ranges::equal(HoldsOf(found), holds)) return found;
  }
  Set set;
  set.first = static_cast<uint32_t>(holds_.size());
  set.count = static_cast<uint32_t>(holds.size());
  for (const Hold& hold : holds) set.signature |= SignatureBit(hold.lock);
  const LocksetId id = static_cast<LocksetId>(sets_.size());
  holds_.insert(holds_.end(), holds.begin(), holds.end());
  sets_.push_back(set);
  by_content_.Insert(hash, id);
  return id;
}

LocksetId LocksetTable::SetOf(std::span<const Hold> holds) {
  return Intern(std::vector<Hold>(holds.begin(), holds.end()));
}

LocksetId LocksetTable::Apply(LocksetId set, Cell lock, LockChange change) {
  const Step step{lock, set, change};
  const uint32_t known = steps_.Find(step);
  if (known != steps_.kAbsent) return known;

  const auto before = HoldsOf(set);
  std::vector<Hold> holds(before.begin(), before.end());
  auto hold = std::ranges::lower_bound(holds, lock, {}, &Hold::lock);
  if (hold == holds.end() || hold->lock != lock) hold = holds.insert(hold, Hold{lock});
  switch (change) {
    case LockChange::kAcquire:
      hold->write = true;
      break;
    case LockChange::kRelease:
      hold->write = false;
      break;
    case LockChange::kReadAcquire:
      ++hold->read_holds;
      break;
    case LockChange::kReadRelease:
      if (hold->read_holds > 0) --hold->read_holds;
      break;
  }
  if (!hold->write && hold->read_holds == 0) holds.erase(hold);
  const LocksetId result = Intern(holds);
  steps_.Insert(step, result);
  return result;
}

Protection LocksetTable::Intersect(LocksetId a, LocksetId b) const {
  Protection protection = Protection::kNone;
  const auto first = HoldsOf(a);
  const auto second = HoldsOf(b);
  for (auto i = first.begin(), j = second.begin(); i != first.end() && j != second.end();) {
    if (i->lock != j->lock) {
      i->lock < j->lock ? ++i : ++j;
      continue;
    }
    if (i->write || j->write) {
      if (sched::KindOf(i->lock) != sched::CellKind::kSemaphore) return Protection::kLocks;
      if (!Contradicted(i->lock)) protection = Protection::kSemaphoresOnly;
    }
    ++i;
    ++j;
  }
  return protection;
}

bool LocksetTable::Contradicted(Cell semaphore) const {
  return std::ranges::binary_search(contradicted_, semaphore);
}

bool LocksetTable::Contradict(Cell semaphore) {
  const auto place = std::ranges::lower_bound(contradicted_, semaphore);
  if (place != contradicted_.end() && *place == semaphore) return false;
  contradicted_.insert(place, semaphore);
  return true;
}

}  // namespace mc::racedet
