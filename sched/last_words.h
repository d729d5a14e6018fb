// LastWords: what a process that runs executions leaves behind when it dies in the middle of one.
//
// It lies in memory that another process reads (checker/protocol.h), which tells with it how the
// process ended: whether the program had failed before, as under a debugger that is then left, and
// whether the program sent itself the signal that ended it. A signal that it did not send itself
// came from outside and says nothing about the program.
#ifndef MC_SCHED_LAST_WORDS_H_
#define MC_SCHED_LAST_WORDS_H_

#include <atomic>
#include <cstdint>

namespace mc::sched {

struct LastWords {
  // The first bug of the execution that runs: its kind plus 1 (0: none so far), and where.
  std::atomic<uint32_t> failure;
  std::atomic<uint32_t> failure_thread;
  std::atomic<uint64_t> failure_pc;
  // The last signal that the program sent to its own process, 0 for none.
  std::atomic<uint32_t> own_signal;
  // A signal of a fault that somebody else sent (kill -SEGV), 0 for none.
  std::atomic<uint32_t> foreign_signal;
};

}  // namespace mc::sched

#endif  // MC_SCHED_LAST_WORDS_H_
