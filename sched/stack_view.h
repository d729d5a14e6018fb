// StackView: the stack of a thread as the thread itself has left it.
//
// The spin rule (spin.h) asks whether a thread has come back to a state it was in before. An object
// on its stack, say a std::stop_callback, may have been written by other threads meanwhile, and
// whether that happened before or after the thread was here is often no event of the trace. So
// every byte that another thread wrote is shown with the value that it had before, until the
// thread writes it itself. What the thread reads of it the spin rule has among the reads.
//
// The thread's own writes are not all known: compilers report only those to variables that others
// could see. If a byte no longer has the value that another thread left there, the thread has
// written it: then it lives on as part of something else, and is compared as it is.
//
// Invariant: a byte is `marked` from the first write of another thread to the next one of its own.
// `own_` and `left_` are meaningful for marked bytes only; `left_` once the writer's block is over.
#ifndef MC_SCHED_STACK_VIEW_H_
#define MC_SCHED_STACK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc::sched {

class StackView {
 public:
  // Only so much of a stack, at its upper end (where it begins), is looked at.
  static constexpr size_t kMaxSize = 16384;

  // For one execution. `stack_high` is the end of the stack.
  void Reset(uintptr_t stack_high) {
    stack_high_ = stack_high;
    if (any_marked_) Clear();
  }
  // What a checkpoint saves.
  struct MarkedByte {
    uint16_t number;  // counted from the end of the stack
    unsigned char own, left;
  };
  void Save(std::vector<MarkedByte>* out) const;
  void Restore(const std::vector<MarkedByte>& saved);  // after Reset; only between blocks

  // Another thread is about to write these bytes.
  void BeforeWriteByOther(uintptr_t address, size_t size);
  // Its block has ended.
  void AfterWriteByOther(uintptr_t address, size_t size);
  bool any_marked() const { return any_marked_; }
  // The thread itself writes them.
  void OnOwnWrite(uintptr_t address, size_t size) {
    if (any_marked_) Unmark(address, size);
  }

  // The live stack from `stack_low` on; valid until the next call. Sets *overwritten if the thread
  // has, unreported, written a byte that another thread had written.
  const unsigned char* Show(uintptr_t stack_low, bool* overwritten) {
    *overwritten = false;
    if (!any_marked_) return reinterpret_cast<const unsigned char*>(stack_low);
    return Copy(stack_low, overwritten);
  }

 private:
  struct Range {
    size_t begin, end;  // numbers of bytes, counted from the end of the stack
  };
  Range Clip(uintptr_t address, size_t size) const;
  unsigned char* Live(size_t number) const {
    return reinterpret_cast<unsigned char*>(stack_high_ - 1 - number);
  }
  void MakeRoom();
  void Clear();
  void Unmark(uintptr_t address, size_t size);
  const unsigned char* Copy(uintptr_t stack_low, bool* overwritten);

  enum Mark : unsigned char { kNotMarked = 0, kMarked, kBeingWritten };

  uintptr_t stack_high_ = 0;
  bool any_marked_ = false;
  // By number of byte; empty until the first write by another thread.
  std::vector<unsigned char> marks_;  // Mark
  std::vector<unsigned char> own_;    // the thread's own value
  std::vector<unsigned char> left_;   // the value that the last other thread left
  std::vector<unsigned char> copy_;
};

}  // namespace mc::sched

#endif  // MC_SCHED_STACK_VIEW_H_
