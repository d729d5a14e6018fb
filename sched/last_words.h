// LastWords: what a process that runs executions leaves behind when it dies in the middle of one.
//
// It lies in memory that another process reads (checker/protocol.h), which tells with it how the
// process ended: whether the program had failed before, as under a debugger that is then left, and
// whether the program sent itself the signal that ended it. A signal that it did not send itself
// came from outside and says nothing about the program. And for one that took too much memory,
// where it asked for it.
#ifndef MC_SCHED_LAST_WORDS_H_
#define MC_SCHED_LAST_WORDS_H_

#include <atomic>
#include <cstdint>

namespace mc::sched {

// A block of memory that the program asked for.
struct LargestBlock {
  uint64_t size = 0;
  uint64_t pc = 0;
  uint32_t thread = 0;
};

// With this status ends a process that says it is out of memory.
inline constexpr int kOutOfMemoryStatus = 114;

struct LastWords {
  // The first bug of the execution that runs: its kind plus 1 (0: none so far), and where.
  std::atomic<uint32_t> failure;
  std::atomic<uint32_t> failure_thread;
  std::atomic<uint64_t> failure_pc;
  // The last signal that the program sent to its own process, 0 for none.
  std::atomic<uint32_t> own_signal;
  // A signal of a fault that somebody else sent (kill -SEGV), 0 for none.
  std::atomic<uint32_t> foreign_signal;
  // The block whose allocation was one too many, if out_of_memory; else the largest one of the
  // execution that runs.
  std::atomic<uint32_t> out_of_memory;
  std::atomic<uint32_t> block_thread;
  std::atomic<uint64_t> block_size;
  std::atomic<uint64_t> block_pc;
  std::atomic<uint32_t> frames;  // of its stack, if out_of_memory
  uint64_t stack[32];            // return addresses, innermost first

  void Tell(const LargestBlock& block) {
    block_thread.store(block.thread, std::memory_order_relaxed);
    block_size.store(block.size, std::memory_order_relaxed);
    block_pc.store(block.pc, std::memory_order_relaxed);
  }
};

}  // namespace mc::sched

#endif  // MC_SCHED_LAST_WORDS_H_
