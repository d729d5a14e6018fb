// OpenHash: an open-addressing map from small keys to 32-bit numbers, without removal.
//
// The detectors' lookups are a large part of their cost, and all are of this one shape; entries
// stay across executions (addresses repeat), so there is nothing to remove and nothing to allocate
// once a search has warmed up.
#ifndef MC_RACEDET_OPEN_HASH_H_
#define MC_RACEDET_OPEN_HASH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::racedet {

inline uint64_t MixBits(uint64_t x) {
  x *= 0x9e3779b97f4a7c15u;
  return x ^ (x >> 32);
}

struct MixHash {
  uint64_t operator()(uint64_t key) const { return MixBits(key); }
};

template <typename Key, typename Hash = MixHash>
class OpenHash {
 public:
  static constexpr uint32_t kAbsent = 0xffffffff;

  OpenHash() { Clear(); }

  // The value of `key`, or kAbsent.
  uint32_t Find(const Key& key) const {
    for (size_t i = Hash()(key) & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.value == kAbsent || slot.key == key) return slot.value;
    }
  }

  // Gives `key`, which must be absent, a value other than kAbsent.
  void Insert(const Key& key, uint32_t value) {
    if (2 * ++size_ > slots_.size()) Grow();
    Place(key, value);
  }

  // Gives `key` the value, whether or not it has one.
  void Put(const Key& key, uint32_t value) {
    for (size_t i = Hash()(key) & mask_; slots_[i].value != kAbsent; i = (i + 1) & mask_) {
      if (slots_[i].key == key) {
        slots_[i].value = value;
        return;
      }
    }
    Insert(key, value);
  }

  size_t size() const { return size_; }

  void Clear() {
    slots_.assign(kInitialSlots, Slot{});
    mask_ = kInitialSlots - 1;
    size_ = 0;
  }

 private:
  static constexpr size_t kInitialSlots = 64;

  struct Slot {
    Key key{};
    uint32_t value = kAbsent;
  };

  void Place(const Key& key, uint32_t value) {
    size_t i = Hash()(key) & mask_;
    while (slots_[i].value != kAbsent) i = (i + 1) & mask_;
    slots_[i] = {key, value};
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.value != kAbsent) Place(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t size_ = 0;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_OPEN_HASH_H_
