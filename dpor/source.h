// SourceSearch: source-set dynamic partial-order reduction with sleep sets (Abdulla et al., JACM
// 2017, section 5): of the threads that could begin with the reversal of a race, one is enough.
#ifndef MC_DPOR_SOURCE_H_
#define MC_DPOR_SOURCE_H_

#include "dpor/backtracking.h"

namespace mc::dpor {

class SourceSearch final : public BacktrackingSearch {
 public:
  using BacktrackingSearch::BacktrackingSearch;

 private:
  void AddPoint(const Race& race) override { AddSource(race.first); }
};

}  // namespace mc::dpor

#endif  // MC_DPOR_SOURCE_H_
