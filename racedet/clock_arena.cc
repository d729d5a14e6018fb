#include "racedet/clock_arena.h"

#include <algorithm>
#include <cstdlib>

namespace mc::racedet {

void ClockArena::CutBack(size_t size) { words_.resize(std::max<size_t>(size, kChunkSize)); }

uint32_t ClockArena::Allocate(uint32_t words) {
  const size_t begin = words_.size();
  if (begin + words > 0xffffffffu) std::abort();  // 16 GB of clocks in one execution
  words_.resize(begin + words);
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

ClockArena::Ref ClockArena::Join(Ref clock, const Publication& publication) {
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
