// Weak initials: can a sequence be reordered or extended so that it begins with a given event?
// (spec optimal-dpor 2.3; Abdulla, Aronis, Jonsson, Sagonas, J. ACM 64(4), 2017, definition 4.2)
#ifndef MC_DPOR_WEAK_INITIAL_H_
#define MC_DPOR_WEAK_INITIAL_H_

#include <span>

#include "dpor/event_pool.h"
#include "dpor/request_store.h"

namespace mc::dpor {

// Answers of WeakInitial: no, or yes at no position, or yes at position k >= 0.
inline constexpr int kNotInitial = -2;
inline constexpr int kInitialAtNone = -1;

// `s` has run from the node where `v` is to be followed, and so is exact. `same_choices(s, own)`
// tells whether the event of s's thread in v makes the choices of s.
template <typename SameChoices>
int WeakInitial(const EventPool& pool, const EventRecord& s, std::span<const EventId> v,
                const SameChoices& same_choices) {
  size_t k = 0;
  while (k < v.size() && pool[v[k]].thread != s.thread) ++k;
  if (k < v.size()) {
    const EventRecord& own = pool[v[k]];
    if (!same_choices(s, own)) return kNotInitial;
    const EventRecord& f = own.exact ? own : s;
    for (size_t m = 0; m < k; ++m) {
      if (pool.Conflict(f, pool[v[m]])) return kNotInitial;
    }
    return static_cast<int>(k);
  }
  for (const EventId e : v) {
    if (pool.Conflict(s, pool[e])) return kNotInitial;
  }
  return kInitialAtNone;
}

// The same, with the request's summaries asked first.
template <typename SameChoices>
int WeakInitial(const EventPool& pool, const EventRecord& s, const Request& request,
                const SameChoices& same_choices) {
  const std::span<const EventId> v = request.events();
  const EventRecord& first = pool[v[0]];
  if (first.thread == s.thread) return same_choices(s, first) ? 0 : kNotInitial;
  const bool may_conflict = s.universal || request.summary.MayConflict(s.summary);
  if ((request.threads & ThreadBit(s.thread)) == 0 && !may_conflict) return kInitialAtNone;
  return WeakInitial(pool, s, v, same_choices);
}

inline int WeakInitial(const EventPool& pool, const EventRecord& s, const Request& request) {
  return WeakInitial(pool, s, request, &EventPool::SameChoices);
}

}  // namespace mc::dpor

#endif  // MC_DPOR_WEAK_INITIAL_H_
