// Mistakes of the search made on purpose, for the tests only (spec optimal-dpor 4). The product
// instantiates its searches without them and pays nothing.
#ifndef MC_DPOR_MUTATION_H_
#define MC_DPOR_MUTATION_H_

#include <cstdint>

namespace mc::dpor {

enum class Mutation : uint8_t {
  kNone,
  kLockPair,         // a blocking operation races only with what it touches
  kEndBlocked,       // threads blocked at the end are not analysed
  kCoEnabled,        // reversal without checking that the thread can run there
  kCoDisabler,       // write lock: the other readers that hold in D are not dropped
  kPendingCertain,   // a wait pair is kept although the pending footprint is another one there
  kNotDepTruncated,  // D(i) ends at j
  kOnlyNew,          // only pairs with a new event are reversed
  kStaleFull,        // q' keeps the whole old footprint of e_j
  kNoWiInsert,       // handing down: "at none" is taken for no
  kNoWiSleep,        // insertion: "at none" is taken for no
  kIgnoreLast,       // insertion does not look at the last event of v
  kNoSleepTest,      // insertion without the test
  kSleepByThread,    // sleep entries are compared by thread, not by choices
  kStaleSame,        // *same* also refuses what was in the list once
  kKeepSame,         // a sleeper is not woken by its own thread running with other choices
  kInnerWake,        // sleepers are compared by their first access only
  kNoChoice,         // no alternatives for choices
  kChoiceAtNode,     // an alternative is inserted without D(i) before it
  kChoiceUntested,   // an alternative is appended without any test
  kOthersFirst,      // requests that do not lead are followed before those that do
  kLeadInexact,      // a request leads though its first event is not known exactly
  kAbsorbInexact,    // and absorbs though its last one is not
};
inline constexpr int kMutations = static_cast<int>(Mutation::kAbsorbInexact) + 1;

}  // namespace mc::dpor

#endif  // MC_DPOR_MUTATION_H_
