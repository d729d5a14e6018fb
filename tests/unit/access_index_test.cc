#include "sched/access_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace mc::sched {
namespace {

MicroAccess RandomAccess(std::mt19937& random, uint32_t places) {
  MicroAccess access;
  access.begin = 0x1000 + random() % places * 8;
  access.pc = 0x400 + random() % 3;
  access.size = 1 + random() % 2 * 7;
  access.mode = random() % 2 == 0 ? kRead : kWrite;
  access.flags = random() % 4 == 0 ? kAtomic : 0;
  return access;
}

bool AreSame(const MicroAccess& a, const MicroAccess& b) {
  return a.begin == b.begin && a.pc == b.pc && a.size == b.size && a.mode == b.mode &&
         a.flags == b.flags;
}

// Blocks of none, few and many accesses, one after the other: what is seen are just the accesses of
// the same block that were added.
TEST(AccessIndex, SeesWhatTheBlockHasMade) {
  std::mt19937 random(1);
  AccessIndex index;
  index.Prepare();
  std::vector<MicroAccess> list;
  for (int block = 0; block < 3000; ++block) {
    index.BeginBlock();
    const size_t first = list.size();
    const uint32_t count = random() % (block % 100 == 0 ? 2000 : 12);
    const uint32_t places = 1 + random() % 64;
    for (uint32_t k = 0; k < count; ++k) {
      const MicroAccess access = RandomAccess(random, places);
      const bool made =
          std::any_of(list.begin() + static_cast<ptrdiff_t>(first), list.end(),
                      [&](const MicroAccess& earlier) { return AreSame(earlier, access); });
      const auto position = static_cast<uint32_t>(list.size());
      ASSERT_EQ(index.SeenOrAdd(access, position, list.data()), made)
          << "block " << block << ", access " << k;
      if (!made) list.push_back(access);
    }
  }
}

}  // namespace
}  // namespace mc::sched
