// OwnedMemory: which memory only one thread has touched, so that what it does there need not be
// recorded.
//
// Most accesses of a program are to memory that no other thread ever touches (its stack, its own
// objects), or that one thread fills and hands to a thread that it then creates. They are in no
// race and in no order that is not there anyway. Where the search does not look at them either
// (SiteFilter::omits_ordered), writing them down, and looking at them later, would be most of the
// cost of an execution. Addresses and the names of threads repeat from execution to execution, so
// whose memory is whose is soon known once and for all.
//
// Memory is divided into lines of 32 bytes. A line is
//   owned    touched by one thread alone, its owner;
//   handed   touched by its owner, always before it created a certain thread, and by that thread,
//            always in its first block;
//   shared   neither, for good.
// When a line becomes shared of which accesses were left out, the record of the execution lacks
// them: `lost()` is then true, and the execution has to be made again.
//
// Invariants
//  * Every access is entered, left out or not, but for those that are repeated from a kept prefix,
//    and for those to lines without room in the table, which are never owned.
//  * A large access makes what it touches shared: a range in a short list, not many lines.
#ifndef MC_SCHED_OWNED_MEMORY_H_
#define MC_SCHED_OWNED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/event.h"
#include "sched/thread.h"

namespace mc::sched {

class OwnedMemory {
 public:
  // `threads`, by id, are not owned; asked only of threads that have touched something.
  explicit OwnedMemory(const std::vector<Thread*>& threads) : threads_(threads) {}

  // When something happens in an execution: `calls` counts the hook calls of the event at
  // `position`. Grows from one access to the next, but for events of more than a million calls.
  static uint64_t Time(size_t position, uint64_t calls) {
    constexpr uint64_t kMost = (1u << 20) - 1;
    return (uint64_t{position} << 20) | (calls < kMost ? calls : kMost);
  }

  // Enters an access that may be left out; true if it is, because nobody else could notice.
  bool LeaveOut(uintptr_t address, size_t size, const Thread& thread, uint64_t now) {
    return Pass(address, size, thread, now) ||
           (EnterAnew(address, size, thread, now) && LeaveOutEach(address, size));
  }
  // The same where that is soon found: false if it has to be looked at again.
  [[gnu::always_inline]] bool Pass(uintptr_t address, size_t size, const Thread& thread,
                                   uint64_t now) {
    const uint64_t line = address >> kLineShift;
    if ((address + size - 1) >> kLineShift != line) return false;
    Slot* slot = &slots_[Hash(line) & mask_];
    if (slot->line != line) [[unlikely]] {  // it may have had to give way to another
      slot = &slots_[(Hash(line) + 1) & mask_];
      if (slot->line != line) return false;
    }
    if (!slot->left_out) return false;
    if (slot->owner != thread.id) return slot->heir == thread.id && thread.events == 1;
    if (slot->heir != kNobody) return false;
    if (slot->owner_last < now) slot->owner_last = now;
    return true;
  }
  // Enters an access that is recorded.
  void Enter(uintptr_t address, size_t size, const Thread& thread, uint64_t now) {
    const uint64_t line = address >> kLineShift;
    const Slot& slot = slots_[Hash(line) & mask_];
    if (size == 0 || (slot.line == line && slot.owner == kNobody &&
                      (address + size - 1) >> kLineShift == line)) {
      return;
    }
    EnterAnew(address, size, thread, now);
  }

  // Has memory become shared of which accesses were left out?
  bool lost() const { return lost_; }
  void ClearLost() { lost_ = false; }
  // To be called first, by the engine: what a constructor of a static object allocates belongs to
  // the program, and goes back to the snapshot.
  void Prepare() {
    slots_.resize(kInitialSlots);
    mask_ = kInitialSlots - 1;
  }

 private:
  static constexpr int kLineShift = 5;
  static constexpr uint64_t kMaxLines = 16;           // of an access that is not large
  static constexpr size_t kMaxKnownLines = 1u << 14;  // further ones are recorded
  static constexpr size_t kMaxLargeRanges = 16;       // then they become one that spans them all
  static constexpr size_t kInitialSlots = 256;
  static constexpr ThreadId kNobody = kNoThread;

  struct Slot {
    uint64_t line = 0;         // 0: free. The first bytes of memory are nobody's.
    ThreadId owner = kNobody;  // kNobody: shared
    ThreadId heir = kNobody;   // whom it was handed to
    bool left_out = false;     // accesses of these
    uint64_t owner_last = 0;   // when the owner touched it, at the latest in any execution
  };
  struct LargeRange {
    uint64_t first = 0, last = 0;  // lines
  };

  static size_t Hash(uint64_t line) { return line * 0x9e3779b97f4a7c15u >> 32; }
  // The line's slot, or the free one that it would take.
  Slot& At(uint64_t line) {
    for (size_t i = Hash(line) & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.line == line || slot.line == 0) return slot;
    }
  }
  // Makes the line shared. False: nothing of it may be left out.
  bool Share(Slot& slot) {
    lost_ |= slot.left_out;
    slot.left_out = false;
    slot.owner = kNobody;
    slot.heir = kNobody;
    return false;
  }
  // True if all of it is owned, or handed, and this is as it should be.
  bool EnterAnew(uintptr_t address, size_t size, const Thread& thread, uint64_t now);
  bool EnterLine(uint64_t line, const Thread& thread, uint64_t now);
  bool Fits(Slot& slot, const Thread& thread, uint64_t now) const;
  void EnterLarge(uint64_t first, uint64_t last);
  bool LeaveOutEach(uintptr_t address, size_t size);
  bool InLargeRange(uint64_t line) const;
  void Grow();

  const std::vector<Thread*>& threads_;
  std::vector<Slot> slots_;
  size_t mask_ = 0;  // slots_.size() - 1
  size_t size_ = 0;  // lines that are known
  std::vector<LargeRange> large_;
  bool lost_ = false;
};

}  // namespace mc::sched

#endif  // MC_SCHED_OWNED_MEMORY_H_
