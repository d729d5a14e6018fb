// Checkpoint: a running execution as it stood between two events (spec optimal-dpor 3.4).
//
// A search comes back to a prefix of the last execution again and again, mostly to a long one. From
// a checkpoint inside that prefix only the rest of it has to be executed again. A checkpoint holds
// all that the rest of an execution can change: what belongs to it of the scheduler and of each
// thread, the stacks and thread-local storage of the threads that run, the heap, the pages of
// globals written so far, the exit handlers. It is made by the engine while all threads stand in
// the scheduler.
//
// It is not made where something else belongs to the execution as well: once there was a system
// call (system_call_watch.h) or a report; nor if it takes too much memory. Nothing but time depends
// on which checkpoints exist.
#ifndef MC_SCHED_CHECKPOINT_H_
#define MC_SCHED_CHECKPOINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/exit_handlers.h"
#include "sched/heap_checkpoint.h"
#include "sched/last_words.h"
#include "sched/memory_copy.h"
#include "sched/thread.h"

namespace mc::sched {

// What of the scheduler itself belongs to one execution, and is saved in a checkpoint.
struct SchedulerState {
  bool ending_ = false;
  bool handlers_started_ = false;
  bool main_returned_ = false;
  ThreadId waits_with_handlers_ = kNoThread;  // has ended the program; exit handlers come when the
                                              // others are done
  bool process_exited_ = false;
  bool any_failure_ = false;
  bool any_assumption_failed_ = false;
  bool deadlock_reported_ = false;
  ThreadId last_thread_ = kNoThread;
  uint32_t thread_limit_ = 0;  // ids of threads existing in this execution are below
  uint32_t mirror_size_ = 0;
  size_t position_ = 0;  // index of the running event in the trace
  size_t next_position_ = 0;
  size_t finished_events_ = 0;  // events of this execution that are over
  uint64_t zone_ = 0;           // by which the time zone differs from that at the start
  // Forced rounds (loop_bound.h) since anything new happened, and what that was looked for in.
  uint64_t fruitless_rounds_ = 0;
  size_t forced_until_ = 0;
  LargestBlock largest_block_;     // that was asked for
  uint64_t next_memory_look_ = 0;  // at how many bytes in live blocks (memory_limit.h)
};

struct Checkpoint {
  size_t position = 0;  // how many events were over
  SchedulerState scheduler;
  int exit_status = 0;
  bool barrier_overcrowded = false;
  bool needs_full_footprints = false;

  struct SavedThread {
    // Of one that had ended and left nothing in `lists`, only the ThreadStanding.
    bool had_ended() const { return state.status == ThreadStatus::kFinished && lists_are_empty; }

    ThreadState state;
    ThreadLists lists;
    bool lists_are_empty = true;
    bool spin_is_idle = true;
    SpinTracker::Counters spin;  // if so,
    SpinMemory spin_memory;      // or else
    std::vector<StackView::MarkedByte> stack;
  };
  std::vector<SavedThread> threads;  // by id; only the first scheduler.thread_limit_ count
  MemoryCopy memory;                 // stacks, thread-local storage, pages of globals
  size_t page_count = 0;             // of the pages of globals (Snapshot)
  HeapCheckpoint heap;
  AddedExitHandlers exit_handlers;

  size_t bytes() const { return memory.size() + heap.memory.size(); }
};

// Which checkpoints are kept, and when to make one. Positions grow from one to the next.
//
// One is made when as many events have been executed again, from the last checkpoint or from the
// beginning, as making it is worth; and it is put where all the executions that paid for it would
// have made use of it. So however a search goes, checkpoints cost at most as much as they could
// have saved.
class CheckpointStack {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 20;  // of one checkpoint
  static constexpr size_t kNever = ~size_t{0};

  // An execution begins that has its first `kept` events from the one before: forgets what belongs
  // to others, and returns the deepest checkpoint that is left, or nullptr.
  const Checkpoint* Begin(size_t kept);
  // The position at which one is to be made in this execution, or kNever.
  size_t due() const { return due_; }
  // A checkpoint to be filled in at due(). Done(false) if it could not be.
  Checkpoint& Make() { return made_[count_]; }
  void Done(bool complete);

  // Something was changed that checkpoints do not know of.
  void Clear() { count_ = 0; }

 private:
  static constexpr size_t kMaxCount = 8;
  static constexpr size_t kBaseCost = 4;          // of a checkpoint, in events executed again,
  static constexpr size_t kBytesPerEvent = 4096;  // and one more for as many bytes
  static constexpr size_t kMaxCost = size_t{1} << 24;

  Checkpoint made_[kMaxCount + 1];
  size_t count_ = 0;
  size_t due_ = kNever;
  size_t repeated_ = 0;       // events executed again since the last decision
  size_t shortest_ = kNever;  // prefix of those executions
  size_t cost_ = kBaseCost;
};

}  // namespace mc::sched

#endif  // MC_SCHED_CHECKPOINT_H_
