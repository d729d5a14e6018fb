// What the C++ library's classic locale computes when somebody first asks for it.
#ifndef MC_SCHED_INTERPOSE_STANDARD_LOCALE_H_
#define MC_SCHED_INTERPOSE_STANDARD_LOCALE_H_

namespace mc::sched {

// The classic locale and its tables of characters are made by the thread that first formats or
// reads something: what a thread does would depend on which came first, and nothing would show it.
// So they are made now, before the snapshot, as if main had begun with it.
void CompleteClassicLocale();

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_STANDARD_LOCALE_H_
