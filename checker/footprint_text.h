// The search tells of two events by what they touched: "expected event 3 of thread 1 touching
// { W 0x2000000e0010+16 ... }, found event 3 of thread 1 touching { ... }". That is for developers.
// This makes words of it.
#ifndef MC_CHECKER_FOOTPRINT_TEXT_H_
#define MC_CHECKER_FOOTPRINT_TEXT_H_

#include <string>
#include <string_view>

#include "checker/symbolizer.h"

namespace mc::checker {

struct FootprintText {
  std::string words;  // for everyone; all of the text if it shows no footprints
  std::string raw;    // the text, if it does; else empty
};

FootprintText ExplainFootprints(std::string_view text, Symbolizer* symbolizer);

}  // namespace mc::checker

#endif  // MC_CHECKER_FOOTPRINT_TEXT_H_
