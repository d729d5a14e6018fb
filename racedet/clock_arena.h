// ClockArena: immutable vector clocks that share their unchanged parts.
//
// Time here is the position of a micro-access in the trace, one number for all threads. A clock
// maps every thread u to a *bound*: it knows the accesses of u at positions below it. That makes an
// access's own time its position, needs no counters to increment, and lets one comparison decide
// both happens-before and must-happen-before.
//
// A clock is a list of chunks of 16 bounds. Join returns an existing clock or chunk where nothing
// changes, so with thousands of threads an acquire costs the chunks that differ, not the width.
// Clocks never change once made and are allocated like a stack: cutting the arena back to an
// earlier size() forgets exactly the clocks made since.
#ifndef MC_RACEDET_CLOCK_ARENA_H_
#define MC_RACEDET_CLOCK_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::racedet {

class ClockArena {
 public:
  using Ref = uint32_t;
  static constexpr Ref kEmpty = 0;  // knows nothing of any thread

  // A releasing thread's knowledge: the clock `ref`, and of `thread` itself what is below `bound`.
  // Kept as this pair so that a release, unlike an acquire, never makes a clock.
  struct Publication {
    Ref ref = kEmpty;
    uint32_t thread = 0;
    uint32_t bound = 0;

    bool empty() const { return ref == kEmpty && bound == 0; }
  };

  ClockArena();

  // Below which position `clock` knows the accesses of `thread`.
  uint32_t Get(Ref clock, uint32_t thread) const {
    const uint32_t chunk = thread >> kChunkShift;
    if (chunk >= words_[clock]) return 0;
    return words_[words_[clock + 1 + chunk] + (thread & kChunkMask)];
  }

  uint32_t Get(const Publication& publication, uint32_t thread) const {
    const uint32_t bound = Get(publication.ref, thread);
    return thread == publication.thread && publication.bound > bound ? publication.bound : bound;
  }

  // The least clock that knows what `clock` and `publication` know.
  Ref Join(Ref clock, const Publication& publication);

  size_t size() const { return size_; }
  void CutBack(size_t size);

 private:
  static constexpr uint32_t kChunkShift = 4;
  static constexpr uint32_t kChunkSize = 1u << kChunkShift;
  static constexpr uint32_t kChunkMask = kChunkSize - 1;

  // A chunk is named by the index of its first word. Chunk 0 is all zeros.
  uint32_t ChunkOf(Ref clock, uint32_t i) const {
    return i < words_[clock] ? words_[clock + 1 + i] : 0;
  }
  bool Covers(uint32_t chunk, uint32_t other) const;
  bool Knows(Ref clock, const Publication& publication) const;
  uint32_t JoinChunks(uint32_t a, uint32_t b);
  uint32_t Allocate(uint32_t words);
  Ref JoinSmall(Ref clock, const Publication& publication);

  // A clock: the number of its chunks, then the chunks. Word 0 begins both the empty clock and the
  // zero chunk. Those in use are the first size_.
  std::vector<uint32_t> words_;
  size_t size_ = 0;
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_CLOCK_ARENA_H_
