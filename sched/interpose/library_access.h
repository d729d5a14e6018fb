// Accesses that compiled code of the C++ library makes to the program's memory, recorded by the
// hook of the function that makes them.
#ifndef MC_SCHED_INTERPOSE_LIBRARY_ACCESS_H_
#define MC_SCHED_INTERPOSE_LIBRARY_ACCESS_H_

#include <cstddef>
#include <cstdint>

#include "sched/interpose/program_caller.h"
#include "sched/scheduler.h"

namespace mc::sched {

// An access that follows at once, on behalf of who called the library, which called from `pc`.
inline void AccessByLibrary(const void* place, size_t size, uint8_t mode, uint64_t pc,
                            uint16_t flags = 0, MemoryOrder order = MemoryOrder::kRelaxed) {
  if (!g_program_running || size == 0) return;
  const auto address = reinterpret_cast<uintptr_t>(place);
  const uint64_t caller = ProgramCaller(pc);
  if (flags == 0 && g_scheduler.PassOwnAccess(address, size, mode, caller)) return;
  EngineScope scope;
  g_scheduler.Access(address, size, mode, flags, caller, order);
}

// Accesses that the library makes somewhere between the begin of a call and its end. Both count:
// the call may come past preemption points on its way, so that it is part of several blocks.
class AccessDuringCall {
 public:
  AccessDuringCall(const void* place, size_t size, uint8_t mode, uint64_t pc)
      : place_(place), size_(size), mode_(mode), pc_(pc) {
    AccessByLibrary(place, size, mode, pc);
  }
  ~AccessDuringCall() {
    if (!g_program_running || size_ == 0) return;
    EngineScope scope;
    const auto address = reinterpret_cast<uintptr_t>(place_);
    const uint64_t caller = ProgramCaller(pc_);
    g_scheduler.CheckAlive(address, size_, mode_, caller);
    g_scheduler.RecordMemory(address, size_, mode_, 0, caller, MemoryOrder::kRelaxed);
  }
  AccessDuringCall(const AccessDuringCall&) = delete;
  AccessDuringCall& operator=(const AccessDuringCall&) = delete;

  // The size that is known at the end.
  void SetSize(size_t size) { size_ = size; }

 private:
  const void* place_;
  size_t size_;
  uint8_t mode_;
  uint64_t pc_;
};

// All of an object with virtual functions but the pointer to them, which nobody changes.
template <typename Object>
const void* ContentOf(const Object* object) {
  return reinterpret_cast<const char*>(object) + sizeof(void*);
}
template <typename Object>
inline constexpr size_t kContentSize = sizeof(Object) - sizeof(void*);

}  // namespace mc::sched

#endif  // MC_SCHED_INTERPOSE_LIBRARY_ACCESS_H_
