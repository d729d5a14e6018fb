#include "dpor/search.h"

namespace mc::dpor {

std::optional<Policy> PolicyFromName(std::string_view name) {
  if (name == "stay") return Policy::kStay;
  if (name == "lowest") return Policy::kLowest;
  if (name == "highest") return Policy::kHighest;
  if (name == "random") return Policy::kRandom;
  return std::nullopt;
}

uint64_t FreeRun::NextRandom() {  // splitmix64 (Steele, Lea, Flood, OOPSLA 2014)
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace mc::dpor
