// Happens-before between the steps of one execution, reduced to what has to be drawn.
#ifndef MC_CHECKER_PICTURE_ORDER_H_
#define MC_CHECKER_PICTURE_ORDER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "checker/picture.h"

namespace mc::checker {

// Step `to` depends on the earlier step `from` of another thread.
struct OrderArrow {
  size_t from = 0, to = 0;
  uint64_t cell = 0;  // a cell they conflict on
};

// The arrows that, with the order of steps in each thread, generate happens-before: none of them
// follows from the others. In the order of `to`, then from the latest `from` to the earliest.
std::vector<OrderArrow> ReducedHappensBefore(const std::vector<PictureStep>& steps);

// "mutex 0x5555...", "0x5555..." for memory.
std::string CellText(uint64_t cell);

}  // namespace mc::checker

#endif  // MC_CHECKER_PICTURE_ORDER_H_
