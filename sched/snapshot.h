// Snapshot: the writable globals of the program and of the libraries it uses, as they were at the
// entry, put back before every execution.
//
// Only pages that some execution wrote are copied. At the snapshot all pages are write-protected;
// the first write to one faults, the fault handler remembers the page and makes it writable for
// good. From then on it is copied back before every execution. So the cost follows what the program
// really changes, and a large table that is only read costs nothing.
//
// Invariant: a page is either protected and equal to its saved copy, or in `dirty_`.
#ifndef MC_SCHED_SNAPSHOT_H_
#define MC_SCHED_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/memory_copy.h"

namespace mc::sched {

class Snapshot {
 public:
  // Adds a range of writable memory to be saved; rounded outwards to whole pages.
  void AddRegion(uintptr_t begin, uintptr_t end, bool is_program);
  // Saves all regions and protects them. Call once.
  void Take();
  // Saves and protects the regions added since, in the middle of an execution.
  void TakeNew();
  bool Contains(uintptr_t address) { return Find(address) != nullptr; }
  // Puts all pages back that any execution has written.
  void Restore();

  // For checkpoints: the pages that any execution has written so far, as they are now. Such a copy
  // is put back with RestoreSince(page count), for what was written since, and its own PutBack.
  size_t page_count() const { return dirty_.size(); }
  size_t page_bytes() const { return dirty_.size() * kPage; }
  void Save(MemoryCopy* out) const;
  void RestoreSince(size_t page_count);

  // A write to `address` faulted: true if the page was protected by this snapshot; it is writable
  // now.
  bool HandleWriteFault(uintptr_t address);
  // Makes the range writable ahead of a system call that would write it (and fail with EFAULT).
  void PrepareForKernelWrite(uintptr_t begin, size_t size);
  // Around engine actions that change library state on purpose in the middle of an execution (a
  // real thread is created): what changes in between becomes part of the saved state.
  void BeginLibraryChange();
  void EndLibraryChange();

  // Hash of the pages of the program's own regions that differ from the snapshot.
  uint64_t HashProgramState() const;
  // Calls visit(begin, end) for each saved region, as roots for the leak check.
  template <typename Visit>
  void ForEachRegion(Visit visit) const {
    for (const Region& r : regions_) visit(r.begin, r.end);
  }

 private:
  static constexpr size_t kPage = 4096;
  struct Region {
    uintptr_t begin, end;
    unsigned char* saved;
    bool is_program;
    std::vector<bool> dirty;
    unsigned char* before_change;  // as it was at the last BeginLibraryChange; nullptr: never
  };
  struct DirtyPage {
    uintptr_t address;
    const unsigned char* saved;
    bool is_program;
  };

  Region* Find(uintptr_t address);
  void MarkDirty(Region& region, uintptr_t page);
  static void ProtectCleanPages(const Region& region);

  std::vector<Region> regions_;
  std::vector<DirtyPage> dirty_;
};

// Adds the writable data of the program and of every loaded library but the engine's own and the
// dynamic loader's; but not what is there already.
void AddWritableData(Snapshot* snapshot);

}  // namespace mc::sched

#endif  // MC_SCHED_SNAPSHOT_H_
