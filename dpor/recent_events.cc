#include "dpor/recent_events.h"

namespace mc::dpor {

namespace {

bool IsUniversal(const sched::Event& event) { return sched::DependsOnAll(event.operation.kind); }

bool Fits(const RecentEvents::Variant& variant, const sched::Trace& trace,
          const sched::Event& event) {
  const Range* r = variant.accesses.data();
  const Range* const end = r + variant.accesses.size();
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    if (!IsLookedAt(a)) continue;
    if (r == end || r->begin != a.begin || r->size != a.size || r->modes != a.mode) return false;
    ++r;
  }
  if (r != end || variant.universal != IsUniversal(event)) return false;
  const auto choices = trace.ChoicesOf(event);
  if (choices.size() != variant.choices.size()) return false;
  for (size_t c = 0; c < choices.size(); ++c) {
    if (choices[c].value != variant.choices[c]) return false;
  }
  return true;
}

}  // namespace

RecentEvents::Variant* RecentEvents::Find(const sched::Trace& trace, const sched::Event& event) {
  if (event.thread >= entries_.size()) return nullptr;
  std::vector<Entry>& of_thread = entries_[event.thread];
  if (event.index >= of_thread.size()) return nullptr;
  for (Variant& variant : of_thread[event.index].variants) {
    if (Fits(variant, trace, event)) return &variant;
  }
  return nullptr;
}

void RecentEvents::Clear() {
  for (const std::vector<Entry>& of_thread : entries_) {
    for (const Entry& entry : of_thread) {
      for (const Variant& variant : entry.variants) pool_.Release(variant.id);
    }
  }
  entries_.clear();
  count_ = 0;
}

RecentEvents::Variant* RecentEvents::Enter(const sched::Trace& trace, const sched::Event& event,
                                           EventId id) {
  if (event.thread >= entries_.size()) entries_.resize(event.thread + 1u);
  std::vector<Entry>& of_thread = entries_[event.thread];
  if (event.index >= of_thread.size()) {
    const uint32_t more = event.index + 1 - static_cast<uint32_t>(of_thread.size());
    if (count_ + more > kMaxEvents) return nullptr;
    count_ += more;
    of_thread.resize(event.index + 1);
  }
  Entry& entry = of_thread[event.index];
  if (entry.variants.size() < kMaxVariants) {
    entry.oldest = static_cast<uint32_t>(entry.variants.size());
    entry.variants.emplace_back();
  }
  Variant& variant = entry.variants[entry.oldest];
  entry.oldest = (entry.oldest + 1) % kMaxVariants;
  pool_.AddReference(id);
  if (variant.id != kNoEvent) pool_.Release(variant.id);
  variant.id = id;
  variant.universal = IsUniversal(event);
  variant.cells_version = 0;
  variant.accesses.clear();
  for (const sched::MicroAccess& a : trace.AccessesOf(event)) {
    if (IsLookedAt(a)) variant.accesses.push_back({a.begin, a.size, a.mode});
  }
  variant.choices.clear();
  for (const sched::Choice& c : trace.ChoicesOf(event)) variant.choices.push_back(c.value);
  return &variant;
}

}  // namespace mc::dpor
