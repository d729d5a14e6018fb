// MemoryStore: a SpillStore that keeps what it gets in memory, with a limit.
#ifndef MC_TESTS_TOY_MEMORY_STORE_H_
#define MC_TESTS_TOY_MEMORY_STORE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <span>

#include "dpor/spill.h"

namespace mc::toy {

class MemoryStore final : public dpor::SpillStore {
 public:
  // At the end all places have been freed.
  ~MemoryStore() override { EXPECT_EQ(kept_.size(), 0u) << "places that nobody freed"; }

  Place Write(std::span<const uint32_t> words) override {
    if (words_ + words.size() > room) return kNoPlace;
    words_ += words.size();
    peak = words_ > peak ? words_ : peak;
    ++writes;
    kept_[next_].assign(words.begin(), words.end());
    return next_++;
  }
  bool Read(Place place, size_t count, dpor::Words* words) override {
    const auto found = kept_.find(place);
    if (found == kept_.end() || found->second.size() != count || is_broken) return false;
    *words = found->second;
    return true;
  }
  void Free(Place place, size_t count) override {
    const auto found = kept_.find(place);
    ASSERT_NE(found, kept_.end()) << "freed twice";
    ASSERT_EQ(found->second.size(), count);
    words_ -= count;
    kept_.erase(found);
  }

  uint64_t room = ~uint64_t{0};  // words
  bool is_broken = false;        // nothing can be read
  uint64_t writes = 0;
  uint64_t peak = 0;  // words

 private:
  std::map<Place, dpor::Words> kept_;
  Place next_ = 0;
  uint64_t words_ = 0;
};

}  // namespace mc::toy

#endif  // MC_TESTS_TOY_MEMORY_STORE_H_
