// SharedLines: which memory more than one thread has touched, in any execution seen so far.
//
// Most accesses of a program are to memory that only one thread ever touches (its stack, its own
// objects), or that one thread fills and hands to a thread that it then creates. No such access is
// one of a pair that nothing orders, so a detector need not keep it, until another thread comes
// along. Addresses and the names of threads repeat from execution to execution, so this is soon
// known once and for all.
//
// Memory is divided into lines of 32 bytes. A line is
//   owned    touched by one thread alone, its owner;
//   handed   touched by its owner, always before it created a certain thread, and by that thread,
//            always in its first block. (Later blocks are not ordered after the creation by
//            must-happen-before, MustHappenBefore.)
//   shared   neither, for good.
// An access to more than kMaxLines lines makes all of them shared, and leaves no trace in them:
// megabytes cost what a word costs.
//
// When a line becomes shared, what a detector left out before is missing: it has to look at the
// whole trace again.
#ifndef MC_RACEDET_SHARED_LINES_H_
#define MC_RACEDET_SHARED_LINES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "racedet/open_hash.h"
#include "sched/trace.h"

namespace mc::racedet {

class SharedLines {
 public:
  enum class Answer : uint8_t {
    kOneThread,     // all the access touches is owned, or handed: no pair has it
    kShared,        // some of it is shared
    kBecameShared,  // and became so now
  };

  SharedLines() { Clear(); }

  // Enters the accesses of an execution, in their order; those that it has in common with the one
  // before may be left out or not.
  void BeginEvent(const sched::Trace& trace, const sched::Event& event);
  // Access number `position` of the trace, one of the event to memory, of some size.
  Answer Touch(const sched::Trace& trace, const sched::Event& event, uint32_t position) {
    const sched::MicroAccess& access = trace.accesses[position];
    const uint64_t first = access.begin >> kLineShift;
    const uint64_t last = (access.end() - 1) >> kLineShift;
    if (first == last) return TouchLine(first, trace, event, position);
    return TouchLines(first, last, trace, event, position);
  }
  // Whether the event is the first of its thread, from its start on.
  bool after_creation() const { return after_creation_; }
  // At access number `position` the event creates `child`.
  void Create(const sched::Event& event, uint32_t position, sched::ThreadId child);

  // How many lines are remembered.
  size_t size() const { return size_; }
  // Forgets everything.
  void Clear();

 private:
  static constexpr int kLineShift = 5;
  static constexpr uint64_t kMaxLines = 16;
  static constexpr size_t kMaxLargeRanges = 64;  // then they become one that spans them all
  static constexpr size_t kInitialSlots = 256;
  static constexpr sched::ThreadId kNobody = sched::kNoThread;

  struct Slot {
    uint64_t line = 0;
    sched::ThreadId owner = kNobody;
    sched::ThreadId heir = kNobody;  // whom it was handed to
    bool used = false;
    bool shared = false;
    uint32_t owner_last = 0;  // position of the owner's last access
    uint32_t version = 0;     // of the large ranges, when the line was last held against them
  };
  struct LargeRange {
    uint64_t first = 0, last = 0;  // lines
  };
  struct Creation {
    uint32_t position = 0;
    sched::ThreadId creator = kNobody;
  };

  // The line's slot, or the free one that it would take.
  Slot& At(uint64_t line) {
    for (size_t i = MixBits(line) & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.line == line || !slot.used) return slot;
    }
  }
  Answer TouchLine(uint64_t line, const sched::Trace& trace, const sched::Event& event,
                   uint32_t position) {
    Slot& slot = At(line);
    if (slot.shared) return Answer::kShared;
    if (slot.version == version_ && slot.used) {
      if (slot.owner == event.thread && slot.heir == kNobody) {
        slot.owner_last = position;
        return Answer::kOneThread;
      }
      if (slot.heir == event.thread && after_creation_) return Answer::kOneThread;
    }
    return TouchAnew(slot, line, trace, event, position);
  }
  Answer TouchAnew(Slot& slot, uint64_t line, const sched::Trace& trace, const sched::Event& event,
                   uint32_t position);
  Answer TouchLines(uint64_t first, uint64_t last, const sched::Trace& trace,
                    const sched::Event& event, uint32_t position);
  Answer TouchLarge(uint64_t first, uint64_t last);
  // Whether `thread` exists before access number `position` of the trace.
  bool Exists(const sched::Trace& trace, sched::ThreadId thread, uint32_t position) const;
  bool InLargeRange(uint64_t line) const;
  void Grow();

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t size_ = 0;
  std::vector<LargeRange> large_;    // at most kMaxLargeRanges
  uint32_t version_ = 0;             // of large_
  std::vector<Creation> creations_;  // by thread: the last one entered
  bool after_creation_ = false;      // the event is the first of its thread, from its start on
};

}  // namespace mc::racedet

#endif  // MC_RACEDET_SHARED_LINES_H_
