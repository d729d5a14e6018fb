#include "racedet/settled_accesses.h"

#include <bit>
#include <utility>

#include "racedet/access_history.h"
#include "racedet/data_race.h"
#include "racedet/held_locks.h"

namespace mc::racedet {

using sched::MicroAccess;
using sched::ThreadId;

namespace {

constexpr ThreadId kMaxThreadNumber = 63;

uint64_t BitOf(ThreadId thread) { return uint64_t{1} << thread; }

}  // namespace

void SettledAccesses::BeginEvent(const sched::Event& event, bool after_creation) {
  thread_ = event.thread;
  after_creation_ = after_creation;
  if (thread_ > kMaxThreadNumber) gave_up_ = true;
  if (thread_ >= joined_.size()) {
    joined_.resize(thread_ + 1u);
    created_.resize(thread_ + 1u);
    locksets_.resize(thread_ + 1u);
  }
  marks_.push_back({thread_, locksets_[thread_], existing_, joined_[thread_]});
}

void SettledAccesses::Create(ThreadId child) {
  if (child > kMaxThreadNumber) {
    gave_up_ = true;
    return;
  }
  existing_ |= BitOf(child);
  created_[thread_] |= BitOf(child);
}

void SettledAccesses::Join(ThreadId joined) {
  if (joined <= kMaxThreadNumber) joined_[thread_] |= BitOf(joined);
}

void SettledAccesses::ChangeLocks(const MicroAccess& access) {
  if (!limited_) return;
  ForEachLockChange(access, [this](sched::Cell lock, LockChange change) {
    locksets_[thread_] = table_.locksets().Apply(locksets_[thread_], lock, change);
  });
}

void SettledAccesses::CutBack(size_t events) {
  while (marks_.size() > events) {
    const Mark& mark = marks_.back();
    existing_ = mark.existing;
    joined_[mark.thread] = mark.joined;
    locksets_[mark.thread] = mark.lockset;
    marks_.pop_back();
  }
}

uint32_t SettledAccesses::ClassOf(const MicroAccess& access) {
  const uint16_t flags = access.flags & AccessClass::kKindFlags;
  const uint64_t alone = existing_ == BitOf(thread_) ? 1 : 0;
  const Key key{access.pc, access.begin,
                uint64_t{access.size} << 32 | alone << 24 | uint64_t{flags} << 8 | access.mode,
                locksets_[thread_]};
  const uint32_t known = index_.Find(key);
  return known != index_.kAbsent ? known : AddClass(key, access);
}

uint32_t SettledAccesses::AddClass(const Key& key, const MicroAccess& access) {
  const auto added = static_cast<uint32_t>(classes_.size());
  Class c;
  c.begin = access.begin;
  c.end = access.end();
  c.site = table_.SiteOf(access.pc);
  c.lockset = key.lockset;
  c.flags = access.flags & AccessClass::kKindFlags;
  c.mode = access.mode;
  for (uint32_t i = 0; i < added; ++i) {
    Class& other = classes_[i];
    if (other.begin >= c.end || c.begin >= other.end) continue;
    if (!sched::ModesConflict(c.mode, other.mode)) continue;
    c.partners.push_back(i);
    other.partners.push_back(added);
  }
  if (sched::ModesConflict(c.mode, c.mode)) c.partners.push_back(added);
  classes_.push_back(std::move(c));
  index_.Insert(key, added);
  return added;
}

bool SettledAccesses::Enter(const MicroAccess& access) {
  if (gave_up_) return false;
  if (classes_.size() == kMaxClasses) {
    gave_up_ = true;
    return false;
  }
  const uint32_t index = ClassOf(access);
  Class& c = classes_[index];
  const uint64_t joined = joined_[thread_];
  const bool as_ever = (c.threads & BitOf(thread_)) != 0 && (existing_ & ~c.existing) == 0 &&
                       (c.joined & ~joined) == 0 && (after_creation_ || !c.always_after_creation);
  if (!as_ever) {
    c.threads |= BitOf(thread_);
    c.existing |= existing_;
    c.joined &= joined;
    c.always_after_creation &= after_creation_;
    Unsettle(index);
  }
  if (c.settled) return true;
  if (c.judged_at == table_.version()) return false;
  c.judged_at = table_.version();
  c.settled = Judge(c);
  return c.settled;
}

void SettledAccesses::Unsettle(uint32_t index) {
  auto unsettle = [](Class& c) {
    c.settled = false;
    c.judged_at = ~uint64_t{0};
  };
  unsettle(classes_[index]);
  for (const uint32_t partner : classes_[index].partners) unsettle(classes_[partner]);
}

bool SettledAccesses::Judge(const Class& c) const {
  for (const uint32_t partner : c.partners) {
    if (!PairIsSettled(c, classes_[partner])) return false;
  }
  return true;
}

bool SettledAccesses::PairIsSettled(const Class& a, const Class& b) const {
  if (std::has_single_bit(a.threads | b.threads)) return true;
  if (table_.locksets().CommonProtection(a.lockset, b.lockset) == Protection::kLocks) return true;
  const uint32_t known = table_.KnownFacts(a.site, b.site);
  constexpr uint32_t kOrders = kLowerFirst | kHigherFirst;
  const uint32_t kinds =
      CandidateTable::KindFacts(table_.PcOf(a.site), AccessKindOf(a.flags, a.mode),
                                table_.PcOf(b.site), AccessKindOf(b.flags, b.mode));
  const uint32_t all = kOrders | kinds | kUnordered | (Races(a.flags, b.flags) ? kDataRace : 0);
  if ((known & all) == all) return true;
  for (const auto& [first, second] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    bool adds_order = false;
    if (!OrderedByThreads(*first, *second, &adds_order)) continue;
    const uint32_t adds = OrderFacts(*first, *second) | kinds;
    return !adds_order || (known & adds) == adds;
  }
  return false;
}

bool SettledAccesses::OrderedByThreads(const Class& first, const Class& second,
                                       bool* adds_order) const {
  // One thread makes the one, before it creates those that make the other.
  if (std::has_single_bit(first.threads)) {
    const auto creator = static_cast<size_t>(std::countr_zero(first.threads));
    const uint64_t others = second.threads & ~first.threads;
    if ((others & first.existing) == 0 && (others & ~created_[creator]) == 0) {
      *adds_order = limited_ && !second.always_after_creation;
      return true;
    }
  }
  // One thread makes the other, after it joined those that make the one.
  if (std::has_single_bit(second.threads) &&
      (first.threads & ~second.threads & ~second.joined) == 0) {
    *adds_order = limited_;
    return true;
  }
  return false;
}

uint32_t SettledAccesses::OrderFacts(const Class& first, const Class& second) const {
  const uint64_t a = table_.PcOf(first.site), b = table_.PcOf(second.site);
  if (a != b) return a < b ? kLowerFirst : kHigherFirst;
  // The threads' numbers tell. A thread before one with a higher number: before the highest.
  auto lowest = [](const Class& c) { return std::countr_zero(c.threads); };
  auto highest = [](const Class& c) { return 63 - std::countl_zero(c.threads); };
  return (lowest(first) < highest(second) ? kLowerFirst : 0) |
         (highest(first) > lowest(second) ? kHigherFirst : 0);
}

}  // namespace mc::racedet
