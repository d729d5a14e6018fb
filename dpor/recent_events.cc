#include "dpor/recent_events.h"

namespace mc::dpor {

namespace {

bool IsUniversal(const sched::Event& event) { return sched::DependsOnAll(event.operation.kind); }

}  // namespace

bool RecentEvents::Fits(const Variant& variant, const sched::Trace& trace,
                        const sched::Event& event) const {
  const Range* r = accesses_.data() + variant.accesses.first;
  const Range* const end = r + variant.accesses.count;
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    if (!IsLookedAt(a)) continue;
    if (r == end || r->begin != a.begin || r->size != a.size || r->modes != a.mode) return false;
    ++r;
  }
  if (r != end || variant.universal != IsUniversal(event)) return false;
  const auto choices = trace.ChoicesOf(event);
  if (choices.size() != variant.choices.count) return false;
  const uint32_t* value = choices_.data() + variant.choices.first;
  for (const sched::Choice& choice : choices) {
    if (choice.value != *value++) return false;
  }
  return true;
}

RecentEvents::Variant* RecentEvents::Find(const sched::Trace& trace, const sched::Event& event) {
  if (event.thread >= entries_.size()) return nullptr;
  const std::vector<Entry>& of_thread = entries_[event.thread];
  if (event.index >= of_thread.size()) return nullptr;
  for (uint32_t number = of_thread[event.index].first; number != 0;) {
    Variant& variant = variants_[number - 1];
    if (Fits(variant, trace, event)) return &variant;
    number = variant.next;
  }
  return nullptr;
}

void RecentEvents::Clear() {
  for (const Variant& variant : variants_) pool_.Release(variant.id);
  entries_.clear();
  count_ = 0;
  variants_.clear();
  accesses_.clear();
  choices_.clear();
  cells_.clear();
}

// One more of the event, or the one that is given up.
RecentEvents::Variant& RecentEvents::NewVariant(Entry& entry) {
  if (entry.count < kMaxVariants) {
    variants_.emplace_back();
    variants_.back().next = entry.first;
    entry.first = static_cast<uint32_t>(variants_.size());
    ++entry.count;
    return variants_.back();
  }
  // The last one entered is the first of the list.
  uint32_t number = entry.first;
  for (uint32_t k = entry.count - 1; k > entry.oldest; --k) number = variants_[number - 1].next;
  entry.oldest = (entry.oldest + 1) % kMaxVariants;
  Variant& variant = variants_[number - 1];
  pool_.Release(variant.id);
  return variant;
}

RecentEvents::Variant* RecentEvents::Enter(const sched::Trace& trace, const sched::Event& event,
                                           EventId id) {
  if (std::max({accesses_.size(), choices_.size(), cells_.size()}) > kMaxParts) Clear();
  if (event.thread >= entries_.size()) entries_.resize(event.thread + 1u);
  std::vector<Entry>& of_thread = entries_[event.thread];
  if (event.index >= of_thread.size()) {
    const uint32_t more = event.index + 1 - static_cast<uint32_t>(of_thread.size());
    if (count_ + more > kMaxEvents) return nullptr;
    count_ += more;
    of_thread.resize(event.index + 1);
  }
  Variant& variant = NewVariant(of_thread[event.index]);
  pool_.AddReference(id);
  variant.id = id;
  variant.universal = IsUniversal(event);
  variant.cells_version = 0;
  looked_at_.clear();
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    if (IsLookedAt(a)) looked_at_.push_back({a.begin, a.size, a.mode});
  }
  Store(looked_at_, &accesses_, &variant.accesses);
  values_.clear();
  for (const sched::Choice& c : trace.ChoicesOf(event)) values_.push_back(c.value);
  Store(values_, &choices_, &variant.choices);
  return &variant;
}

}  // namespace mc::dpor
