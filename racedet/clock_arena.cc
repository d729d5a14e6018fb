#include "racedet/clock_arena.h"

#include <algorithm>
#include <cstdlib>

namespace mc::racedet {

ClockArena::ClockArena() : words_(1024, 0), size_(kChunkSize) {}

void ClockArena::CutBack(size_t size) { size_ = std::max<size_t>(size, kChunkSize); }

uint32_t ClockArena::Allocate(uint32_t words) {
  const size_t begin = size_;
  size_ += words;
  if (size_ > words_.size()) {
    if (size_ > 0xffffffffu) std::abort();  // 16 GB of clocks in one execution
    words_.resize(2 * size_);
  }
  return static_cast<uint32_t>(begin);
}

bool ClockArena::Covers(uint32_t chunk, uint32_t other) const {
  if (chunk == other || other == 0) return true;
  uint32_t exceeds = 0;
  for (uint32_t i = 0; i < kChunkSize; ++i) exceeds |= words_[other + i] > words_[chunk + i];
  return exceeds == 0;
}

bool ClockArena::Knows(Ref clock, const Publication& publication) const {
  if (Get(clock, publication.thread) < publication.bound) return false;
  if (clock == publication.ref) return true;
  const uint32_t chunks = words_[publication.ref];
  for (uint32_t i = 0; i < chunks; ++i) {
    if (!Covers(ChunkOf(clock, i), ChunkOf(publication.ref, i))) return false;
  }
  return true;
}

uint32_t ClockArena::JoinChunks(uint32_t a, uint32_t b) {
  if (Covers(a, b)) return a;
  if (Covers(b, a)) return b;
  const uint32_t result = Allocate(kChunkSize);
  for (uint32_t i = 0; i < kChunkSize; ++i) {
    words_[result + i] = std::max(words_[a + i], words_[b + i]);
  }
  return result;
}

// Of clocks of at most one chunk: by far the most.
ClockArena::Ref ClockArena::JoinSmall(Ref clock, const Publication& publication) {
  uint32_t joined[kChunkSize];
  const uint32_t* const a = &words_[ChunkOf(clock, 0)];
  const uint32_t* const b = &words_[ChunkOf(publication.ref, 0)];
  for (uint32_t i = 0; i < kChunkSize; ++i) {
    // Positions are below 2^31, and machines compare signed words faster.
    joined[i] = static_cast<int32_t>(a[i]) > static_cast<int32_t>(b[i]) ? a[i] : b[i];
  }
  uint32_t& own = joined[publication.thread];
  own = std::max(own, publication.bound);
  uint32_t changed = 0;
  for (uint32_t i = 0; i < kChunkSize; ++i) changed |= joined[i] ^ a[i];
  if (changed == 0) return clock;
  const Ref result = Allocate(2 + kChunkSize);
  words_[result] = 1;
  words_[result + 1] = result + 2;
  std::copy_n(joined, kChunkSize, words_.begin() + result + 2);
  return result;
}

ClockArena::Ref ClockArena::Join(Ref clock, const Publication& publication) {
  if (words_[clock] <= 1 && words_[publication.ref] <= 1 && publication.thread < kChunkSize) {
    return JoinSmall(clock, publication);
  }
  if (Knows(clock, publication)) return clock;
  const uint32_t own_chunk = publication.thread >> kChunkShift;
  const uint32_t chunks =
      std::max({words_[clock], words_[publication.ref], publication.bound ? own_chunk + 1 : 0});
  const Ref result = Allocate(chunks + 1);
  words_[result] = chunks;
  for (uint32_t i = 0; i < chunks; ++i) {
    // In two steps: JoinChunks may move words_.
    const uint32_t joined = JoinChunks(ChunkOf(clock, i), ChunkOf(publication.ref, i));
    words_[result + 1 + i] = joined;
  }
  if (Get(result, publication.thread) < publication.bound) {
    const uint32_t shared = words_[result + 1 + own_chunk];
    uint32_t own = shared;
    if (shared < result) {  // a chunk of an older clock: must not change
      own = Allocate(kChunkSize);
      std::copy_n(words_.begin() + shared, kChunkSize, words_.begin() + own);
      words_[result + 1 + own_chunk] = own;
    }
    words_[own + (publication.thread & kChunkMask)] = publication.bound;
  }
  return result;
}

}  // namespace mc::racedet
